"""Functions of strings; positions and sizes count code points."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import (
    BUILT,
    BY_FIRST,
    BY_FIRST_TWICE,
    BY_TRAVERSAL,
    PARSED,
    Charge,
    Work,
    built,
    fifth,
    tenth,
)
from extender.match.cel.library.estimates import (
    LIMIT,
    TRAVERSAL,
    TWICE,
    UNKNOWN,
    ZERO,
    Bounds,
    Estimate,
    Operand,
    elements,
    same_size,
    traversal,
    wrapped,
)
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.values import Value, bound_items, bound_text, shown, size

# Go's white space; Python would strip U+001C to U+001F as well.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)
# The backslash comes first: the other escapes contain one.
_ESCAPES: Final[Mapping[str, str]] = {
    "\\": r"\\",
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SHORT: Final = 32


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start  # unchecked, as upstream
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(text: str, part: str) -> int:
    if not part:
        return len(text)
    return _last_index_up_to(text, part, len(text) - 1) if text else -1


def _last_index_up_to(text: str, part: str, last: int) -> int:
    if not part:
        return last  # unchecked, as upstream
    if last < 0:
        raise _out_of_range(last)
    if last >= len(text) or len(part) > len(text):
        return -1
    end = min(last + len(part), len(text))
    if len(part) <= _SHORT:
        return text.rfind(part, 0, end)
    # rfind() takes the product of both lengths, find() their sum.
    found = text[:end][::-1].find(part[::-1])
    return end - found - len(part) if found >= 0 else -1


def _lower_ascii(text: str) -> str:
    return text.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def _upper_ascii(text: str) -> str:
    return text.encode(errors="surrogatepass").upper().decode(errors="surrogatepass")


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    if len(new) > len(old):
        count = text.count(old)
        replaced = count if limit < 0 else min(count, limit)
        bound_text(len(text) + replaced * (len(new) - len(old)))
    return text.replace(old, new, limit)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    pieces = text.count(separator) + 1 if separator else len(text)
    if limit > 0:
        pieces = min(pieces, limit)
    bound_items(pieces)
    if separator:
        return text.split(separator, pieces - 1)
    return [*text[: pieces - 1], text[pieces - 1 :]] if text else []


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_range(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _join(items: Sequence[Value], separator: str = "") -> str:
    length = len(separator) * max(len(items) - 1, 0)
    texts = []
    for item in items:
        if type(item) is not str:
            raise EvaluationError(f"join: invalid input: {shown(item)}")
        length += len(item)
        texts.append(item)
    bound_text(length)
    return separator.join(texts)


def _quote(text: str) -> str:
    quoted = _SURROGATE.sub("\ufffd", text)
    for char, escape in _ESCAPES.items():
        quoted = quoted.replace(char, escape)
    bound_text(len(quoted) + 2)
    return f'"{quoted}"'


def add_strings(a: str, b: str) -> str:
    """`a + b`."""
    bound_text(len(a) + len(b))
    return a + b


def add_bytes(a: bytes, b: bytes) -> bytes:
    """`a + b`."""
    bound_text(len(a) + len(b))
    return a + b


def _estimate_contains(text: Operand, part: Operand) -> Estimate:
    return Estimate(text.size.scaled(TRAVERSAL) * part.size.scaled(TRAVERSAL))


def _times(whole: int, part: int) -> int:
    return min(math.ceil(float(whole) / float(part)), LIMIT)


def _longest(whole: int, old: Bounds, new: Bounds) -> tuple[int, int]:
    """For the longest result: the number of replacements and the characters that stay."""
    if old.least == 0:
        return min(whole + 1, LIMIT), whole
    if new.most <= old.least:
        return 0, whole
    return _times(whole, old.least), 0


def _shortest(whole: int, old: Bounds, new: Bounds) -> tuple[int, int]:
    if old.most == 0:
        return min(whole + 1, LIMIT), whole
    if old.most <= new.least:
        return 0, whole
    return _times(whole, old.most), 0


def _estimate_replace(text: Operand, old: Operand, new: Operand, *_: Operand) -> Estimate:
    most, most_kept = _longest(text.size.most, old.size, new.size)
    least, least_kept = _shortest(text.size.least, old.size, new.size)
    size = Bounds(least, most) * new.size + Bounds(least_kept, most_kept)
    return Estimate(text.size.scaled(TWICE), size)


def _estimate_split(text: Operand, _: Operand, limit: Operand | None = None) -> Estimate:
    written = None if limit is None else limit.written_int()
    most = text.size.most if written is None else wrapped(written)
    return Estimate(text.size.scaled(TWICE), Bounds(0, most))


def _estimate_join(items: Operand, separator: Operand | None = None) -> Estimate:
    # For a dyn, upstream counts no elements.
    size = items.size * UNKNOWN if items.type.parameters else ZERO
    if separator is not None:
        gaps = Bounds(max(items.size.least - 1, 0), max(items.size.most - 1, 0))
        size += separator.size * gaps
    return Estimate(size.scaled(TRAVERSAL), size)


def _estimate_quote(text: Operand) -> Estimate:
    quoted = Bounds(wrapped(text.size.least + 2), wrapped(text.size.most * 2 + 2))
    return Estimate(text.size.scaled(TRAVERSAL), quoted)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "contains",
        overload("contains_string", "string.(string) -> bool", lambda text, part: part in text),
        estimate=_estimate_contains,
        charge=Charge(by_arguments=lambda a, b: tenth(size(a)) * tenth(size(b))),
        singleton=True,
    ),
    function(
        "startsWith",
        overload("starts_with_string", "string.(string) -> bool", str.startswith),
        estimate=traversal(1),
        charge=BY_FIRST,
        singleton=True,
    ),
    function(
        "endsWith",
        overload("ends_with_string", "string.(string) -> bool", str.endswith),
        estimate=traversal(1),
        charge=BY_FIRST,
        singleton=True,
    ),
    function("charAt", overload("string_char_at_int", "string.(int) -> string", _char_at)),
    function(
        "indexOf",
        overload("string_index_of_string", "string.(string) -> int", _index_of),
        overload("string_index_of_string_int", "string.(string, int) -> int", _index_of),
        estimate=elements,
        charge=BY_TRAVERSAL,
    ),
    function(
        "lastIndexOf",
        overload("string_last_index_of_string", "string.(string) -> int", _last_index_of),
        overload(
            "string_last_index_of_string_int", "string.(string, int) -> int", _last_index_up_to
        ),
        estimate=elements,
        charge=BY_TRAVERSAL,
    ),
    function(
        "lowerAscii",
        overload("string_lower_ascii", "string.() -> string", _lower_ascii),
        estimate=same_size,
        charge=BY_FIRST,
    ),
    function(
        "upperAscii",
        overload("string_upper_ascii", "string.() -> string", _upper_ascii),
        estimate=same_size,
        charge=BY_FIRST,
    ),
    function(
        "trim",
        overload("string_trim", "string.() -> string", lambda text: text.strip(_SPACE)),
        estimate=same_size,
        charge=BY_FIRST,
    ),
    function(
        "substring",
        overload("string_substring_int", "string.(int) -> string", _substring),
        overload("string_substring_int_int", "string.(int, int) -> string", _substring_range),
        estimate=same_size,
        charge=BY_FIRST,
    ),
    function(
        "replace",
        overload("string_replace_string_string", "string.(string, string) -> string", _replace),
        overload(
            "string_replace_string_string_int", "string.(string, string, int) -> string", _replace
        ),
        estimate=_estimate_replace,
        charge=BY_FIRST_TWICE,
        work=BUILT,
    ),
    function(
        "split",
        overload("string_split_string", "string.(string) -> list(string)", _split),
        overload("string_split_string_int", "string.(string, int) -> list(string)", _split),
        estimate=_estimate_split,
        charge=BY_FIRST_TWICE,
        work=Work(by_result=lambda items: size(items) >> 1),
    ),
    function(
        "join",
        overload("list_join", "list(string).() -> string", _join),
        overload("list_join_string", "list(string).(string) -> string", _join),
        estimate=_estimate_join,
        charge=Charge(by_result=lambda result: fifth(size(result))),
        work=Work(by_arguments=lambda items, *_: size(items), by_result=built),
    ),
    function(
        "strings.quote",
        overload("strings_quote", "(string) -> string", _quote),
        estimate=_estimate_quote,
        charge=BY_FIRST,
        work=PARSED,
    ),
)
