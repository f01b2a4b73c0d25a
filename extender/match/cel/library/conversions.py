"""Conversions between the basic types, by the rules of Go's strconv."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from extender.match import integers
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.numbers import as_int, as_uint
from extender.match.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    TypeValue,
    Uint,
    Value,
    double_text,
    type_name,
)

_DIGITS: Final = re.compile(r"[0-9]+")
_UINT_DIGITS: Final = 20

# An underscore may stand between two digits, and behind 0x.
_RUN: Final = r"[0-9]+(?:_[0-9]+)*"
_HEX_RUN: Final = r"[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
_DECIMAL: Final = re.compile(rf"[+-]?(?:{_RUN}(?:\.(?:{_RUN})?)?|\.{_RUN})(?:[eE][+-]?{_RUN})?")
_HEXADECIMAL: Final = re.compile(
    rf"[+-]?0[xX](?:_?{_HEX_RUN}(?:\.(?:{_HEX_RUN})?)?|\.{_HEX_RUN})[pP][+-]?{_RUN}"
)
_NOT_FINITE: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE | re.ASCII)
_BOOLS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def _refused(target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to '{target}'")


def _string_to_int(text: str) -> int:
    number = integers.signed(text)
    if number is None:
        raise _refused("int")
    return number


def _string_to_uint(text: str) -> Uint:
    # int() of a long text is quadratic; zeros may lead.
    digits = text.lstrip("0") if _DIGITS.fullmatch(text) else None
    if digits is None or len(digits) > _UINT_DIGITS or int(digits or "0") > UINT_MAX:
        raise _refused("uint")
    return Uint(digits or "0")


def _string_to_double(text: str) -> float:
    if _NOT_FINITE.fullmatch(text):
        return float(text)
    try:
        if _DECIMAL.fullmatch(text):
            number = float(text.replace("_", ""))
        elif _HEXADECIMAL.fullmatch(text):
            number = float.fromhex(text.replace("_", ""))
        else:
            raise _refused("double")
    except OverflowError:
        raise _refused("double") from None
    if math.isinf(number):
        raise _refused("double")
    return number


def _string_to_bool(text: str) -> bool:
    truth = _BOOLS.get(text)
    if truth is None:
        raise _refused("bool")
    return truth


def _string_to_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _bytes_to_string(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _double_to_int(number: float) -> int:
    # Both bounds are left out: upstream takes their doubles for out of range.
    if not INT_MIN < number < INT_MAX:
        raise EvaluationError("integer overflow")
    return int(number)


def _double_to_uint(number: float) -> Uint:
    if not 0 <= number < UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _unchanged(value: Value) -> Value:
    return value


_SAME: Final = (
    *("to_dyn", "bool_to_bool", "bytes_to_bytes", "double_to_double", "int64_to_int64"),
    *("uint64_to_uint64", "string_to_string", "duration_to_duration", "timestamp_to_timestamp"),
)

OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    **dict.fromkeys(_SAME, _unchanged),
    "type": lambda value: TypeValue(type_name(value)),
    "string_to_bool": _string_to_bool,
    "string_to_bytes": _string_to_bytes,
    "int64_to_double": float,
    "uint64_to_double": float,
    "string_to_double": _string_to_double,
    "double_to_int64": _double_to_int,
    "uint64_to_int64": lambda number: as_int(int(number)),
    "string_to_int64": _string_to_int,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": as_uint,
    "string_to_uint64": _string_to_uint,
    "bool_to_string": lambda truth: "true" if truth else "false",
    "bytes_to_string": _bytes_to_string,
    "double_to_string": double_text,
    "int64_to_string": str,
    "uint64_to_string": str,
}
