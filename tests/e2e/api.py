"""The API server as a test asks it: JSON in, JSON out, and anything unexpected fails."""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeVar

import aiohttp

from tests.builders import JSON

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_PATCH: Final = {"Content-Type": "application/merge-patch+json"}
_STRATEGIC: Final = {"Content-Type": "application/strategic-merge-patch+json"}

T = TypeVar("T")


class ApiServerError(Exception):
    """The API server refused a request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"HTTP {status}: {text}")
        self.status = status


class Api:
    """Requests with one user's token."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def get(self, path: str, **params: str) -> JSON:
        """One object, or a list."""
        return await self._ask("GET", path, params=params)

    async def create(self, path: str, body: JSON, **params: str) -> JSON:
        """A new object in the collection at a path."""
        return await self._ask("POST", path, json=body, params=params)

    async def merge(self, path: str, patch: JSON) -> JSON:
        """The object at a path with some fields changed; None removes one, lists are replaced."""
        return await self._ask("PATCH", path, data=json.dumps(patch), headers=_PATCH)

    async def patch(self, path: str, patch: JSON, **params: str) -> JSON:
        """The object at a path after a patch as kubectl sends it: lists may be merged by a key."""
        body = json.dumps(patch)
        return await self._ask("PATCH", path, data=body, headers=_STRATEGIC, params=params)

    async def events(self, path: str, **params: str) -> AsyncIterator[JSON]:
        """What happens to a collection, beginning with what is in it; ends if the server does."""
        timeout = aiohttp.ClientTimeout(total=None)
        asked = {**params, "watch": "1"}
        async with self._session.get(self._url + path, params=asked, timeout=timeout) as response:
            async for line in response.content:
                yield json.loads(line)

    async def delete(self, path: str, **params: str) -> None:
        """Without the object, or the whole collection, at a path; at once."""
        body = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        try:
            await self._ask("DELETE", path, json=body, params=params)
        except ApiServerError as exc:
            if exc.status != _NOT_FOUND:
                raise

    async def found(self, path: str) -> JSON | None:
        """One object, if it exists."""
        try:
            return await self.get(path)
        except ApiServerError as exc:
            if exc.status == _NOT_FOUND:
                return None
            raise

    async def ensure(self, path: str, body: JSON) -> None:
        """The object exists, whether or not it was there before."""
        try:
            await self.create(path, body)
        except ApiServerError as exc:
            if exc.status != _CONFLICT:
                raise

    async def _ask(self, method: str, path: str, **more: Any) -> JSON:
        async with self._session.request(method, self._url + path, **more) as response:
            text = await response.text()
            if response.status >= 300:
                raise ApiServerError(response.status, text)
            answer: JSON = json.loads(text)
            return answer


@contextlib.asynccontextmanager
async def connected(url: str, token: str, ca: str) -> AsyncIterator[Api]:
    """A client for one user."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=ca), limit=32)
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        yield Api(session, url)


async def eventually(
    ask: Callable[[], Awaitable[T | None]], seconds: float, *, every: float = 0.1
) -> T | None:
    """The first answer that is not None; None if there was none in time."""
    until = time.monotonic() + seconds
    while True:
        answer = await ask()
        if answer is not None or time.monotonic() > until:
            return answer
        await asyncio.sleep(every)
