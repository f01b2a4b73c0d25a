"""What both implementations of the rows promise; `test_plain` and `test_native` run it.

Each defines a fixture `rows`, the implementation, and imports all of this.
"""

import gc
import json
import sys
import tracemalloc
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pytest

from extender.rows import UNASKED
from extender.rows.plain import Codes

Rows: TypeAlias = Any  # a module: mypy has no name for "one of these two"

NOT_PLAIN = [
    pytest.param(b'{"NodeNames":["a", "b"]}', id="white space"),
    pytest.param(b'{"NodeNames":["a","b"] }', id="white space behind"),
    pytest.param(b'{"NodeNames":["a","b"]}\n', id="a line end"),
    pytest.param(b'{"NodeNames":["a","\\u0062"]}', id="an escape"),
    pytest.param(b'{"NodeNames":["a","x\\""]}', id="an escaped quote"),
    pytest.param('{"NodeNames":["a","ü"]}'.encode(), id="not ASCII"),
    pytest.param(b'{"NodeNames":["a","x\x1f"]}', id="a control character"),
    pytest.param(b'{"NodeNames":["a",]}', id="a comma too many"),
    pytest.param(b'{"NodeNames":[,"a"]}', id="a comma in front"),
    pytest.param(b'{"NodeNames":["a""b"]}', id="no comma"),
    pytest.param(b'{"NodeNames":["a";"b"]}', id="another separator"),
    pytest.param(b'{"NodeNames":["a",1]}', id="a number"),
    pytest.param(b'{"NodeNames":["a",null]}', id="null"),
    pytest.param(b'{"NodeNames":["a"],"More":["b"]}', id="a member behind"),
    pytest.param(b'{"NodeNames":["a]}', id="an open string"),
    pytest.param(b'{"NodeNames":["]}', id="a quote alone"),
    pytest.param(b'{"NodeNames":{"a":1}}', id="no list"),
    pytest.param(b'{"NodeNames":["a"', id="cut short"),
    pytest.param(b'{"NodeNames":[', id="cut at the bracket"),
    pytest.param(b"", id="nothing"),
]
START = len(b'{"NodeNames":')
WRONG = (ValueError, TypeError)


def codes(*numbers: int) -> Codes:
    return memoryview(array("I", numbers))


def body(names: Sequence[str]) -> bytes:
    return json.dumps({"NodeNames": names}, separators=(",", ":"), ensure_ascii=False).encode()


def index_of(rows: Rows, names: Sequence[str]) -> Any:
    index = rows.NameIndex(7)
    for row, name in enumerate(names, 1):
        index.put(name, row)
    return index


def candidates(rows: Rows, *numbers: int) -> Any:
    """Candidates with these rows, called after them."""
    return rows.Candidates(numbers, [b'"n%d"' % row for row in numbers])


def places(found: Any) -> list[int]:
    assert found.judge([], [], []) == -1
    return list(found.places)


# --- NameIndex


def test_names_are_read_in_the_order_of_the_request(rows: Rows) -> None:
    index = index_of(rows, ["a", "b", "node-0000000000000000.example", "é"])

    read = index.read(body(["b", "node-0000000000000000.example", "zz", "é", "b"]), START)

    assert len(read) == 5
    assert places(read) == [0, 0, 1, 0, 0]
    assert list(read.rows(0)) == [2, 3, 4, 2]
    assert list(read.rows(1)) == [0]
    assert read.names() == '["b","node-0000000000000000.example","é","b"]'.encode()


def test_an_empty_list_is_a_list(rows: Rows) -> None:
    read = index_of(rows, ["a"]).read(b'{"NodeNames":[]}', START)

    assert (len(read), places(read), read.names()) == (0, [], b"[]")
    assert (list(read.counts), read.members([b"", b""])) == ([0, 0], b"")
    assert read.score([], [], 1) == b"[]"


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_is_not_a_plain_list_is_left_to_the_caller(rows: Rows, text: bytes) -> None:
    assert index_of(rows, ["a", "b"]).read(text, START) is None
    assert rows.count_names(text, START) is None


