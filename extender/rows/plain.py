"""What the C in `native` does, in Python: for machines without a compiler, and as its oracle.

The two must answer with the same bytes and refuse the same input. Change them together.
"""

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

Codes: TypeAlias = "array[int] | memoryview[int]"  # unsigned 32-bit, format "I"

_UNASKED: Final = 0xFFFF_FFFF
_UNKNOWN_NODE: Final = 1  # the place of a name that nobody knows
# Far more than any cluster has. The limits keep a mistake of a caller from taking all memory.
_MAX_ROW: Final = (1 << 24) - 1
_MAX_PLACES: Final = 1 << 20
_MAX_QUESTIONS: Final = 64
_MAX_NAME: Final = (1 << 16) - 1
_MAX_BODY: Final = (1 << 32) - 16
_MAX_UNIT: Final = 1 << 60
_MAX_SCORE: Final = 10

# A name with one of these bytes may stand in JSON in another way than in memory.
_NEVER_READ: Final = re.compile(rb'[\x00-\x1f"\\]')
_NOT_PLAIN: Final = re.compile(rb"[\x00-\x1f\\\x80-\xff]")
_NODE_START: Final = b',{"metadata":{"name":"'


@final
class NameIndex:
    """Names to rows, kept event by event."""

    def __init__(self, seed: int, /) -> None:
        if not isinstance(seed, int):  # Python's own dict is seeded already
            raise TypeError("the seed must be an int")
        self._rows: dict[bytes, int] = {}
        self._never_read: dict[bytes, int] = {}
        self._name_bytes = 0

    def __len__(self) -> int:
        return len(self._rows) + len(self._never_read)

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        tables = sys.getsizeof(self._rows) + sys.getsizeof(self._never_read)
        return tables + self._name_bytes + len(self) * sys.getsizeof(_MAX_ROW)

    def put(self, name: str, row: int, /) -> None:
        """Add a name, or change its row."""
        text, rows = self._place(name)
        row = _number(row, 1, _MAX_ROW, "row")
        if text not in rows:
            self._name_bytes += sys.getsizeof(text)
        rows[text] = row

    def remove(self, name: str, /) -> None:
        """Forget a name. KeyError if it is not there."""
        text, rows = self._place(name)
        if text not in rows:
            raise KeyError(name)
        del rows[text]
        self._name_bytes -= sys.getsizeof(text)

    def read(self, body: bytes, start: int, /) -> "Candidates | None":
        """The names of the list from `start` to the end of the body, which is `]}`.

        None if it is not a plain list as Go writes it: the caller decodes the body then.
        """
        names = _listed(body, start)
        if names is None:
            return None
        get = self._rows.get
        rows = [get(name, 0) for name in names]
        if 0 in rows and any(
            _NOT_PLAIN.search(name) for row, name in zip(rows, names, strict=True) if not row
        ):
            return None
        candidates = Candidates((), ())
        candidates._fill(rows, [b'"%b"' % name for name in names])
        return candidates

    def _place(self, name: str) -> tuple[bytes, dict[bytes, int]]:
        if not isinstance(name, str):
            raise TypeError("a name must be a str")
        text = name.encode()
        if len(text) > _MAX_NAME:
            raise ValueError("the name is too long")
        return text, self._never_read if _NEVER_READ.search(text) else self._rows


