"""The heads of requests and answers, and how much may stand between chunks."""

from http import HTTPStatus

import pytest

from extender.config.schema import Limits
from extender.server import heads
from extender.server.heads import MAX_HEAD_BYTES, Head, answer_head, is_framed_well


def head_of(*headers: tuple[bytes, bytes], url: bytes = b"/filter") -> Head:
    head = Head()
    head.url = url
    for name, value in headers:
        head.add(name, value)
    return head


def test_few_headers_matter_in_any_letter_case() -> None:
    head = head_of(
        (b"CONTENT-LENGTH", b"7"),
        (b"Expect", b"100-continue"),
        (b"user-agent", b"Go"),
        (b"X-Other", b"y"),
    )

    assert (head.length, head.expect, head.user_agent) == (7, b"100-continue", b"Go")
    assert head.has_body
    assert not head.is_chunked
    assert head.refusal("1.1", Limits()) is None


@pytest.mark.parametrize(
    ("headers", "has_body"),
    [
        pytest.param([], False, id="nothing said"),
        pytest.param([(b"Content-Length", b"0")], False, id="nothing to come"),
        pytest.param([(b"Transfer-Encoding", b"chunked")], True, id="chunks"),
    ],
)
def test_whether_a_body_follows(headers: list[tuple[bytes, bytes]], *, has_body: bool) -> None:
    assert head_of(*headers).has_body is has_body


@pytest.mark.parametrize(
    ("head", "version", "status"),
    [
        pytest.param(head_of(), "2.0", 400, id="another protocol"),
        pytest.param(head_of(url=b"/" * (MAX_HEAD_BYTES + 1)), "1.1", 431, id="a long path"),
        pytest.param(head_of((b"x", b"y" * MAX_HEAD_BYTES)), "1.1", 431, id="a long header"),
        pytest.param(head_of((b"Expect", b"more")), "1.1", 417, id="what we do not do"),
        pytest.param(head_of((b"Content-Encoding", b"gzip")), "1.1", 415, id="a packed body"),
        pytest.param(head_of((b"Content-Length", b"134217729")), "1.1", 413, id="a large body"),
    ],
)
def test_what_is_refused_for_its_head_alone(head: Head, version: str, status: int) -> None:
    refusal = head.refusal(version, Limits())

    assert refusal is not None
    assert refusal.status == status


@pytest.mark.parametrize(
    ("size", "chunks", "frame_bytes", "well"),
    [
        pytest.param(0, 0, 0, True, id="nothing"),
        pytest.param(0, 0, MAX_HEAD_BYTES, True, id="trailers as long as a head"),
        pytest.param(0, 0, MAX_HEAD_BYTES + 1, False, id="longer ones"),
        pytest.param(1_024, 1_024, 6_144, True, id="a kilobyte, byte by byte"),
        pytest.param(4_096, 4_096, 20_480, False, id="four of them, byte by byte"),
        pytest.param(1 << 20, 256, 256 * 8, True, id="a megabyte as Go sends it"),
        pytest.param(1 << 20, 256, 1 << 20, False, id="as much between the chunks as in them"),
    ],
)
def test_a_body_is_more_than_its_frames(
    size: int, chunks: int, frame_bytes: int, *, well: bool
) -> None:
    assert is_framed_well(size, chunks, frame_bytes) is well


def test_an_answer_says_how_long_it_is() -> None:
    head = answer_head(HTTPStatus.OK, b"application/json", 5, b"Connection: close\r\n")

    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    assert first == b"HTTP/1.1 200 OK"
    assert {b"Content-Type: application/json", b"Content-Length: 5", b"Connection: close"} <= {
        *lines
    }


def test_sentences_are_short_whatever_was_sent() -> None:
    assert len(heads.not_http(ValueError("x" * 10_000)).sentence) < 200
    assert heads.late_head(Limits()).sentence.endswith("limits.headTimeout of 5 s")
