"""Regular expressions of Go's dialect, run by RE2 in linear time and bounded memory."""

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.charges import Charge, Work, quarter, tenth
from extender.match.cel.library.estimates import ONE, REGEX, TRAVERSAL, Bounds, Estimate, Operand
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.pattern_classes import refused
from extender.match.cel.library.patterns import translate
from extender.match.cel.values import COST_LIMIT_EXCEEDED, Value, bound_items, size

# Of one regular expression, for its program and for the states that searching adds. Upstream
# limits the length of the text only.
_MAX_MEMORY: Final = 4 << 20
# Most need a few KiB, but `a[a-c]{14}$` fills whatever it is given. So each gets little, and more
# only if its program needs it: when its states fill the room, RE2 starts over with them.
_LEAST_MEMORY: Final = 16 << 10
_SET_MEMORY: Final = (16 << 10, 64 << 10)
_SET_MEMORY_PER_INSTRUCTION: Final = 200
_BYTES_PER_INSTRUCTION: Final = 32
_TOO_LARGE: Final = "expression too large"
FINDING_STEPS: Final = 10  # per character: there may be a match at each
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_expression", "_said", "bytes", "size")

    def __init__(self, said: bytes, expression: Any, memory: int) -> None:
        self._said = said
        self._expression = expression
        self.size: int = expression.programsize
        # The most memory that it takes, however many texts it searches.
        self.bytes = len(said) + self.size * _BYTES_PER_INSTRUCTION + memory

    def matches(self, text: str) -> bool:
        """Whether the text contains a match; `matcher` is faster where it is asked often."""
        return next(self._spans(_encoded(text)), None) is not None

    def matcher(self) -> Callable[[str], bool]:
        """The fastest way to ask whether a text contains a match."""
        if b"\\B" in self._said:  # may match within a character
            return self.matches
        searches = self._search_set()
        if searches is None:
            return self.matches
        match = searches.Match

        def matches(text: str) -> bool:
            try:
                return match(text) is not None
            except UnicodeEncodeError:
                return match(_encoded(text)) is not None

        return matches

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

    def _search_set(self) -> Any | None:
        """None if the expression is too large for a set, which has only one way to search."""
        for least in _SET_MEMORY:
            memory = min(least + _SET_MEMORY_PER_INSTRUCTION * self.size, _MAX_MEMORY)
            searches = re2.Set.SearchSet(_options(memory))
            searches.Add(self._said)
            with contextlib.suppress(re2.error):
                searches.Compile()
                self.bytes += memory
                return searches
        return None

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


def _options(memory: int) -> Any:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options


def compile_pattern(text: str) -> Pattern:
    """A regular expression of Go's dialect."""
    said = _encoded(translate(text))
    memory = _LEAST_MEMORY
    while True:
        try:
            expression = re2.compile(said, _options(memory))
        except re2.error:
            if memory == _MAX_MEMORY:
                raise refused(_TOO_LARGE, text) from None
            memory = min(4 * memory, _MAX_MEMORY)
        else:
            re2.purge()  # re2's own cache would keep 128 of them, of any size
            return Pattern(said, expression, memory)


# The work is computed from the pattern's size right before it runs, so one is enough.
_last_pattern: Final = functools.lru_cache(maxsize=1)(compile_pattern)


def matcher(pattern: str) -> Callable[[str], bool]:
    """The fastest way to ask whether a text contains a match of a pattern that does not change."""
    return compile_pattern(pattern).matcher()


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


def search_steps(length: int, pattern_size: int) -> int:
    """The steps of searching a text in the worst case."""
    return length * pattern_size >> 7


def _searching_steps(text: Value, pattern: Value, *_: Value) -> int:
    """A regular expression that is no constant counts as compiled each time."""
    pattern_size = _pattern_size(pattern) if type(pattern) is str else 0
    compiling = 2000 + 60 * size(pattern) + 10 * pattern_size
    return compiling + search_steps(size(text), pattern_size)


def _finding_steps(text: Value, pattern: Value, *_: Value) -> int:
    return FINDING_STEPS * size(text) + _searching_steps(text, pattern)


def _pattern_size(pattern: str) -> int:
    try:
        return _last_pattern(pattern).size
    except EvaluationError as error:
        if _TOO_LARGE in str(error):  # compiling so far takes as long as a whole evaluation may
            raise CostLimitError(COST_LIMIT_EXCEEDED) from None
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