@final
class Candidates:
    """The nodes that a request asks about, in its order."""

    def __init__(self, rows: Sequence[int], literals: Sequence[bytes], /) -> None:
        if len(rows) != len(literals):
            raise ValueError("there must be a literal for each row")
        self._fill(
            [_number(row, 0, _MAX_ROW, "row") for row in rows],
            [_bytes(literal) for literal in literals],
        )
        if sum(map(len, self._literals)) + len(self._literals) > _MAX_BODY:
            raise ValueError("the literals are too long")

    def _fill(self, rows: list[int], literals: list[bytes]) -> None:
        self._rows = rows
        self._literals = literals
        self._max_row = max(rows, default=0)
        self._places: list[int] | None = None
        self._counts: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def counts(self) -> "memoryview[int]":
        """How many candidates have each place."""
        self._judged()
        return _view(self._counts)

    @property
    def places(self) -> "memoryview[int]":
        """The place of each candidate: 0 passes, 1 is an unknown node, others are refusals."""
        return _view(self._judged())

    def judge(
        self, columns: Sequence[Codes], tables: Sequence[Codes], sizes: Sequence[int], /
    ) -> int:
        """Give each candidate its place, or return the first question with an unasked code.

        The first refusal of a candidate stands. Refusal k of question i has the place
        1 + sum(sizes[:i]) + k. Returns -1 once every candidate has a place.
        """
        questions = self._questions(columns, tables)
        if len(sizes) != len(questions):
            raise ValueError("there must be a size for each table")
        sizes = [_number(size, 0, _MAX_PLACES, "size") for size in sizes]
        if 2 + sum(sizes) > _MAX_PLACES:
            raise ValueError("there are too many places")
        self._places = None
        places = [0 if row else _UNKNOWN_NODE for row in self._rows]
        passing = [i for i, row in enumerate(self._rows) if row]
        base = 1
        for question, ((column, table), size) in enumerate(zip(questions, sizes, strict=True)):
            said = self._ask(passing, column, table)
            if max(said, default=0) > size:
                if any(size < each < _UNASKED for each in said):
                    raise ValueError("a table holds a refusal beyond its size")
                return question
            for i, each in zip(passing, said, strict=True):
                if each:
                    places[i] = base + each
            passing = [i for i, each in zip(passing, said, strict=True) if not each]
            base += size
        self._counts = [0] * (base + 1)
        for place in places:
            self._counts[place] += 1
        self._places = places
        return -1

    def _ask(self, candidates: list[int], column: list[int], table: list[int]) -> list[int]:
        """What a table says of these candidates."""
        rows = map(self._rows.__getitem__, candidates)
        codes = list(map(column.__getitem__, rows))
        if max(codes, default=0) < len(table):  # three times as fast
            return list(map(table.__getitem__, codes))
        return [_look_up(table, code) for code in codes]

    def reached(
        self, columns: Sequence[Codes], tables: Sequence[Codes], column: Codes, size: int, /
    ) -> "memoryview[int]":
        """How many of the candidates that all tables let pass have each code of a column."""
        questions = self._questions(columns, tables)
        codes = self._column(column)
        counts = [0] * _number(size, 0, _MAX_PLACES, "size")
        for row in self._rows:
            if row and not any(_look_up(table, each[row]) for each, table in questions):
                code = codes[row]
                if code < len(counts):
                    counts[code] += 1
        return _view(counts)

    def rows(self, place: int, /) -> "memoryview[int]":
        """The rows of the candidates with this place, in the order of the request."""
        places = self._judged()
        place = _number(place, 0, len(self._counts) - 1, "place")
        return _view(row for row, each in zip(self._rows, places, strict=True) if each == place)

    def passing_bits(self, size: int, /) -> bytes:
        """A bit for each row below `size`, set where the row passes."""
        places = self._judged()
        bits = bytearray((_number(size, 0, _MAX_ROW + 1, "size") + 7) // 8)
        for row, place in zip(self._rows, places, strict=True):
            if not place and row < size:
                bits[row >> 3] |= 1 << (row & 7)
        return bytes(bits)

    def names(self) -> bytes:
        """The JSON list of the names that pass, as they were written."""
        passing = zip(self._literals, self._judged(), strict=True)
        return b"[%b]" % b",".join(literal for literal, place in passing if not place)

    def members(self, texts: Sequence[bytes], /) -> bytes:
        """The members of a JSON object: each name that does not pass, and the text of its place.

        A known row is named once: a name twice in a request must not be twice in an object.
        """
        places = self._judged()
        if len(texts) < len(self._counts):
            raise ValueError("there must be a text for each place")
        ends = [
            b":" + _bytes(texts[place]) if count and place else b""
            for place, count in enumerate(self._counts)
        ]
        return b",".join(self._members(places, ends))

    def _members(self, places: list[int], ends: list[bytes]) -> Iterator[bytes]:
        seen = set[int]()
        for row, literal, place in zip(self._rows, self._literals, places, strict=True):
            if place and row not in seen:
                if row:
                    seen.add(row)
                yield literal + ends[place]

    def score(self, columns: Sequence[Codes], tables: Sequence[Codes], unit: int, /) -> bytes:
        """The answer to /prioritize: the lowest score subtracted, hosts at 0 left out."""
        questions = self._questions(columns, tables)
        unit = _number(unit, 1, _MAX_UNIT, "unit")
        scores = [self._score(row, questions, unit) for row in self._rows]
        lowest = min(scores, default=0)
        return b"[%b]" % b",".join(
            b'{"Host":%b,"Score":%d}' % (literal, score - lowest)
            for literal, score in zip(self._literals, scores, strict=True)
            if score > lowest
        )

    @staticmethod
    def _score(row: int, questions: list[tuple[list[int], list[int]]], unit: int) -> int:
        if not row:
            return 0
        total = 0
        for column, table in questions:
            if column[row] >= len(table):
                raise ValueError("a code is beyond the end of its table")
            total += table[column[row]]
        return min((20 * total + unit) // (2 * unit), _MAX_SCORE)

    def _questions(
        self, columns: Sequence[Codes], tables: Sequence[Codes]
    ) -> list[tuple[list[int], list[int]]]:
        if len(columns) != len(tables):
            raise ValueError("there must be a table for each column")
        if len(columns) > _MAX_QUESTIONS:
            raise ValueError("there are too many questions")
        return [
            (self._column(column), _codes(table))
            for column, table in zip(columns, tables, strict=True)
        ]

    def _column(self, column: Codes) -> list[int]:
        codes = _codes(column)
        if self._max_row and self._max_row >= len(codes):
            raise ValueError("a column is too short")
        return codes

    def _judged(self) -> list[int]:
        if self._places is None:
            raise ValueError("the candidates were not judged yet")
        return self._places


def count_names(body: bytes, start: int, /) -> int | None:
    """How many names the list from `start` to the end of the body has.

    None if it is not a plain list as Go writes it.
    """
    names = _listed(body, start)
    return None if names is None or _NOT_PLAIN.search(body, start) else len(names)


def _listed(body: bytes, start: int) -> list[bytes] | None:
    """The names of the list from `start` to the end of the body; None if there is no such list."""
    _bytes(body)
    start = _number(start, 0, sys.maxsize, "start")
    if len(body) > _MAX_BODY or len(body) - start < len("[]}"):
        return None
    if body[start] != ord("[") or not body.endswith(b"]}"):
        return None
    return _split(body[start + 1 : -2])


def recognise(
    text: bytes, at: int, known: Mapping[bytes, tuple[Any, ...]], /
) -> tuple[list[tuple[Any, ...]], int]:
    """Take the nodes that stand in `text` from `at` on exactly as they are known.

    Each begins with a comma and its name; the first item of a known tuple is the text of the
    node, comma included. Returns the known tuples, and where the first other thing stands.
    """
    _bytes(text)
    at = _number(at, 0, sys.maxsize, "at")
    if not isinstance(known, dict):
        raise TypeError("what is known must be a dict")
    found: list[tuple[Any, ...]] = []
    while text.startswith(_NODE_START, at):
        begin = at + len(_NODE_START)
        end = text.find(b'"', begin)
        if end < 0 or text[begin:end] not in known:
            break
        node = known[text[begin:end]]
        if not isinstance(node, tuple) or not node:
            raise TypeError("a known node must be a tuple that begins with its text")
        if not _bytes(node[0]) or not text.startswith(node[0], at):
            break
        found.append(node)
        at += len(node[0])
    return found, at


def _split(names: bytes) -> list[bytes] | None:
    """The names of `"a","b"`; None if it is anything else."""
    if not names:
        return []
    if len(names) < 2 or not (names.startswith(b'"') and names.endswith(b'"')):
        return None
    found = names[1:-1].split(b'","')
    return found if names.count(b'"') == 2 * len(found) else None


def _look_up(table: list[int], code: int) -> int:
    return table[code] if code < len(table) else _UNASKED


def _codes(buffer: Codes) -> list[int]:
    view = memoryview(buffer)
    if view.format != "I" or view.ndim != 1 or not view.c_contiguous:
        raise ValueError("codes must be a contiguous buffer of unsigned 32-bit integers")
    return view.tolist()


def _view(numbers: Iterable[int]) -> "memoryview[int]":
    return memoryview(array("I", numbers)).toreadonly()


def _number(value: int, low: int, high: int, what: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"the {what} must be an int")
    if not low <= value <= high:
        raise ValueError(f"the {what} is out of range")
    return value


def _bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("bytes are needed")
    return value
