"""A status and one sentence: what a client gets whose request is not answered."""

from http import HTTPStatus
from typing import Final

from msgspec import Struct

from extender.errors import (
    BadRequestError,
    LeewayError,
    NoRoomError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)

STATUS_OF_FAULT: Final[dict[type[LeewayError], HTTPStatus]] = {
    BadRequestError: HTTPStatus.BAD_REQUEST,
    RequestTimeoutError: HTTPStatus.REQUEST_TIMEOUT,
    RequestTooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    UnsupportedEncodingError: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    NoRoomError: HTTPStatus.SERVICE_UNAVAILABLE,
}
# Seconds; most bodies are held for milliseconds.
RETRY_AFTER: Final = 1
_LATER: Final = b"Retry-After: %d\r\n" % RETRY_AFTER


class Refusal(Struct, frozen=True, gc=False):
    """A request that is answered without being read to its end."""

    status: HTTPStatus
    sentence: str
    headers: bytes = b""


def refusal_of(fault: LeewayError) -> Refusal:
    """A fault of the client as an answer."""
    status = STATUS_OF_FAULT[type(fault)]
    later = _LATER if status is HTTPStatus.SERVICE_UNAVAILABLE else b""
    return Refusal(status, str(fault), later)
