"""`format`, with the clauses and the numbers of version 2 of the strings library.

`%f` and `%e` print numbers in the locale en-US, as upstream does.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from extender.match import integers
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import printing
from extender.match.cel.library.charges import BY_FIRST, Work, built, heft
from extender.match.cel.library.estimates import traversal
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.values import Uint, Value, bound_text, size, type_name
from extender.match.versions import go_quote

_PRECISION: Final = re.compile(r"\.([0-9]*)")
_DEFAULT_PRECISION: Final = 6
# With a larger precision, upstream's number printer prints an error instead.
_MAX_PRECISION: Final = 10_000_009
_NO_VERB: Final = "%!(NOVERB)"
_ALL_DIGITS: Final = 1_074  # no double has more behind the point
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DOUBLES: Final[Mapping[str, float]] = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


def format_text(template: str, arguments: Sequence[Value]) -> str:
    """The template with every clause replaced by its argument."""
    return printing.joined(_pieces(template, arguments))


def _pieces(template: str, arguments: Sequence[Value]) -> Iterator[str]:
    position = used = 0
    while (percent := template.find("%", position)) >= 0:
        yield template[position:percent]
        if template.startswith("%", percent + 1):
            yield "%"
            position = percent + 2
            continue
        if used >= len(arguments):
            raise EvaluationError(f"index {used} out of range")
        if percent + 1 == len(template):
            raise EvaluationError("unexpected end of string")
        clause, precision, position = _clause(template, percent + 1)
        try:
            yield from clause(arguments[used], precision)
        except EvaluationError as fault:
            raise EvaluationError(f"error during formatting: {fault}") from None
        used += 1
    yield template[position:]


Clause = Callable[[Value, int], Iterable[str]]


def _clause(template: str, position: int) -> tuple[Clause, int, int]:
    """The clause that begins behind its `%`: how to print, the precision, where it ends."""
    precision = _DEFAULT_PRECISION
    if (found := _PRECISION.match(template, position)) is not None:
        precision = _precision(template, found)
        position = found.end()
    clause = _CLAUSES.get(template[position])
    if clause is None:
        # Upstream prints the first byte of the character as a code point.
        char = chr(template[position].encode(errors="surrogatepass")[0])
        raise _unparsed(f'unrecognized formatting clause "{char}"')
    return clause, precision, position + 1


def _precision(template: str, found: re.Match[str]) -> int:
    digits = found.group(1)
    if found.end() == len(template):
        raise _unparsed("error while parsing precision: could not find end of precision specifier")
    number = integers.signed(digits)
    if number is None:
        fault = "value out of range" if digits else "invalid syntax"
        raise _unparsed(
            "error while parsing precision: error while converting precision to integer: "
            f"strconv.Atoi: parsing {go_quote(digits)}: {fault}"
        )
    return number


def _unparsed(fault: str) -> EvaluationError:
    return EvaluationError(f"could not parse formatting clause: {fault}")


def _string(value: Value, _: int) -> Iterable[str]:
    return printing.pieces(value)


def _decimal(value: Value, _: int) -> Iterable[str]:
    if type(value) is int or type(value) is Uint:
        return (str(value),)
    raise EvaluationError(
        f"decimal clause can only be used on integers, was given {type_name(value)}"
    )


def _fixed(value: Value, precision: int) -> Iterable[str]:
    number = _number(value, "fixed-point")
    if precision > _MAX_PRECISION:
        return (_NO_VERB,)
    sign = "-" if number < 0 else ""
    if not math.isfinite(number):
        return ("NaN" if math.isnan(number) else f"{sign}∞",)
    # Upstream truncates the precision to 8 bits in one place and to signed 16 bits in another.
    least, most = precision % 256, (precision + 32_768) % 65_536 - 32_768
    if most >= 0:
        whole, _, fraction = f"{abs(number):.{min(most, _ALL_DIGITS)}f}".partition(".")
    else:
        whole, _, fraction = f"{Decimal(repr(abs(number))):f}".partition(".")
    fraction = fraction.rstrip("0").ljust(least, "0")
    return (f"{sign}{int(whole):,}{'.' if fraction else ''}{fraction}",)


def _scientific(value: Value, precision: int) -> Iterable[str]:
    number = _number(value, "scientific")
    if precision > _MAX_PRECISION:
        return (_NO_VERB,)
    sign = "-" if number < 0 else ""
    if not math.isfinite(number):
        text = "NaN" if math.isnan(number) else f"{sign}∞"
    else:
        mantissa, _, exponent = f"{abs(number):.6e}".partition("e")
        power = exponent.removeprefix("+").translate(_SUPERSCRIPT)
        text = f"{sign}{mantissa}\u00d710{power}"
    # Upstream uses the precision as a width, truncated to 16 bits.
    return (text.rjust(precision % 65_536),)


def _number(value: Value, clause: str) -> float:
    if type(value) is float:
        return value
    if type(value) is str and value in _DOUBLES:
        return _DOUBLES[value]
    raise EvaluationError(
        f"{clause} clause can only be used on doubles, was given {type_name(value)}"
    )


def _binary(value: Value, _: int) -> Iterable[str]:
    if type(value) in (bool, int, Uint):
        return (f"{value:b}",)
    raise EvaluationError(
        f"only integers and bools can be formatted as binary, was given {type_name(value)}"
    )


def _octal(value: Value, _: int) -> Iterable[str]:
    if type(value) is int or type(value) is Uint:
        return (f"{value:o}",)
    raise EvaluationError(
        f"octal clause can only be used on integers, was given {type_name(value)}"
    )


def _hexadecimal(value: Value, _: int) -> Iterable[str]:
    if type(value) is int or type(value) is Uint:
        return (f"{value:x}",)
    if type(value) is str:
        value = value.encode(errors="surrogatepass")
    if type(value) is bytes:
        bound_text(2 * len(value))
        return (value.hex(),)
    raise EvaluationError(
        "only integers, byte buffers, and strings can be formatted as hex, "
        f"was given {type_name(value)}"
    )


def _hexadecimal_upper(value: Value, precision: int) -> Iterable[str]:
    return (text.upper() for text in _hexadecimal(value, precision))


_CLAUSES: Final[Mapping[str, Clause]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal,
    "X": _hexadecimal_upper,
}


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "format",
        overload("string_format", "string.(list(dyn)) -> string", format_text),
        estimate=traversal(),
        charge=BY_FIRST,
        work=Work(100, lambda _, items: 100 * size(items) + 4 * heft(items), built),
    ),
)
