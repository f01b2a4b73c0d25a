"""The API server: credentials, paged lists and watch streams as raw bytes.

Uses only the configuration loaders and the transport of the `kubernetes` package: its generated
models need minutes and gigabytes for what msgspec decodes in seconds. The package is imported
late, because it costs half a second and 40 MB that other sources do not need; so is aiohttp, which
costs a command that reads files a third of its start.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from pathlib import Path
from typing import TYPE_CHECKING, Final

from extender.cluster import api_faults, kubeconfig
from extender.errors import (
    ApiError,
    ApiForbiddenError,
    ApiGoneError,
    ApiUnsupportedError,
    ConfigError,
)

if TYPE_CHECKING:
    import aiohttp
    from kubernetes.aio.client import ApiClient, Configuration

CREDENTIALS_SECONDS: Final = 60.0
LOAD_SECONDS: Final = 60.0
CONNECT_SECONDS: Final = 10.0
LIST_READ_SECONDS: Final = 60.0
PATCH_READ_SECONDS: Final = 5.0
# More than twice the interval between two bookmarks.
WATCH_READ_SECONDS: Final = 150.0
# The transport delivers up to 4 MB at once; splitting that into lines blocks the event loop.
PIECE_BYTES: Final = 1 << 18
_ERROR_TEXT: Final = 256
# Of an error's body that is kept for whoever looks into it.
_ERROR_BYTES: Final = 1 << 16
MERGE_PATCH: Final = "application/strategic-merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"

_GONE: Final = 410
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_GOOD: Final = frozenset({200, 201})
_UNSUPPORTED: Final = frozenset({400, 422})

_FAULTS: Final = {_GONE: ApiGoneError, _FORBIDDEN: ApiForbiddenError}

_NO_HEADERS: Final[Mapping[str, str]] = {}
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # decompressing a page costs more than reading it
    "Content-Type": "application/json",
}

# What the loader raises, besides its own errors, for a file that is not a whole kubeconfig.
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError)

Load = Callable[[], Awaitable["Configuration"]]


async def in_cluster() -> "Configuration":
    """The credentials of the pod's service account."""
    from kubernetes.aio import config
    from kubernetes.aio.client import Configuration

    configuration = Configuration()
    try:
        config.load_incluster_config(configuration, try_refresh_token=False)
    except config.ConfigException as exc:
        raise ApiError(f"in-cluster credentials: {exc}") from exc
    return configuration


def from_kubeconfig(*files: str, context: str = "") -> Load:
    """The credentials of a context, by default the current one; the files are read each time."""

    async def load() -> "Configuration":
        from kubernetes.aio import config
        from kubernetes.aio.client import Configuration

        origin = f"kubeconfig {os.pathsep.join(files)}"
        chosen = kubeconfig.chosen(kubeconfig.read(files), context)
        configuration = Configuration()
        configuration.host = ""
        with _complaints() as complaints:
            try:
                await config.load_kube_config_from_dict(
                    chosen.document(), client_configuration=configuration
                )
            except (config.ConfigException, *_UNREADABLE) as exc:
                raise ApiError(f"{origin}: {exc}") from exc
        # If an exec plugin fails, the loader only logs it and continues as anonymous.
        if "exec" in chosen.user and not configuration.api_key and not configuration.cert_file:
            why = f": {'; '.join(complaints)}" if complaints else ""
            raise ApiError(f"{origin}: its exec plugin gave no credentials{why}")
        return configuration

    return load