@pytest.mark.parametrize("count", [0, 1, 2, 5, 1000])
def test_names_are_counted_without_being_known(rows: Rows, count: int) -> None:
    assert rows.count_names(body([f"node-{number}" for number in range(count)]), START) == count


@pytest.mark.parametrize("name", ["a\\", "a\\\\", 'a"', "a\n", "\x00", 'a","b'])
def test_a_name_that_json_writes_in_another_way_is_kept_but_never_read(
    rows: Rows, name: str
) -> None:
    index = index_of(rows, [name, "b"])
    raw = b'{"NodeNames":["' + name.encode() + b'"]}'

    read = index.read(raw, START)

    assert len(index) == 2
    assert read is None or places(read) == [1, 0]  # `a","b` is two names
    index.remove(name)
    assert len(index) == 1


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 253, 65535])
def test_names_of_every_length_are_told_apart(rows: Rows, length: int) -> None:
    names = ["x" * length] + [
        "x" * at + "y" + "x" * (length - at - 1) for at in range(min(length, 70))
    ]
    index = index_of(rows, names)

    read = index.read(body(names), START)

    assert not any(places(read))
    assert list(read.rows(0)) == list(range(1, len(names) + 1))
    assert places(index.read(body(["x" * length + "x"]), START)) == [1]


def test_a_name_changes_its_row(rows: Rows) -> None:
    index = index_of(rows, ["a", "b"])
    index.put("a", 9)

    read = index.read(body(["a", "b"]), START)

    assert (len(index), places(read), list(read.rows(0))) == (2, [0, 0], [9, 2])


def test_the_index_follows_many_events(rows: Rows) -> None:
    index, kept = rows.NameIndex(1), dict[str, int]()
    for event in range(6000):
        name = f"node-{event * 7919 % 700}"
        if event % 3 == 2 and name in kept:
            index.remove(name)
            del kept[name]
        else:
            index.put(name, event + 1)
            kept[name] = event + 1
    asked = [f"node-{i}" for i in range(700)]

    read = index.read(body(asked), START)

    assert len(index) == len(kept)
    assert places(read) == [0 if name in kept else 1 for name in asked]
    assert list(read.rows(0)) == [kept[name] for name in asked if name in kept]


def test_an_index_that_is_emptied_gives_its_memory_back(rows: Rows) -> None:
    index = rows.NameIndex(1)
    for row in range(1, 3001):
        index.put(f"a-rather-long-name-of-a-node-{row}", row)
    full = index.nbytes
    for row in range(1, 3001):
        index.remove(f"a-rather-long-name-of-a-node-{row}")
    index.put("a", 1)

    assert 3000 * 32 < full < 3000 * 500
    assert (len(index), places(index.read(body(["a"]), START))) == (1, [0])
    for _ in range(50_000):  # holes are closed on the way
        index.put("b", 1)
        index.remove("b")
    assert index.nbytes <= full


def test_a_name_that_is_not_there_cannot_be_removed(rows: Rows) -> None:
    index = index_of(rows, ["a"])
    index.remove("a")

    for name in ("a", "b", ""):
        with pytest.raises(KeyError):
            index.remove(name)


@pytest.mark.parametrize("row", [0, -1, 1 << 24, 1 << 70, -(1 << 70), "1", None, 1.0])
def test_a_row_is_a_small_positive_number(rows: Rows, row: Any) -> None:
    index = rows.NameIndex(1)

    with pytest.raises(WRONG):
        index.put("a", row)
    assert len(index) == 0


@pytest.mark.parametrize("name", [b"a", None, 1, "\udc80", "x" * 65536])
def test_a_name_is_text(rows: Rows, name: Any) -> None:
    with pytest.raises(WRONG):
        rows.NameIndex(1).put(name, 1)
    with pytest.raises(WRONG):
        rows.NameIndex(1).remove(name)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (bytearray(b"[]}"), 0),
        ("[]}", 0),
        (None, 0),
        (b"[]}", -1),
        (b"[]}", -(1 << 80)),
        (b"[]}", None),
    ],
)
def test_a_body_is_bytes_from_somewhere_on(rows: Rows, text: Any, start: Any) -> None:
    with pytest.raises(WRONG):
        rows.NameIndex(1).read(text, start)


