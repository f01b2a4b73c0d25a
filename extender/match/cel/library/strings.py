"""Functions of strings; positions and sizes count code points."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import Value, bound_items, bound_text, shown

# What Go takes for white space; Python would strip U+001C to U+001F as well.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)
# The backslash comes first: the others bring one.
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
    # Searching backwards takes the product of both lengths, forwards their sum.
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


def _add_strings(a: str, b: str) -> str:
    bound_text(len(a) + len(b))
    return a + b


def _add_bytes(a: bytes, b: bytes) -> bytes:
    bound_text(len(a) + len(b))
    return a + b


_SIZES: Final = (
    *("size_string", "size_bytes", "size_list", "size_map"),
    *("string_size", "bytes_size", "list_size", "map_size"),
)

OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    **dict.fromkeys(_SIZES, len),
    "add_string": _add_strings,
    "add_bytes": _add_bytes,
    "contains_string": lambda text, part: part in text,
    "starts_with_string": str.startswith,
    "ends_with_string": str.endswith,
    "string_char_at_int": _char_at,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "string_last_index_of_string": _last_index_of,
    "string_last_index_of_string_int": _last_index_up_to,
    "string_lower_ascii": _lower_ascii,
    "string_upper_ascii": _upper_ascii,
    "string_replace_string_string": _replace,
    "string_replace_string_string_int": _replace,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "string_substring_int": _substring,
    "string_substring_int_int": _substring_range,
    "string_trim": lambda text: text.strip(_SPACE),
    "strings_quote": _quote,
    "list_join": _join,
    "list_join_string": _join,
}
