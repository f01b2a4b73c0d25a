"""Reads a request's body within its limits, which aiohttp would leave to luck.

It has no time-out for a body, and its own size limit comes after it has unpacked gzip.
"""

import asyncio
from io import BytesIO
from typing import Final

from aiohttp import hdrs, web

from extender.config.schema import Limits
from extender.errors import (
    BadRequestError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)
from extender.server import room

# What a request holds of the room for bodies.
HELD: Final = web.RequestKey("held", room.Held)


async def read(request: web.BaseRequest, limits: Limits) -> bytes:
    """The whole body, or the fault that says which limit it breaks."""
    if hdrs.CONTENT_ENCODING in request.headers:
        _refuse_encoding(request)
    if (request.content_length or 0) > limits.request_bytes:
        raise too_large(limits)
    held = request[HELD]
    if not held.take(request.content_length or 0):
        raise room.no_room(limits)
    body = BytesIO()
    try:
        async with asyncio.timeout(limits.body_timeout):
            while chunk := await request.content.readany():
                if request.content_length is None and not held.take(len(chunk)):
                    raise room.no_room(limits)
                if body.tell() + len(chunk) > limits.request_bytes:
                    raise too_large(limits)
                body.write(chunk)
    except TimeoutError as exc:
        raise late(limits) from exc
    except (web.RequestPayloadError, ConnectionError) as exc:
        raise BadRequestError(f"the body broke off: {exc}") from exc
    return body.getvalue()


def _refuse_encoding(request: web.BaseRequest) -> None:
    # A list may stand on several lines.
    encodings = ",".join(request.headers.getall(hdrs.CONTENT_ENCODING)).lower()
    encoding = ",".join(part for word in encodings.split(",") if (part := word.strip()))
    if encoding not in ("", "identity"):
        raise UnsupportedEncodingError(
            f"Content-Encoding {encoding[:64]!r} is not supported: send the body as it is"
        )


def too_large(limits: Limits) -> RequestTooLargeError:
    """The fault of a body over the limit."""
    return RequestTooLargeError(
        f"the body is larger than limits.requestBytes of {limits.request_bytes}"
    )


def late(limits: Limits) -> RequestTimeoutError:
    """The fault of a body that takes too long."""
    return RequestTimeoutError(
        f"the body did not arrive within limits.bodyTimeout of {limits.body_timeout:g} s"
    )