@pytest.mark.parametrize("start", [1, 2, 3, 4, sys.maxsize])
def test_a_list_that_begins_too_late_is_none(rows: Rows, start: int) -> None:
    assert rows.count_names(body(["a"]), start) is None
    assert rows.NameIndex(1).read(b"[]}", start) is None


@pytest.mark.parametrize("seed", ["1", None, 1.5])
def test_a_seed_is_a_number(rows: Rows, seed: Any) -> None:
    with pytest.raises(WRONG):
        rows.NameIndex(seed)


@pytest.mark.parametrize("seed", [0, -1, 1 << 63, 1 << 90])
def test_any_number_is_a_seed(rows: Rows, seed: int) -> None:
    index = rows.NameIndex(seed)
    index.put("a", 3)

    assert places(index.read(body(["a", "b"]), START)) == [0, 1]


# --- judging


def test_the_first_refusal_stands(rows: Rows) -> None:
    found = candidates(rows, 1, 2, 3, 0, 4)
    zone, disk = codes(0, 0, 1, 2, 0), codes(0, 0, 1, 0, 1)

    told = found.judge([zone, disk], [codes(0, 2, 0), codes(0, 1)], [2, 1])

    assert told == -1
    assert list(found.places) == [0, 3, 0, 1, 4]
    assert list(found.counts) == [2, 1, 0, 1, 1]
    assert [list(found.rows(place)) for place in range(5)] == [[1, 3], [0], [], [2], [4]]


def test_without_questions_all_known_ones_pass(rows: Rows) -> None:
    assert places(candidates(rows, 3, 0, 3)) == [0, 1, 0]


def test_the_first_question_with_an_unasked_code_is_named(rows: Rows) -> None:
    found = candidates(rows, 1, 2)
    columns = [codes(0, 0, 1), codes(0, 0, 1), codes(0, 1, 0)]

    assert found.judge(columns, [codes(0), codes(0, 0), codes(0, 0)], [1, 1, 1]) == 0
    assert found.judge(columns, [codes(0, 0), codes(0, UNASKED), codes(0)], [1, 1, 1]) == 1
    assert found.judge(columns, [codes(0, 1), codes(0, UNASKED), codes(0)], [1, 1, 1]) == 2
    assert found.judge(columns, [codes(1, 1), codes(), codes()], [1, 1, 1]) == -1
    assert list(found.places) == [2, 2]


def test_before_all_are_judged_there_is_nothing_to_say(rows: Rows) -> None:
    found = candidates(rows, 1)
    assert found.judge([], [], []) == -1
    assert found.judge([codes(0, 1)], [codes(0)], [0]) == 0

    for ask in ("places", "counts", "names"):
        with pytest.raises(ValueError, match="not judged"):
            getattr(found, ask)()
    for ask, argument in (("rows", 0), ("passing_bits", 8), ("members", [b"", b""])):
        with pytest.raises(ValueError, match="not judged"):
            getattr(found, ask)(argument)


def test_views_are_of_unsigned_numbers_and_read_only(rows: Rows) -> None:
    found = candidates(rows, 1, 0)
    assert found.judge([], [], []) == -1

    for view in (found.places, found.counts, found.rows(0), found.reached([], [], codes(0, 0), 1)):
        assert isinstance(view, memoryview)
        assert (view.format, view.itemsize, view.readonly) == ("I", 4, True)


def test_unknown_nodes_alone_need_no_columns(rows: Rows) -> None:
    found = candidates(rows, 0, 0)

    assert found.judge([codes()], [codes()], [1]) == -1
    assert list(found.counts) == [0, 2, 0]
    assert list(found.reached([codes()], [codes()], codes(), 2)) == [0, 0]
    assert found.score([codes()], [codes()], 1) == b"[]"


