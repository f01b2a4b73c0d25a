"""The rows in C and in Python say the same, byte for byte, whatever they are asked."""

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.rows import UNASKED, plain
from tests.rows.transcript import Case, transcript

_native = pytest.importorskip("extender.rows._native")
EXAMPLES = settings(max_examples=200)

NAMES = st.sampled_from(
    ["", "a", "b", ",", "é", 'a"', "a\\", "\n", "node-1", "x" * 15, "x" * 16, "x" * 17, "x" * 40]
) | st.text(max_size=40)
ROWS = st.integers(1, 12)
CODES = st.integers(0, 4)
SAID = st.sampled_from([0, 0, 0, 1, 2, 3, UNASKED])
LATIN = st.text(st.characters(max_codepoint=255), max_size=12)
HOSTILE_NUMBERS = st.integers(-2, 20) | st.sampled_from([1 << 24, 1 << 32, 1 << 63, 1 << 64])


def quote_badly(name: str) -> str:
    return f'"{name}"'


def quote_well(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def json_writes_as_it_is(name: str) -> bool:
    return quote_well(name) == quote_badly(name)


def latin(text: str) -> str:
    return text.encode("utf-8", "replace").decode("latin-1")


@st.composite
def bodies(draw: st.DrawFn, names: list[str]) -> str:
    """Lists of mostly known names, some of them damaged in one place."""
    asked = draw(st.lists(st.sampled_from([*names, "unknown"]) | NAMES, max_size=12))
    quote = quote_well if draw(st.booleans()) else quote_badly
    text = latin(f"[{','.join(map(quote, asked))}]}}")
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(LATIN) + text[at + draw(st.integers(0, 3)) :]
    return text


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Mostly sensible, so that most calls get far; hostile here and there."""
    put = draw(st.lists(st.tuples(NAMES, ROWS | st.none()), max_size=20))
    rows = draw(st.lists(st.integers(0, 12), max_size=20))
    questions = draw(st.integers(0, 3))
    columns = st.lists(CODES, min_size=13, max_size=14)
    known = draw(st.lists(st.text("ab", max_size=2), max_size=3, unique=True))
    nodes = {name: f',{{"metadata":{{"name":"{name}"}}}}' for name in known}
    case: dict[str, Any] = {
        "names": put,
        "body": draw(bodies([name for name, _ in put])),
        "start": 0,
        "rows": rows,
        "literals": draw(st.lists(LATIN, min_size=len(rows), max_size=len(rows))),
        "columns": draw(st.lists(columns, min_size=questions, max_size=questions)),
        "tables": draw(
            st.lists(st.lists(SAID, max_size=6), min_size=questions, max_size=questions)
        ),
        "sizes": draw(st.lists(st.integers(2, 5), min_size=questions, max_size=questions)),
        "column": draw(columns),
        "size": draw(st.integers(0, 14)),
        "texts": draw(st.lists(LATIN, min_size=17, max_size=17)),
        "unit": draw(st.integers(1, 10)),
        "nodes": "".join(draw(st.lists(st.sampled_from([*nodes.values(), ","]), max_size=6))),
        "at": 0,
        "known": nodes,
    }
    for key in draw(st.lists(st.sampled_from(["start", "size", "unit", "at"]), max_size=1)):
        case[key] = draw(HOSTILE_NUMBERS)
    for key in draw(st.lists(st.sampled_from(["rows", "sizes"]), max_size=1)):
        case[key] = draw(st.lists(HOSTILE_NUMBERS, max_size=4))
    return cast("Case", case)


@EXAMPLES
@given(case=cases())
def test_both_say_the_same(case: Case) -> None:
    assert transcript(_native, case) == transcript(plain, case)


@EXAMPLES
@given(body=st.binary(max_size=60), start=st.integers(0, 61), names=st.lists(NAMES, max_size=5))
def test_any_bytes_are_read_in_the_same_way(body: bytes, start: int, names: list[str]) -> None:
    told = []
    for rows in (_native, plain):
        index = rows.NameIndex(3)
        for row, name in enumerate(names, 1):
            index.put(name, row)
        read = index.read(b"[" + body + b"]}", start)
        told.append(None if read is None else (read.judge([], [], []), read.names()))

    assert told[0] == told[1]


@EXAMPLES
@given(names=st.lists(st.text(max_size=20).filter(json_writes_as_it_is)))
def test_what_is_read_is_what_json_says(names: list[str]) -> None:
    text = json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode()
    for rows in (_native, plain):
        index = rows.NameIndex(3)
        for row, name in enumerate(dict.fromkeys(names), 1):
            index.put(name, row)

        read = index.read(text + b"}", 0)

        assert read.judge([], [], []) == -1
        assert json.loads(read.names()) == names