@contextlib.contextmanager
def _complaints() -> Iterator[list[str]]:
    """What the loader logs, which would go to the terminal otherwise."""
    found: list[str] = []
    log = logging.getLogger("kubernetes.aio.config.kube_config")

    def keep(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            found.append(" ".join(record.getMessage().split())[:_ERROR_TEXT])
        return False

    log.addFilter(keep)
    try:
        yield found
    finally:
        log.removeFilter(keep)


def require_file(file: str) -> None:
    """Refuse to start with a kubeconfig that does not exist."""
    if not Path(file).is_file():
        raise ConfigError([f"cluster.kubeconfig: {file} does not exist"])


class ApiServer:
    """Opens connections with credentials that are at most a minute old.

    Tokens, certificates and CAs rotate. A connection uses the credentials of its start and ends
    with its watch, which the server closes after some minutes.
    """

    def __init__(
        self,
        load: Load,
        *,
        watch_read_seconds: float = WATCH_READ_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._watch_read_seconds = watch_read_seconds
        self._clock = clock
        self._configuration: Configuration | None = None
        self._loaded = 0.0
        self._loading = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator["Connection"]:
        """A new connection, closed at the end."""
        configuration = await self._credentials()
        try:
            # In a thread, because loading the system's CAs takes 50 ms.
            client = await asyncio.to_thread(_client, configuration)
        except OSError as exc:  # an unreadable CA or certificate
            self._forget()
            raise ApiError(f"credentials: {exc}") from exc
        try:
            yield Connection(client, self._forget, self._watch_read_seconds)
        finally:
            await client.close()

    async def _credentials(self) -> "Configuration":
        """Loads once for all watches that connect at the same time: an exec plugin can be slow."""
        async with self._loading:
            if self._configuration is None or self._clock() - self._loaded > CREDENTIALS_SECONDS:
                self._configuration = await self._read()
                self._loaded = self._clock()
            return self._configuration

    async def _read(self) -> "Configuration":
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                configuration = await self._load()
        except TimeoutError as exc:
            raise ApiError(f"credentials: none within {LOAD_SECONDS:g} s") from exc
        # A token file may end with a newline, which the loaders keep.
        for name, text in configuration.api_key.items():
            configuration.api_key[name] = " ".join(text.split())
        return configuration

    def _forget(self) -> None:
        """The server refused these credentials: load them again next time."""
        self._configuration = None


def _client(configuration: "Configuration") -> "ApiClient":
    from kubernetes.aio.client import ApiClient

    client = ApiClient(configuration)
    client.user_agent = "leeway"
    return client


class Connection:
    """One client session to the API server."""

    def __init__(
        self, client: "ApiClient", forget: Callable[[], None], watch_read_seconds: float
    ) -> None:
        self._client = client
        self._forget = forget
        self._watch_read_seconds = watch_read_seconds

    async def get(
        self, path: str, params: Mapping[str, str], *, seconds: float | None = None
    ) -> bytes:
        """The body of the response, which may pause for so many seconds."""
        return await self._exchange("GET", path, params, seconds=seconds)

    async def post(
        self,
        path: str,
        body: object,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        seconds: float | None = None,
    ) -> bytes:
        """The body of the response to an object that is created, or to a review."""
        return await self._exchange("POST", path, {}, body, headers, seconds=seconds)

    async def put(self, path: str, body: object, *, seconds: float | None = None) -> bytes:
        """The body of the response to an object that replaces another."""
        return await self._exchange("PUT", path, {}, body, seconds=seconds)

    async def patch(self, path: str, body: object, kind: str = MERGE_PATCH) -> bytes:
        """The body of the response to a patch of one kind."""
        headers = {"Content-Type": kind}
        return await self._exchange("PATCH", path, {}, body, headers, seconds=PATCH_READ_SECONDS)

    async def _exchange(
        self,
        method: str,
        path: str,
        params: Mapping[str, str],
        body: object = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        seconds: float | None = None,
    ) -> bytes:
        import aiohttp

        seconds = seconds or LIST_READ_SECONDS
        try:
            async with self._request(path, params, seconds, method, body, headers) as response:
                return await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise self._unreachable(f"{method} {path}", exc, seconds) from exc

    async def stream(self, path: str, params: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """The body of a streaming response, in chunks as they arrive."""
        import aiohttp

        try:
            async with self._request(path, params, self._watch_read_seconds) as response:
                yield b""  # connected
                async for chunk in response.content.iter_chunked(PIECE_BYTES):
                    yield chunk
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise self._unreachable(f"watch {path}", exc, self._watch_read_seconds) from exc

    @contextlib.asynccontextmanager
    async def _request(
        self,
        path: str,
        params: Mapping[str, str],
        read_seconds: float,
        method: str = "GET",
        body: object = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> AsyncIterator["aiohttp.ClientResponse"]:
        import aiohttp

        serialized = await self._client.param_serialize(
            method,
            path,
            query_params=list(params.items()),
            header_params={**_HEADERS, **headers},
            body=body,
            auth_settings=["BearerToken"],
        )
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_SECONDS, sock_read=read_seconds
        )
        answer = await self._client.call_api(*serialized, _request_timeout=timeout)
        response: aiohttp.ClientResponse = answer.response
        async with response:
            if response.status not in _GOOD:
                raise await self._fault(method, path, response)
            yield response

    async def _fault(self, method: str, path: str, response: "aiohttp.ClientResponse") -> ApiError:
        body = (await response.content.read(_ERROR_BYTES)) or b""
        text = api_faults.said(body)[:_ERROR_TEXT]
        sentence = f"{method} {path}: HTTP {response.status}: {text}"
        if response.status == _UNAUTHORIZED:
            self._forget()
        unsupported = response.status in _UNSUPPORTED
        fault = ApiUnsupportedError if unsupported else _FAULTS.get(response.status, ApiError)
        message = api_faults.refusal(response.status, body)
        return fault(sentence, response.status, body, message=message)

    def _unreachable(self, asked: str, exc: Exception, seconds: float) -> ApiError:
        why, fix = api_faults.unreachable(exc, self._client.configuration.host, seconds)
        return ApiError(f"{asked}: {why}", message=f"{why}; {fix}")