def test_codes_may_stand_at_any_address(rows: Rows) -> None:
    shifted = memoryview(b"\0" + array("I", [0, 0, 1]).tobytes())[1:].cast("I")
    found = candidates(rows, 1, 2)

    assert found.judge([shifted], [shifted[1:]], [1]) == -1
    assert list(found.places) == [0, 2]


@pytest.mark.parametrize(
    ("columns", "tables", "sizes"),
    [
        pytest.param([codes(0, 0)], [codes(0)], [0], id="a column too short"),
        pytest.param([codes()], [codes(0)], [0], id="an empty column"),
        pytest.param([codes(0, 0, 0)], [], [0], id="no table"),
        pytest.param([], [], [1], id="a size too many"),
        pytest.param([codes(0, 0, 0)], [codes(0)], [], id="no size"),
        pytest.param([codes(0, 0, 0)], [codes(2)], [1], id="a refusal beyond the size"),
        pytest.param([codes(0, 0, 0)], [codes(0)], [-1], id="a negative size"),
        pytest.param([codes(0, 0, 0)], [codes(0)], [1 << 40], id="a huge size"),
        pytest.param([codes(0, 0, 0)] * 2, [codes(0)] * 2, [1 << 19] * 2, id="huge sizes"),
        pytest.param([codes(0, 0, 0)], [codes(0)], ["1"], id="a size that is none"),
        pytest.param([codes(0, 0, 0)] * 65, [codes(0)] * 65, [0] * 65, id="many questions"),
        pytest.param([b"\0" * 12], [codes(0)], [0], id="bytes"),
        pytest.param([array("i", [0, 0, 0])], [codes(0)], [0], id="signed"),
        pytest.param([array("H", [0] * 6)], [codes(0)], [0], id="16 bits"),
        pytest.param([array("f", [0] * 3)], [codes(0)], [0], id="floats"),
        pytest.param([codes(*[0] * 6)[::2]], [codes(0)], [0], id="with holes"),
        pytest.param([codes(0, 0, 0)], [codes(0, 0)[::-1]], [0], id="backwards"),
        pytest.param([[0, 0, 0]], [codes(0)], [0], id="a list"),
        pytest.param([None], [codes(0)], [0], id="None"),
        pytest.param(None, [codes(0)], [0], id="no columns"),
        pytest.param([codes(0, 0, 0)], None, [0], id="no tables"),
        pytest.param([codes(0, 0, 0)], [codes(0)], None, id="no sizes"),
    ],
)
def test_questions_that_are_none(rows: Rows, columns: Any, tables: Any, sizes: Any) -> None:
    found = candidates(rows, 1, 2)

    with pytest.raises(WRONG):
        found.judge(columns, tables, sizes)


def test_buffers_are_given_back(rows: Rows) -> None:
    found = candidates(rows, 1)
    column, table = array("I", [0, 0]), array("I", [0])

    assert found.judge([column], [table], [0]) == -1
    found.reached([column], [table], column, 1)
    found.score([column], [table], 1)
    for wrong in (None, array("H", [0])):
        with pytest.raises(WRONG):
            found.judge([column, column], [table, wrong], [0, 0])
        with pytest.raises(WRONG):
            found.reached([column], [table], wrong, 1)
    with pytest.raises(WRONG):
        found.judge([column], [table], [None])

    column.append(1)  # BufferError if a view of it were left
    table.append(1)


def test_an_array_and_a_view_of_it_are_the_same(rows: Rows) -> None:
    found = candidates(rows, 1)

    assert found.judge((array("I", [0, 1]),), (array("I", [0, 1]),), (1,)) == -1
    assert list(found.places) == [2]


# --- what follows from a verdict


def test_codes_are_counted_of_those_that_pass(rows: Rows) -> None:
    found = candidates(rows, 1, 2, 3, 4, 0, 1)
    column, other = codes(9, 0, 0, 1, 2), codes(9, 2, 0, 2, 7)

    assert list(found.reached([], [], other, 3)) == [1, 0, 3]
    assert list(found.reached([column], [codes(0, 0)], other, 3)) == [1, 0, 3]
    assert list(found.reached([column], [codes(0, 1, 0)], other, 8)) == [1, 0, 2, 0, 0, 0, 0, 1]
    assert list(found.reached([column], [codes(UNASKED, 0)], other, 3)) == [0, 0, 1]
    assert list(found.reached([], [], other, 0)) == []


