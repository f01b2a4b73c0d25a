"""Whether a constant format is well-formed, and its clauses fit the types of the arguments."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from extender.errors import LeewayError
from extender.match.cel.check.notes import Checked
from extender.match.cel.syntax.ast import Call, Expr, ListExpr, MapExpr
from extender.match.cel.syntax.source import Issue
from extender.match.cel.types import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, Type

_MAX_INT: Final = str(2**63 - 1)

_CLAUSE: Final = re.compile(
    r"%(?:(?P<percent>%)|(?P<point>\.(?P<precision>[0-9]*))?(?P<letter>.)?)", re.DOTALL
)

_INTEGERS: Final = (INT, UINT)
_DECIMALS: Final = (DOUBLE, STRING)  # "NaN", "Infinity" and "-Infinity" are such strings
_HEX: Final = (
    (*_INTEGERS, STRING, BYTES),
    "only integers, byte buffers, and strings can be formatted as hex",
)
_LETTERS: Final[Mapping[str, tuple[tuple[Type, ...], str]]] = {
    "d": (_INTEGERS, "decimal clause can only be used on integers"),
    "f": (_DECIMALS, "fixed-point clause can only be used on doubles"),
    "e": (_DECIMALS, "scientific clause can only be used on doubles"),
    "b": ((*_INTEGERS, BOOL), "only integers and bools can be formatted as binary"),
    "x": _HEX,
    "X": _HEX,
    "o": (_INTEGERS, "octal clause can only be used on integers"),
}
_UNPRINTABLE: Final = ("object", "opaque", "any")
_STRINGS: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types,"
    " durations, and timestamps"
)


class _FormatError(LeewayError):
    """A format string that always fails."""


def format_issue(
    checked: Checked, call: Call, template: str, arguments: Sequence[Expr]
) -> Issue | None:
    """What is wrong with `template.format(arguments)`, if anything."""
    # Upstream iterates over bytes and prints a single byte as a code point.
    as_bytes = template.encode(errors="surrogatepass").decode("latin-1")
    clauses = [clause for clause in _CLAUSE.finditer(as_bytes) if not clause["percent"]]
    for index, clause in enumerate(clauses):
        try:
            letter = _letter(clause, index, len(arguments))
        except _FormatError as error:
            return Issue(call.offset, str(error))
        issue = _misfit(checked, letter, arguments[index])
        if issue is not None:
            return issue
    if len(arguments) > len(clauses):
        counts = f"(expected {len(clauses)}, got {len(arguments)})"
        return Issue(call.offset, f"too many arguments supplied to string.format {counts}")
    return None


def _letter(clause: re.Match[str], index: int, arguments: int) -> str:
    letter: str | None = clause["letter"]
    if letter is None and clause["point"] is None:
        raise _FormatError("unexpected end of string")
    if index >= arguments:
        raise _FormatError(f"index {index} out of range")
    unparsed = "could not parse formatting clause: "
    if letter is None:
        unparsed += "error while parsing precision: "
        raise _FormatError(f"{unparsed}could not find end of precision specifier")
    precision: str | None = clause["precision"]
    if precision is not None and not _is_int(precision):
        unparsed += "error while parsing precision: error while converting precision to integer: "
        reason = "value out of range" if precision else "invalid syntax"
        raise _FormatError(f'{unparsed}strconv.Atoi: parsing "{precision}": {reason}')
    if letter != "s" and letter not in _LETTERS:
        raise _FormatError(f'{unparsed}unrecognized formatting clause "{letter}"')
    return letter


def _is_int(digits: str) -> bool:
    significant = digits.lstrip("0")
    return digits != "" and (len(significant), significant) <= (len(_MAX_INT), _MAX_INT)


def _misfit(checked: Checked, letter: str, argument: Expr) -> Issue | None:
    if letter == "s":
        return _unprintable(checked, argument)
    fitting, message = _LETTERS[letter]
    type_ = checked.types[argument.id]
    if type_ == DYN or type_ in fitting:
        return None
    return _given(argument, message, type_)


def _unprintable(checked: Checked, argument: Expr) -> Issue | None:
    """The first part of a literal argument that `%s` cannot print."""
    parts = [argument]
    while parts:
        part = parts.pop()
        type_ = checked.types[part.id]
        if type_.kind in _UNPRINTABLE:
            return _given(part, _STRINGS, type_)
        if isinstance(part, ListExpr):
            parts += reversed(part.elements)
        elif isinstance(part, MapExpr):
            for entry in reversed(part.entries):
                parts += (entry.value, entry.key)
    return None


def _given(argument: Expr, message: str, type_: Type) -> Issue:
    text = f"error during formatting: {message}, was given {type_.name}"
    return Issue(argument.offset, text)
