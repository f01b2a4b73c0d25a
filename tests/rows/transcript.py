"""What an implementation of the rows says to one case, so that two can be compared.

A case is plain JSON, so that Hypothesis and the fuzzer can make one and a person can read one.
Bytes stand in it as text in Latin-1.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from extender.rows.plain import Codes

REFUSED = "refused"  # which of its two errors an implementation raises is its own business


class Case(TypedDict):
    """Arguments for every call there is."""

    names: list[tuple[str, int | None]]  # put with this row, or removed
    body: str
    start: int
    rows: list[int]
    literals: list[str]
    columns: list[list[int]]
    tables: list[list[int]]
    sizes: list[int]
    column: list[int]
    size: int
    texts: list[str]
    unit: int
    nodes: str
    at: int
    known: dict[str, str]


def transcript(rows: Any, case: Case) -> list[object]:
    """Everything that an implementation says to a case."""
    said: list[object] = []
    index = rows.NameIndex(len(case["body"]))
    for name, row in case["names"]:
        said.append(_said(index.remove, name) if row is None else _said(index.put, name, row))
    said.append(len(index))
    read = _said(index.read, _bytes(case["body"]), case["start"])
    said.append(_said(rows.count_names, _bytes(case["body"]), case["start"]))
    made = _said(rows.Candidates, case["rows"], [_bytes(text) for text in case["literals"]])
    for candidates in (read, made):
        if candidates is None or candidates == REFUSED:
            said.append(candidates)
        else:
            said += _of_candidates(candidates, case)
    known = {_bytes(name): (_bytes(text), name) for name, text in case["known"].items()}
    said.append(_said(rows.recognise, _bytes(case["nodes"]), case["at"], known))
    return said


def _of_candidates(candidates: Any, case: Case) -> list[object]:
    columns, tables = _all_codes(case["columns"]), _all_codes(case["tables"])
    texts = [_bytes(text) for text in case["texts"]]
    size, column = case["size"], _codes(case["column"], 0)
    return [
        len(candidates),
        _said(candidates.judge, columns, tables, case["sizes"]),
        _said(lambda: candidates.places.tobytes()),
        _said(lambda: candidates.counts.tobytes()),
        *(_said(lambda place=place: candidates.rows(place).tobytes()) for place in (0, 1, 2, size)),
        _said(candidates.passing_bits, size),
        _said(candidates.names),
        _said(candidates.members, texts),
        _said(lambda: candidates.reached(columns, tables, column, size).tobytes()),
        _said(candidates.score, columns, tables, case["unit"]),
        _said(candidates.judge, [], [], []),
        _said(candidates.members, texts),
        _said(candidates.names),
    ]


def _said(call: Callable[..., object], *arguments: object) -> object:
    try:
        return call(*arguments)
    except (ValueError, TypeError):
        return REFUSED
    except KeyError as error:
        return repr(error)


def _bytes(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _all_codes(lists: Sequence[Sequence[int]]) -> list[Codes]:
    return [_codes(numbers, shift) for shift, numbers in enumerate(lists)]


def _codes(numbers: Sequence[int], shift: int) -> Codes:
    """At addresses that are aligned to 4 bytes, and at others."""
    packed = array("I", [number & 0xFFFF_FFFF for number in numbers]).tobytes()
    shift %= 4
    return memoryview(bytes(shift) + packed)[shift:].cast("I")