@pytest.mark.parametrize("size", [-1, (1 << 20) + 1, 1 << 80, None, "1"])
def test_a_size_is_a_number_of_codes(rows: Rows, size: Any) -> None:
    with pytest.raises(WRONG):
        candidates(rows, 1).reached([], [], codes(0, 0), size)


def test_rows_that_pass_as_bits(rows: Rows) -> None:
    found = candidates(rows, 1, 8, 0, 9, 30, 2)
    assert found.judge([codes(*[0] * 9, 1, *[0] * 21)], [codes(0, 1)], [1]) == -1

    assert found.passing_bits(31) == bytes([0b110, 0b1, 0, 0b0100_0000])
    assert found.passing_bits(30) == bytes([0b110, 0b1, 0, 0])
    assert found.passing_bits(2) == bytes([0b10])
    assert found.passing_bits(0) == b""
    for size in (-1, (1 << 24) + 1, None):
        with pytest.raises(WRONG):
            found.passing_bits(size)


@pytest.mark.parametrize("place", [-1, 3, 1 << 40, None, "0"])
def test_a_place_is_one_that_there_is(rows: Rows, place: Any) -> None:
    found = candidates(rows, 1)
    assert found.judge([codes(0, 0)], [codes(0)], [1]) == -1

    with pytest.raises(WRONG):
        found.rows(place)


def test_names_that_pass_are_written_as_they_were(rows: Rows) -> None:
    found = rows.Candidates((1, 2, 3, 0), [b'"a"', b'"\\u0062"', '"ç"'.encode(), b'"d"'])

    assert found.judge([codes(0, 0, 0, 1)], [codes(0, 1)], [1]) == -1
    assert found.names() == b'["a","\\u0062"]'
    assert found.judge([codes(0, 1, 1, 0)], [codes(0, 1)], [1]) == -1
    assert found.names() == '["ç"]'.encode()
    assert found.judge([codes(0, 0, 0, 0)], [codes(1)], [1]) == -1
    assert found.names() == b"[]"


def test_members_name_a_known_row_once_and_unknown_names_each_time(rows: Rows) -> None:
    found = candidates(rows, 2, 0, 1, 2, 0, 3)
    assert found.judge([codes(0, 0, 1, 2)], [codes(0, 1, 2)], [2]) == -1

    texts = [b"unused", b'"not found"', b"[]", b""]

    assert found.members(texts) == b'"n2":[],"n0":"not found","n0":"not found","n3":'
    assert found.members([None, *texts[1:], None]) == found.members(texts)


@pytest.mark.parametrize("texts", [[b"", b""], [b"", b"", None], [b"", b"", "x"], None, 5])
def test_there_is_a_text_for_each_place(rows: Rows, texts: Any) -> None:
    found = candidates(rows, 1)
    assert found.judge([codes(0, 0)], [codes(1)], [1]) == -1

    with pytest.raises(WRONG):
        found.members(texts)


# --- scores


def test_scores_are_rounded_and_told_above_the_lowest(rows: Rows) -> None:
    found = candidates(rows, 1, 2, 3, 4)
    column = codes(0, 0, 1, 2, 3)

    assert found.score([column], [codes(0, 50, 100, 200)], 100) == (
        b'[{"Host":"n2","Score":5},{"Host":"n3","Score":10},{"Host":"n4","Score":10}]'
    )
    assert found.score([column], [codes(30, 34, 35, 100)], 100) == (
        b'[{"Host":"n3","Score":1},{"Host":"n4","Score":7}]'
    )
    assert found.score([column], [codes(7, 7, 7, 7)], 100) == b"[]"
    assert found.score([column, column], [codes(0, 1, 1, 0), codes(0, 0, 2, 0)], 10) == (
        b'[{"Host":"n2","Score":1},{"Host":"n3","Score":3}]'
    )


