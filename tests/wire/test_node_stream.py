"""A body is understood as it is, in whatever chunks it arrives."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extender.wire import known_nodes, node_stream
from extender.wire.known_nodes import KnownNodes, ParsedNodes
from extender.wire.node_stream import Body, NodeStreamReader
from tests.wire.bodies import BODY, NODES, WHOLE, knowing, mutated, outcome

REORDERED = WHOLE.replace(b",".join(NODES), b",".join(NODES[::-1]))
BEATEN = WHOLE.replace(b"[1,2,3]", b"[1,2,4]")
SHORTER = WHOLE.replace(b"," + NODES[2], b"")
LARGER = WHOLE.replace(b"[1,2,3]", b"[%b]" % b",".join([b"1"] * 5_000))
LONGER = WHOLE.replace(b"[1,2,3]", b"[1,2,3,4]")


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_stream, "_LEAST", 1)


def cut(body: bytes, places: list[int]) -> list[bytes]:
    """The body in pieces, cut at these places, modulo its length."""
    at = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    return [body[a:b] for a, b in pairwise(at)]


def taken(known: KnownNodes, *chunks: bytes) -> Body:
    reading = NodeStreamReader(known)
    for chunk in chunks:
        reading.feed(chunk)
    return reading.end()


CUTS = st.lists(st.integers(0, 2_000), max_size=12)
ASKED = st.tuples(
    st.sampled_from([WHOLE, WHOLE, SHORTER, REORDERED, BEATEN, LONGER, WHOLE[:-5]]) | mutated(),
    CUTS,
)


@settings(max_examples=500, deadline=None)
@given(asked=st.lists(ASKED, min_size=1, max_size=4), times=st.sampled_from([1, 2, 3]))
@example([(WHOLE, []), (REORDERED, [350, 400, 450, 500]), (BEATEN, [400, 401, 440])], 1)
@example([(WHOLE, []), (WHOLE, []), (SHORTER, []), (SHORTER, [40, 600]), (WHOLE, [600])], 2)
def test_in_any_chunks_it_is_the_same_body(
    asked: list[tuple[bytes, list[int]]], times: int
) -> None:
    known = knowing()
    for body, places in asked * times:
        found = taken(known, *cut(body, places))

        assert bytes(found) == body
        assert outcome(found, known) == outcome(body, None)


@settings(max_examples=200, deadline=None)
@given(first=ASKED, other=ASKED, turns=st.lists(st.booleans(), max_size=20), repeated=st.booleans())
@example(first=(WHOLE, [430]), other=(BEATEN, [430]), turns=[True, False], repeated=False)
@example(first=(WHOLE, [430]), other=(BEATEN, [430]), turns=[True, False], repeated=True)
def test_requests_that_arrive_at_the_same_time_do_not_meet(
    first: tuple[bytes, list[int]],
    other: tuple[bytes, list[int]],
    turns: list[bool],
    *,
    repeated: bool,
) -> None:
    known = knowing(WHOLE, *([WHOLE] if repeated else []))
    requests = [
        (body, iter(cut(body, places)), NodeStreamReader(known)) for body, places in (first, other)
    ]
    for turn in (*turns, *[True, False] * 14):
        _, chunks, reading = requests[turn]
        reading.feed(next(chunks, b""))
    ended = [(body, reading.end()) for body, _, reading in requests]

    for body, found in (*ended, *ended):
        assert outcome(found, known) == outcome(body, None)


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
@pytest.mark.parametrize("body", [WHOLE, REORDERED], ids=["listed", "reordered"])
def test_known_nodes_are_neither_copied_nor_decoded(
    size: int, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = knowing(WHOLE)
    monkeypatch.setattr(known_nodes, "decoded", None)

    found = taken(known, *(body[i : i + size] for i in range(0, len(body), size)))

    assert isinstance(found, ParsedNodes)
    assert not found.new
    assert {*map(id, found.nodes)} == {*map(id, known.memory().known.values())}


@pytest.mark.parametrize("size", [20, 100, 10_000])
@pytest.mark.parametrize("last", [WHOLE, LONGER, SHORTER], ids=["whole", "longer", "shorter"])
def test_a_node_from_before_a_change_is_compared_with_what_is_known_now(
    last: bytes, size: int
) -> None:
    known = knowing(WHOLE, WHOLE, WHOLE.replace(b'"k"', b'"changed"'))

    found = taken(known, *(last[i : i + size] for i in range(0, len(last), size)))

    assert outcome(found, known) == outcome(last, None)


@pytest.mark.parametrize("size", [20, 100, 10_000])
def test_two_bodies_are_not_mixed_up(size: int) -> None:
    other = WHOLE.replace(b'"y"', b'"z"').replace(b"[1,2,3]", b"[1,2,4]")
    known = knowing(WHOLE, WHOLE, other, other)
    for body in (BEATEN, WHOLE.replace(b'"y"', b'"z"')):  # begins like one and ends like the other
        found = taken(known, *(body[i : i + size] for i in range(0, len(body), size)))

        assert bytes(found) == body
        assert outcome(found, known) == outcome(body, None)


def test_nothing_is_known_of_a_body_before_it_is_there() -> None:
    known = knowing(WHOLE)
    before = dict(known.memory().known)
    reading = NodeStreamReader(known)
    reading.feed(LONGER[:-1])
    assert known.memory().known == before

    reading.feed(LONGER[-1:])
    reading.end()
    assert known.memory().known == before


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(WHOLE.replace(b"[1,2,3]", b"[1,2"), id="a broken node"),
        pytest.param(WHOLE.replace(NODES[2], NODES[2] + b"7"), id="a broken node at the end"),
        pytest.param(WHOLE.replace(NODES[2], b"7"), id="a number among the nodes"),
        pytest.param(WHOLE.replace(b'"b"', b'"\\u0062"'), id="an escaped name"),
        pytest.param(WHOLE.replace(b",".join(NODES), b""), id="no nodes"),
        pytest.param(WHOLE[:-1], id="no end"),
        pytest.param(WHOLE[: WHOLE.index(b'"Nodes"')], id="no nodes yet"),
        pytest.param(BODY, id="names"),
        pytest.param(WHOLE.replace(b'{"metadata":{},', b'{"metadata":null,'), id="another list"),
        pytest.param(b"", id="nothing"),
    ],
)
@pytest.mark.parametrize("size", [1, 50, 10_000])
def test_what_is_not_recognised_stays_what_it_is(body: bytes, size: int) -> None:
    known = knowing(WHOLE, WHOLE)

    assert taken(known, *(body[i : i + size] for i in range(0, len(body), size))) == body


def test_known_nodes_may_be_forgotten_while_others_arrive() -> None:
    known = knowing(WHOLE, max_bytes=12_000)
    reading = NodeStreamReader(known)
    reading.feed(REORDERED[:-30])
    outcome(LARGER, known)
    reading.feed(REORDERED[-30:])

    assert outcome(reading.end(), known) == outcome(REORDERED, None)


class Looking(NodeStreamReader):
    """Counts how many bytes are looked at."""

    def __init__(self, known: KnownNodes) -> None:
        super().__init__(known)
        self.looked = 0

    def _look(self) -> None:
        self.looked += len(self._rest) + self._size
        super()._look()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"x" * 5_000, id="nothing that is known"),
        pytest.param(WHOLE.replace(b"[1,2,3]", b"[%b1]" % (b"1," * 5_000)), id="a long node"),
        pytest.param(WHOLE.replace(b"[1,2,3]", b"[1,2" + b" " * 9_000), id="a broken one"),
    ],
)
def test_chunks_of_one_byte_do_not_make_it_look_again_and_again(body: bytes) -> None:
    reading = Looking(knowing())
    for i in range(len(body)):
        reading.feed(body[i : i + 1])

    assert bytes(reading.end()) == body
    assert reading.looked < 5 * len(body)


def test_nodes_that_do_not_begin_are_not_looked_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look joins what has come, so it would be held more than twice."""
    monkeypatch.setattr(node_stream, "_LARGEST_POD", 1_000)
    joined: list[int] = []
    look = NodeStreamReader._look

    def noted(reader: NodeStreamReader) -> None:
        joined.append(reader._size)
        look(reader)

    monkeypatch.setattr(NodeStreamReader, "_look", noted)
    body = b'{"Pod":{"metadata":{"name":"' + b"x" * 100_000 + b'"}}' + WHOLE[len(b'{"Pod":{}') :]

    found = taken(knowing(), *(body[at : at + 100] for at in range(0, len(body), 100)))

    assert bytes(found) == body
    assert sum(joined) < 5_000


@pytest.mark.parametrize("places", [[], [350, 400, 450, 500]])
def test_a_body_that_breaks_in_the_middle_of_its_nodes_is_as_it_came(places: list[int]) -> None:
    broken = WHOLE.replace(NODES[2], NODES[2][:-1] + b"!}")

    found = taken(knowing(), *cut(broken, places))

    assert found == broken
