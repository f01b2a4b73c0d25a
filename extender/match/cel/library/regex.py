"""Regular expressions of Go's dialect, run by RE2 in linear time and bounded memory."""

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import Charge, Work, quarter, tenth
from extender.match.cel.library.estimates import ONE, REGEX, TRAVERSAL, Bounds, Estimate, Operand
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.pattern_sizes import MAX_SIZE, options
from extender.match.cel.library.patterns import TooLargeError, translate
from extender.match.cel.values import MAX_STEPS, Value, bound_items, size

# For its program and for the states that searching adds: `a[a-c]{14}$` fills whatever it is given,
# so each gets little. When its states fill the room, RE2 starts over with them. A program takes
# up to 20 bytes an instruction while it compiles, so an estimate that is far too low fails here.
_LEAST_MEMORY: Final = 16 << 10
_MEMORY_PER_INSTRUCTION: Final = 32
_SET_MEMORY: Final = (16 << 10, 64 << 10)
_SET_MEMORY_PER_INSTRUCTION: Final = 128
# Beside that, what was parsed.
_BYTES_PER_INSTRUCTION: Final = 32
FINDING_STEPS: Final = 10  # per character: there may be a match at each
# Of compiling, in steps: an instruction takes 0.3 us, and as much again to search or for a set.
STEPS_PER_INSTRUCTION: Final = 10
_STEPS_PER_CHARACTER: Final = 60
_COMPILE_STEPS: Final = 2_000
# Larger ones often have too many states, and then RE2 looks at each instruction for each byte.
_FEW_STATES: Final = 200
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Pattern:
    """A regular expression: measured at once, compiled when it is told to."""

    __slots__ = ("_expression", "_match_set", "_said", "_text", "bytes", "often", "size")

    def __init__(self, text: str) -> None:
        self._text = text
        said, self.size = translate(text)
        self._said = _encoded(said)
        # The most memory that it takes, however many texts it searches.
        self.bytes = 0
        self.often = False  # whether `test` is worth to compile it twice
        self._expression: Any = None
        self._match_set: Callable[[str | bytes], object] | None = None

    def compile(self) -> None:
        """Compile it; no other thread runs meanwhile. TooLargeError if RE2 has no room for it."""
        memory = _LEAST_MEMORY + _MEMORY_PER_INSTRUCTION * self.size
        try:
            self._expression = re2.compile(self._said, options(memory))
        except re2.error:
            raise TooLargeError(self._text) from None
        re2.purge()  # re2's own cache would keep 128 of them, of any size
        self.bytes = len(self._said) + self.size * _BYTES_PER_INSTRUCTION + memory
        if self.often and b"\\B" not in self._said:  # which may match within a character
            self._compile_set()

    def matches(self, text: str) -> bool:
        """Whether the text contains a match."""
        return next(self._spans(_encoded(text)), None) is not None

    def test(self, text: str) -> bool:
        """The same; faster if it was compiled to be asked often."""
        match = self._match_set
        if match is None:
            return self.matches(text)
        try:
            return match(text) is not None
        except UnicodeEncodeError:
            return match(_encoded(text)) is not None

    def testing_steps(self, length: int) -> int:
        """The steps of `test` in the worst case."""
        return search_steps(length, self.size, by_set=self._match_set is not None)

    def find(self, text: str) -> str:
        """The first match; "" if there is none."""
        encoded = _encoded(text)
        start, end = next(self._spans(encoded), (0, 0))
        return encoded[start:end].decode()

    def find_all(self, text: str, limit: int = -1) -> list[str]:
        """All matches from left to right that do not overlap; at most `limit`, if not negative."""
        found: list[str] = []
        encoded, last_end = _encoded(text), -1
        for start, end in self._spans(encoded) if limit else ():
            if start == end == last_end:
                continue  # an empty match right behind a match
            found.append(encoded[start:end].decode())
            if len(found) == limit:
                break
            bound_items(len(found))
            last_end = end
        return found

    def _compile_set(self) -> None:
        """A set has only one way to search, and that is faster; it may need more room."""
        for least in _SET_MEMORY:
            memory = least + _SET_MEMORY_PER_INSTRUCTION * self.size
            searches = re2.Set.SearchSet(options(memory))
            searches.Add(self._said)
            with contextlib.suppress(re2.error):
                searches.Compile()
                self.bytes += memory
                self._match_set = searches.Match
                return

    def _spans(self, encoded: bytes) -> Iterator[tuple[int, int]]:
        for match in self._expression.finditer(encoded):
            start, end = match.span()
            if start < end or not _splits_character(encoded, start):
                yield start, end