def test_an_unknown_node_has_the_score_0(rows: Rows) -> None:
    found = candidates(rows, 1, 0, 2)

    assert found.score([codes(0, 0, 0)], [codes(4)], 10) == (
        b'[{"Host":"n1","Score":4},{"Host":"n2","Score":4}]'
    )
    assert found.score([], [], 1) == b"[]"


def test_large_numbers_do_not_wrap(rows: Rows) -> None:
    found = candidates(rows, 1, 2)
    column = codes(0, 0, 1)

    answer = b'[{"Host":"n1","Score":10}]'
    assert found.score([column] * 64, [codes(UNASKED, 0)] * 64, 1) == answer
    assert found.score([column] * 64, [codes(UNASKED, 0)] * 64, UNASKED) == answer
    assert found.score([column], [codes(UNASKED, 0)], 1 << 60) == b"[]"
    assert found.score([column], [codes(UNASKED, 0)], UNASKED * 2) == b'[{"Host":"n1","Score":5}]'


@pytest.mark.parametrize("unit", range(1, 70))
def test_a_score_is_what_the_formula_says(rows: Rows, unit: int) -> None:
    found = candidates(rows, 1, 2)
    for total in range(2 * unit):
        score = min((20 * total + unit) // (2 * unit), 10)
        expected = b'[{"Host":"n1","Score":%d}]' % score if score else b"[]"

        assert found.score([codes(0, 0, 1)], [codes(total, 0)], unit) == expected


@pytest.mark.parametrize(
    ("columns", "tables", "unit"),
    [
        pytest.param([codes(0, 0)], [codes(0)], 0, id="unit 0"),
        pytest.param([codes(0, 0)], [codes(0)], -1, id="a negative unit"),
        pytest.param([codes(0, 0)], [codes(0)], 1 << 64, id="a huge unit"),
        pytest.param([codes(0, 0)], [codes(0)], None, id="no unit"),
        pytest.param([codes(0, 1)], [codes(0)], 1, id="a code beyond the table"),
        pytest.param([codes(0)], [codes(0)], 1, id="a short column"),
        pytest.param([codes(0, 0)], [], 1, id="no table"),
    ],
)
def test_scores_that_are_none(rows: Rows, columns: Any, tables: Any, unit: Any) -> None:
    with pytest.raises(WRONG):
        candidates(rows, 1).score(columns, tables, unit)


# --- candidates by hand


@pytest.mark.parametrize(
    ("numbers", "literals"),
    [
        ([1], []),
        ([], [b'"a"']),
        ([-1], [b'"a"']),
        ([1 << 24], [b'"a"']),
        ([None], [b'"a"']),
        ([1], ['"a"']),
        ([1], [None]),
        (None, []),
        ([], None),
        (5, 5),
    ],
)
def test_candidates_that_are_none(rows: Rows, numbers: Any, literals: Any) -> None:
    with pytest.raises(WRONG):
        rows.Candidates(numbers, literals)


def test_a_literal_may_be_anything(rows: Rows) -> None:
    found = rows.Candidates([1, 2], [b"", b"no quotes"])

    assert places(found) == [0, 0]
    assert found.names() == b"[,no quotes]"


# --- whole nodes


def node_text(name: str, rest: str = "") -> bytes:
    return f',{{"metadata":{{"name":"{name}"{rest}}}}}'.encode()


def test_nodes_are_taken_while_they_are_what_is_known(rows: Rows) -> None:
    known = {name.encode(): (node_text(name), name) for name in ("a", "b", "")}
    text = b"[1" + node_text("a") + node_text("") + node_text("b") + node_text("b", ',"x":1')

    found, stop = rows.recognise(text, 2, known)

    assert [node[1] for node in found] == ["a", "", "b"]
    assert text[stop:] == node_text("b", ',"x":1')
    assert found[0] is known[b"a"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"]",
        b",",
        node_text("c"),
        node_text("a")[:-1],
        b',{"metadata":{"name":"a',
        b',{"metadata":',
    ],
)
def test_what_is_not_known_is_not_taken(rows: Rows, text: bytes) -> None:
    known = {b"a": (node_text("a"),), b"empty": (b"",)}

    assert rows.recognise(text, 0, known) == ([], 0)
    assert rows.recognise(text, len(text), known) == ([], len(text))
    assert rows.recognise(text, len(text) + 9, known) == ([], len(text) + 9)
    assert rows.recognise(node_text("empty"), 0, known) == ([], 0)


