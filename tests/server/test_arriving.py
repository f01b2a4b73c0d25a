"""A body, piece by piece."""

import tracemalloc
from collections.abc import Callable

import pytest

from extender.match.lru import CacheBudget
from extender.server.arriving import ArrivingBody
from extender.wire.known_nodes import KnownNodes
from extender.wire.node_stream import NodeStreamReader

MIB = 1 << 20


def large() -> ArrivingBody:
    return ArrivingBody(reader=NodeStreamReader(KnownNodes(CacheBudget(MIB))))


def test_one_piece_is_the_body_itself() -> None:
    arriving, piece = ArrivingBody(), b"{}" * 100
    arriving.feed(piece)

    assert arriving.end() is piece


def chunked() -> ArrivingBody:
    return ArrivingBody(is_chunked=True)


@pytest.mark.parametrize("make", [ArrivingBody, chunked, large])
def test_pieces_are_the_body_together(make: Callable[[], ArrivingBody]) -> None:
    arriving = make()
    for piece in (b"{", b"}", b"", b"  "):
        arriving.feed(piece)

    assert arriving.size == 4
    assert arriving.end() == b"{}  "


@pytest.mark.parametrize("make", [chunked, large])
def test_a_body_is_never_held_twice(make: Callable[[], ArrivingBody]) -> None:
    arriving, count = make(), 64
    tracemalloc.start()
    try:
        for _ in range(count):
            arriving.feed(bytes(MIB))
        assert len(bytes(arriving.end())) == count * MIB
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1.3 * count * MIB


def test_many_small_chunks_take_no_more_than_few() -> None:
    arriving, count = ArrivingBody(is_chunked=True), 100_000
    pieces = [b"%06d" % each for each in range(count)]
    tracemalloc.start()
    try:
        for piece in pieces:
            arriving.feed(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 2 * arriving.size


def test_frames_are_counted() -> None:
    arriving = ArrivingBody(is_chunked=True)
    arriving.feed(b"x" * 100)

    assert arriving.is_framed_well(16_000)
    assert not arriving.is_framed_well(1_000)
    arriving.feed(b"x" * 10_000)
    assert arriving.is_framed_well()
