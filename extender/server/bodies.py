"""Reads a request's body within its limits, which aiohttp would leave to luck.

It has no time-out for a body, and its own size limit comes after it has unpacked gzip.
"""

import asyncio

from aiohttp import web

from extender.config.schema import Limits
from extender.errors import (
    BadRequestError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)


async def read(request: web.BaseRequest, limits: Limits) -> bytes:
    """The whole body, or the fault that says which limit it breaks."""
    # A list may stand on several lines.
    encodings = ",".join(request.headers.getall("Content-Encoding", ())).lower()
    encoding = ",".join(part for word in encodings.split(",") if (part := word.strip()))
    if encoding not in ("", "identity"):
        raise UnsupportedEncodingError(
            f"Content-Encoding {encoding[:64]!r} is not supported: send the body as it is"
        )
    if (request.content_length or 0) > limits.request_bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.body_timeout):
            return await _read_within(request, limits)
    except TimeoutError as exc:
        raise RequestTimeoutError(
            f"the body did not arrive within limits.bodyTimeout of {limits.body_timeout:g} s"
        ) from exc
    except (web.RequestPayloadError, ConnectionError) as exc:
        raise BadRequestError(f"the body broke off: {exc}") from exc


async def _read_within(request: web.BaseRequest, limits: Limits) -> bytes:
    chunks: list[bytes] = []
    left = limits.request_bytes
    while chunk := await request.content.readany():
        left -= len(chunk)
        if left < 0:
            raise _too_large(limits)
        chunks.append(chunk)
    return b"".join(chunks)


def _too_large(limits: Limits) -> RequestTooLargeError:
    return RequestTooLargeError(
        f"the body is larger than limits.requestBytes of {limits.request_bytes}"
    )
