"""Heads: of a request, as far as it matters to us, and of an answer."""

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from extender.config.schema import Limits
from extender.errors import UnsupportedEncodingError
from extender.server import bodies
from extender.server.refusal import Refusal, refusal_of

MAX_HEAD_BYTES: Final = 16_384
# From here on a body is more than it is well to walk through twice.
LARGE_BODY: Final = 1 << 20

_ANSWER: Final = b"HTTP/1.1 %d %b\r\nContent-Type: %b\r\nContent-Length: %d\r\nDate: %b\r\n%b\r\n"

TEXT: Final = b"text/plain; charset=utf-8"
LONG_HEAD: Final = Refusal(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the head is larger than {MAX_HEAD_BYTES} bytes"
)
LONG_FRAMES: Final = Refusal(
    HTTPStatus.BAD_REQUEST,
    "the body comes in too many small chunks, or with too much between them",
)
# From here on a body has to be more than its frames: a call back for every two bytes of 100 MB
# takes seconds.
_MANY_CHUNKS: Final = 1_024
_MEAN_CHUNK: Final = 64
_OLD: Final = Refusal(HTTPStatus.BAD_REQUEST, "the request is not HTTP: only 1.0 and 1.1 are read")


class Head:
    """The first line and the headers of one request."""

    __slots__ = ("_bytes", "encoding", "expect", "is_chunked", "length", "url", "user_agent")

    def __init__(self) -> None:
        self._bytes = 0
        self.url = b""
        self.length = 0
        self.is_chunked = False
        self.encoding = b""
        self.expect = b""
        self.user_agent = b""

    @property
    def has_body(self) -> bool:
        """Whether something follows."""
        return self.is_chunked or self.length > 0

    @property
    def is_large(self) -> bool:
        """Whether the body is known to be large."""
        return self.length >= LARGE_BODY

    def add(self, name: bytes, value: bytes) -> None:
        """One header; few of them matter."""
        self._bytes += len(name) + len(value)
        match name.lower():
            case b"content-length":
                self.length = int(value)
            case b"transfer-encoding":
                self.is_chunked = True
            case b"content-encoding":
                self.encoding += b"," + value
            case b"expect":
                self.expect = value
            case b"user-agent":
                self.user_agent = value
            case _:
                pass

    def refusal(self, version: str, limits: Limits) -> Refusal | None:
        """Why nothing more is read of the request."""
        if version not in ("1.1", "1.0"):
            return _OLD
        if self._bytes + len(self.url) > MAX_HEAD_BYTES:
            return LONG_HEAD
        if self.expect and self.expect.lower() != b"100-continue":
            return Refusal(HTTPStatus.EXPECTATION_FAILED, "only 100-continue can be expected")
        if self.length > limits.request_bytes:
            return refusal_of(bodies.too_large(limits))
        return self._refusal_of_encoding() if self.encoding else None

    def _refusal_of_encoding(self) -> Refusal | None:
        encodings = [part.strip() for part in self.encoding.lower().split(b",")]
        encoding = b",".join(filter(None, encodings)).decode(errors="replace")
        if encoding in ("", "identity"):
            return None
        return refusal_of(
            UnsupportedEncodingError(
                f"Content-Encoding {encoding[:64]!r} is not supported: send the body as it is"
            )
        )


def is_framed_well(size: int, chunks: int, frame_bytes: int) -> bool:
    """Whether a body of that size may have come in so many chunks, with so much between them.

    llhttp would skip an extension of any length, and take any number of chunks.
    """
    few = chunks <= _MANY_CHUNKS + size // _MEAN_CHUNK
    return few and frame_bytes <= MAX_HEAD_BYTES + size // 4


def not_http(why: Exception) -> Refusal:
    """What is said to bytes that are no request."""
    return Refusal(HTTPStatus.BAD_REQUEST, f"the request is not HTTP: {str(why)[:100]}")


def late_head(limits: Limits) -> Refusal:
    """What is said to a head that takes too long."""
    within = f"within limits.headTimeout of {limits.head_timeout:g} s"
    return Refusal(HTTPStatus.REQUEST_TIMEOUT, f"the head did not arrive {within}")


def answer_head(status: HTTPStatus, content_type: bytes, size: int, headers: bytes) -> bytes:
    """What stands before an answer of so many bytes."""
    phrase = status.phrase.encode() if status is not HTTPStatus.OK else b"OK"
    return _ANSWER % (status, phrase, content_type, size, _date(int(time.time())), headers)


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