def _splits_character(encoded: bytes, position: int) -> bool:
    return position < len(encoded) and encoded[position] & 0xC0 == 0x80


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text).encode()


def compile_pattern(text: str) -> Pattern:
    """A regular expression of Go's dialect."""
    pattern = Pattern(text)
    pattern.compile()
    return pattern


# The same for each taint, mostly.
_last_pattern: Final = functools.lru_cache(maxsize=1)(compile_pattern)


def _matches(text: str, pattern: str) -> bool:
    return _last_pattern(pattern).matches(text)


def _find(text: str, pattern: str) -> str:
    return _legal(pattern).find(text)


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return _legal(pattern).find_all(text, limit)


def _legal(pattern: str) -> Pattern:
    try:
        return _last_pattern(pattern)
    except EvaluationError as fault:
        raise EvaluationError(f"Illegal regex: {fault}") from None


def _search_cost(text: Operand, pattern: Operand) -> Bounds:
    """One more character, so that an empty text is not free."""
    return (text.size + ONE).scaled(TRAVERSAL) * pattern.size.scaled(REGEX)


def _estimate_find(text: Operand, pattern: Operand, *_: Operand) -> Estimate:
    return Estimate(_search_cost(text, pattern), Bounds(0, text.size.most))


def _charge_search(text: Value, pattern: Value, *_: Value) -> int:
    return tenth(1 + size(text)) * quarter(size(pattern))


def search_steps(length: int, pattern_size: int, *, by_set: bool = False) -> int:
    """The steps of searching a text in the worst case."""
    return length * pattern_size >> (7 if by_set or pattern_size <= _FEW_STATES else 4)


def _searching_steps(text: Value, pattern: Value, *_: Value) -> int:
    """A regular expression that is no constant counts as compiled each time."""
    reading = _COMPILE_STEPS + _STEPS_PER_CHARACTER * size(pattern)
    if reading > MAX_STEPS:  # nobody reads it
        return reading
    pattern_size = _pattern_size(pattern) if type(pattern) is str else 0
    compiling = reading + STEPS_PER_INSTRUCTION * pattern_size
    return compiling + search_steps(size(text), pattern_size)


def _finding_steps(text: Value, pattern: Value, *_: Value) -> int:
    return FINDING_STEPS * size(text) + _searching_steps(text, pattern)


def _pattern_size(pattern: str) -> int:
    try:
        return translate(pattern).size
    except TooLargeError:  # finding that out may take as long as to compile the largest
        return MAX_SIZE
    except EvaluationError:
        return 0


_BY_SEARCH: Final = Charge(by_arguments=_charge_search)
_SEARCHED: Final = Work(30, _searching_steps)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "matches",
        # Upstream prices only the method.
        overload("matches", "(string, string) -> bool", _matches),
        overload(
            "matches_string",
            "string.(string) -> bool",
            _matches,
            estimate=lambda text, pattern: Estimate(_search_cost(text, pattern)),
            charge=_BY_SEARCH,
        ),
        work=_SEARCHED,
        singleton=True,
    ),
    function(
        "find",
        overload("string_find_string", "string.(string) -> string", _find),
        estimate=_estimate_find,
        charge=_BY_SEARCH,
        work=_SEARCHED,
    ),
    function(
        "findAll",
        overload("string_find_all_string", "string.(string) -> list(string)", _find_all),
        overload("string_find_all_string_int", "string.(string, int) -> list(string)", _find_all),
        estimate=_estimate_find,
        charge=_BY_SEARCH,
        work=Work(30, _finding_steps, lambda items: 14 * size(items)),
    ),
)