@pytest.mark.parametrize(
    ("text", "at", "known"),
    [
        ("", 0, {}),
        (bytearray(), 0, {}),
        (b"", -1, {}),
        (b"", None, {}),
        (b"", 0, None),
        (b"", 0, []),
        (node_text("a"), 0, {b"a": None}),
        (node_text("a"), 0, {b"a": ()}),
        (node_text("a"), 0, {b"a": (None,)}),
        (node_text("a"), 0, {b"a": [node_text("a")]}),
    ],
)
def test_nodes_that_are_none(rows: Rows, text: Any, at: Any, known: Any) -> None:
    with pytest.raises(WRONG):
        rows.recognise(text, at, known)


# --- memory


class AsksAgain(list[Any]):
    """A caller's list whose reading asks the same candidates something else."""

    def __init__(self, items: list[Any], candidates: Any) -> None:
        super().__init__(items)
        self._candidates = candidates

    def __iter__(self) -> Iterator[Any]:
        for item in list.__iter__(self):
            self._candidates.judge([], [], [])
            self._candidates.judge([codes(0, 0, 0)], [codes()], [0])
            yield item


def test_a_call_within_a_call_does_no_harm(rows: Rows) -> None:
    found = candidates(rows, 1, 2)
    column, table = codes(0, 0, 1), codes(0, 1)
    again = AsksAgain([column], found)

    assert found.judge(again, AsksAgain([table], found), AsksAgain([1], found)) == -1
    assert list(found.places) == [0, 2]
    assert found.score(again, [table], 1) == b'[{"Host":"n2","Score":10}]'
    assert list(found.reached([], [], column, 2)) == [1, 1]
    assert found.judge([column], [table], [1]) == -1
    with suppress(ValueError):  # the native one has read all texts, and so forgot the places
        found.members(AsksAgain([b"", b"", b'"x"'], found))


def test_nothing_is_left_behind(rows: Rows) -> None:
    index, case = index_of(rows, ["a", "b"]), body(["b", "a", "zz", "b"])
    known = {b"a": (node_text("a"),)}

    def everything() -> None:
        index.put("c", 3)
        found = index.read(case, START)
        found.judge([codes(0, 0, 1)], [codes(0, 1)], [1])
        found.names(), found.members([b"", b"x", b"y"]), found.passing_bits(9), found.rows(0)
        found.score([codes(0, 0, 1)], [codes(0, 1)], 1), found.reached([], [], codes(0, 0, 1), 2)
        rows.recognise(node_text("a") * 3, 0, known)
        index.remove("c")
        index.read(case + b" ", START)
        for wrong in (
            lambda: index.remove("c"),
            lambda: found.judge([codes(0, 0, 1)], [codes(9)], [0]),
            lambda: found.judge([codes(0, 0, 1), codes()], [codes(0, 1), codes()], [0, 0]),
            lambda: found.score([codes(0, 0, 1)], [codes(0)], 1),
            lambda: rows.Candidates([1, 2], [b"", None]),
            lambda: rows.recognise(node_text("a"), 0, {b"a": ()}),
        ):
            with suppress(ValueError, TypeError, KeyError):
                wrong()  # type: ignore[no-untyped-call]

    everything()
    tracemalloc.start()
    try:
        for _ in range(20):
            everything()
        # A leak grows in every window; the interpreter's own pools grow in one of them.
        grown = min(_growth(everything, rounds=200) for _ in range(4))
    finally:
        tracemalloc.stop()

    assert grown < 4000  # 20 bytes a round would be more


def _growth(everything: Callable[[], None], *, rounds: int) -> int:
    """The bytes that so many rounds leave behind."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(rounds):
        everything()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before
