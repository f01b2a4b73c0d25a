"""An answer as kube-scheduler waits for it: a short head and the body, written at once.

aiohttp's own responses can do much more, and take as long as judging five thousand nodes does:
see docs/adr/0022-a-short-way-through-http.md.
"""

import time
from email.utils import formatdate
from functools import lru_cache
from typing import Final

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter

_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nDate: %b\r\n%b\r\n"
)


class Reply(web.StreamResponse):
    """200 with this JSON."""

    def __init__(self, *pieces: bytes | memoryview) -> None:
        super().__init__()
        self._pieces = pieces
        self._request: web.BaseRequest | None = None

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Nothing is sent before the body is."""
        self._request = request
        if self._keep_alive is None:
            self._keep_alive = request.keep_alive
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Send all of it: the pieces are not copied on their way to the transport."""
        request = self._request
        transport = None if request is None else request.transport
        if request is None or transport is None or transport.is_closing():
            raise ConnectionResetError("the client has hung up")
        size = sum(map(len, self._pieces))
        head = _HEAD % (size, _date(int(time.time())), self._connection(request))
        transport.writelines((head, *self._pieces))
        self._request = None
        if transport.get_write_buffer_size():  # mostly the kernel has taken all of it
            await request.writer.drain()

    def _connection(self, request: web.BaseRequest) -> bytes:
        """What differs from the habit of the client's version of HTTP has to be said."""
        if not self._keep_alive:
            return b"Connection: close\r\n"
        return b"" if request.version == HttpVersion11 else b"Connection: keep-alive\r\n"


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
