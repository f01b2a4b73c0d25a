"""What the doors of foreign callers share: answers that are owed, and faults as answers."""

import asyncio
import logging
from collections.abc import Awaitable
from http import HTTPStatus
from typing import Final, TypeVar

from aiohttp import hdrs, web

from extender.errors import (
    BadRequestError,
    LeewayError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)

log = logging.getLogger("leeway.server")

STATUS_OF_FAULT: Final[dict[type[LeewayError], HTTPStatus]] = {
    BadRequestError: HTTPStatus.BAD_REQUEST,
    RequestTimeoutError: HTTPStatus.REQUEST_TIMEOUT,
    RequestTooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    UnsupportedEncodingError: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}


R = TypeVar("R", bound=web.StreamResponse)


class Door:
    """Knows how many answers are still owed, and closes behind the last one."""

    def __init__(self) -> None:
        self._owed = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.draining = False

    async def wait_idle(self, seconds: float) -> int:
        """Wait until every request that has begun is answered; how many still are not."""
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            log.warning("gave up on %d request(s) after %g s of draining", self._owed, seconds)
        return self._owed

    async def _answering(self, answer: Awaitable[R]) -> R:
        self._owed += 1
        self._idle.clear()
        try:
            response = await answer
        finally:
            self._owed -= 1
            if not self._owed:
                self._idle.set()
        if self.draining:
            response.force_close()
        return response


async def go_on(request: web.BaseRequest) -> None:
    """A client that waits for leave to send its body gets it."""
    if request.headers.get(hdrs.EXPECT, "").lower() != "100-continue":
        raise web.HTTPExpectationFailed
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def refusal(request: web.BaseRequest, status: HTTPStatus, sentence: str) -> web.Response:
    """An answer that is no answer: a status and one sentence."""
    response = web.Response(status=status, text=sentence + "\n")
    if not request.content.is_eof():
        response.force_close()  # what is left of the body is not another request
    return response


def remote(request: web.BaseRequest) -> str:
    """Who asks."""
    return request.remote or ""
