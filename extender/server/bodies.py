"""Reads a request's body within its limits, which aiohttp would leave to luck.

It has no time-out for a body, and its own size limit comes after it has unpacked gzip.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from aiohttp import hdrs, web

from extender.config.schema import Limits
from extender.errors import (
    BadRequestError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)
from extender.wire.intake import Body, Intake

# From here on a body is more than it is well to walk through twice.
LARGE: Final = 1 << 20


async def read(request: web.BaseRequest, limits: Limits) -> bytes:
    """The whole body, or the fault that says which limit it breaks."""
    chunks: list[bytes] = []
    await _receive(request, limits, chunks.append)
    return b"".join(chunks)


async def take_in(request: web.BaseRequest, limits: Limits, intake: Callable[[], Intake]) -> Body:
    """The same; a large body is looked at while it arrives."""
    if (request.content_length or 0) < LARGE:
        return await read(request, limits)
    taken = intake()
    await _receive(request, limits, taken.feed)
    return taken.end()


async def _receive(
    request: web.BaseRequest, limits: Limits, take: Callable[[bytes], object]
) -> None:
    if hdrs.CONTENT_ENCODING in request.headers:
        _refuse_encoding(request)
    length = request.content_length or 0
    if length > limits.request_bytes:
        raise _too_large(limits)
    content = request.content
    try:
        if content.is_eof():
            # All of it came with the head, so that there is nothing to wait for.
            body = content.read_nowait()
            if len(body) > limits.request_bytes:
                raise _too_large(limits)
            take(body)
            return
        async with asyncio.timeout(limits.body_timeout):
            left = limits.request_bytes
            while not content.at_eof():
                # What came in between is joined, unless it is too much of it.
                chunk = (
                    (await content.readchunk())[0] if length >= LARGE else await content.readany()
                )
                left -= len(chunk)
                if left < 0:
                    raise _too_large(limits)
                take(chunk)
    except TimeoutError as exc:
        raise RequestTimeoutError(
            f"the body did not arrive within limits.bodyTimeout of {limits.body_timeout:g} s"
        ) from exc
    except (web.RequestPayloadError, ConnectionError) as exc:
        raise BadRequestError(f"the body broke off: {exc}") from exc


def _refuse_encoding(request: web.BaseRequest) -> None:
    # A list may stand on several lines.
    encodings = ",".join(request.headers.getall(hdrs.CONTENT_ENCODING)).lower()
    encoding = ",".join(part for word in encodings.split(",") if (part := word.strip()))
    if encoding not in ("", "identity"):
        raise UnsupportedEncodingError(
            f"Content-Encoding {encoding[:64]!r} is not supported: send the body as it is"
        )


def _too_large(limits: Limits) -> RequestTooLargeError:
    return RequestTooLargeError(
        f"the body is larger than limits.requestBytes of {limits.request_bytes}"
    )
