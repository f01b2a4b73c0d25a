"""Regular expressions: those of Go, in the time and the memory of RE2."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.pattern_classes import refused
from extender.match.cel.library.patterns import translate
from extender.match.cel.values import Value, bound_items

# For program and states together. Upstream knows no such limit, but one on the length of the text.
_MAX_MEMORY: Final = 4 << 20
_REMEMBERED: Final = 32
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_expression", "_said", "size")

    def __init__(self, said: bytes, expression: Any) -> None:
        self._said = said
        self._expression = expression
        self.size: int = expression.programsize

    def matches(self, text: str) -> bool:
        """Whether the text contains a match; `matcher` is faster where it is asked often."""
        return next(self._spans(_encoded(text)), None) is not None

    def matcher(self) -> Callable[[str], bool]:
        """The fastest way to ask whether a text contains a match."""
        if b"\\B" in self._said:  # may match within a character
            return self.matches
        searches = re2.Set.SearchSet(_options())
        searches.Add(self._said)
        try:
            searches.Compile()
        except re2.error:  # too large for a set, which has only one way to search
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
                continue  # nothing, right behind a match
            found.append(encoded[start:end].decode())
            if len(found) == limit:
                break
            bound_items(len(found))
            last_end = end
        return found

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


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    return options


@functools.lru_cache(maxsize=_REMEMBERED)
def compile_pattern(text: str) -> Pattern:
    """A regular expression of Go's dialect."""
    said = _encoded(translate(text))
    try:
        return Pattern(said, re2.compile(said, _options()))
    except re2.error:
        raise refused("expression too large", text) from None


def matcher(pattern: str) -> Callable[[str], bool]:
    """The fastest way to ask whether a text contains a match of a pattern that does not change."""
    return compile_pattern(pattern).matcher()


def _matches(text: str, pattern: str) -> bool:
    return compile_pattern(pattern).matches(text)


def _find(text: str, pattern: str) -> str:
    return _legal(pattern).find(text)


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return _legal(pattern).find_all(text, limit)


def _legal(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except EvaluationError as fault:
        raise EvaluationError(f"Illegal regex: {fault}") from None


OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    "matches": _matches,
    "matches_string": _matches,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}
