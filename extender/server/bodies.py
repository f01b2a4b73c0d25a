"""Reads a request's body within its limits, which aiohttp would leave to luck.

It has no time-out for a body, and its own size limit comes after it has unpacked gzip.
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

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
        with _Deadline(limits.body_timeout):
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


class _Deadline:
    """Ends what this task waits for with TimeoutError, as `asyncio.timeout` does.

    Which takes 7 us, and most calls wait; this takes 2, as it cannot be moved or asked.
    """

    __slots__ = ("_cancelling", "_passed", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._task = cast("asyncio.Task[object]", asyncio.current_task())  # or nobody could wait
        self._cancelling = self._task.cancelling()
        self._passed = False
        self._timer = asyncio.get_running_loop().call_later(seconds, self._pass)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        # If somebody else has cancelled the task as well, it is not too late but over.
        ours = self._passed and self._task.uncancel() <= self._cancelling
        if ours and isinstance(fault, asyncio.CancelledError):
            raise TimeoutError from fault

    def _pass(self) -> None:
        self._passed = True
        self._task.cancel()


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
