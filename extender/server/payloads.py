"""A body that is handed to the transport as it is.

aiohttp joins the head of an answer and its body before it writes them, and ten megabytes are not
copied in no time.
"""

from typing import Final

from aiohttp import payload, web
from aiohttp.abc import AbstractStreamWriter

# Below, one write of both is cheaper than two.
LARGE: Final = 1 << 20


class LargePayload(payload.Payload):
    """Bytes that are not copied on their way out."""

    _value: bytes

    def __init__(self, body: bytes) -> None:
        super().__init__(body, content_type="application/json")
        self._size = len(body)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as text."""
        return self._value.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """The head first, by itself."""
        writer.send_headers()
        await writer.write(self._value)


def response(body: bytes) -> web.Response:
    """An answer of 200 with this JSON."""
    if len(body) < LARGE:
        return web.Response(body=body, content_type="application/json")
    return web.Response(body=LargePayload(body))
