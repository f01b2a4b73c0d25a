"""Conversions between the basic types, by the rules of Go's strconv."""

import math
import re
from collections.abc import Mapping
from typing import Final

from extender.match import integers
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import BY_FIRST, read
from extender.match.cel.library.estimates import TRAVERSAL, Bounds, Estimate, Operand, wrapped
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.times import (
    duration_text,
    from_seconds,
    parse_duration,
    parse_timestamp,
    timestamp_text,
    to_seconds,
)
from extender.match.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Uint,
    Value,
    as_int,
    as_uint,
    double_text,
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
    # Without the bounds: upstream treats their doubles as out of range.
    if not INT_MIN < number < INT_MAX:
        raise EvaluationError("integer overflow")
    return int(number)


def _double_to_uint(number: float) -> Uint:
    if not 0 <= number < UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _unchanged(value: Value) -> Value:
    return value


def _int_to_duration(_: int) -> Value:
    raise EvaluationError("type conversion error from 'int' to 'google.protobuf.Duration'")


def _estimate_bytes(text: Operand) -> Estimate:
    size = text.size
    return Estimate(size.scaled(TRAVERSAL), Bounds(size.least, wrapped(size.most * 4)))


def _estimate_string(data: Operand) -> Estimate:
    size = data.size
    return Estimate(size.scaled(TRAVERSAL), Bounds(size.least // 4, size.most))


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "bool",
        overload("bool_to_bool", "(bool) -> bool", _unchanged),
        overload("string_to_bool", "(string) -> bool", _string_to_bool, work=read(12)),
    ),
    function(
        "bytes",
        overload("bytes_to_bytes", "(bytes) -> bytes", _unchanged),
        overload(
            "string_to_bytes",
            "(string) -> bytes",
            _string_to_bytes,
            estimate=_estimate_bytes,
            charge=BY_FIRST,
        ),
    ),
    function(
        "double",
        overload("double_to_double", "(double) -> double", _unchanged),
        overload("int64_to_double", "(int) -> double", float),
        overload("string_to_double", "(string) -> double", _string_to_double, work=read(12)),
        overload("uint64_to_double", "(uint) -> double", float),
    ),
    function(
        "duration",
        overload("duration_to_duration", "(duration) -> duration", _unchanged),
        overload("int64_to_duration", "(int) -> duration", _int_to_duration),
        overload("string_to_duration", "(string) -> duration", parse_duration, work=read(60)),
    ),
    function(
        "int",
        overload("int64_to_int64", "(int) -> int", _unchanged),
        overload("double_to_int64", "(double) -> int", _double_to_int),
        overload("duration_to_int64", "(duration) -> int", int),
        overload("string_to_int64", "(string) -> int", _string_to_int, work=read(12)),
        overload("timestamp_to_int64", "(timestamp) -> int", to_seconds),
        overload("uint64_to_int64", "(uint) -> int", lambda number: as_int(int(number))),
    ),
    function(
        "string",
        overload("string_to_string", "(string) -> string", _unchanged),
        overload("bool_to_string", "(bool) -> string", lambda it: "true" if it else "false"),
        overload(
            "bytes_to_string",
            "(bytes) -> string",
            _bytes_to_string,
            estimate=_estimate_string,
            charge=BY_FIRST,
        ),
        overload("double_to_string", "(double) -> string", double_text),
        overload("duration_to_string", "(duration) -> string", duration_text),
        overload("int64_to_string", "(int) -> string", str),
        overload("timestamp_to_string", "(timestamp) -> string", timestamp_text),
        overload("uint64_to_string", "(uint) -> string", str),
        overload("ip_to_string", "(ip) -> string", str),
        overload("cidr_to_string", "(cidr) -> string", str),
    ),
    function(
        "timestamp",
        overload("timestamp_to_timestamp", "(timestamp) -> timestamp", _unchanged),
        overload("int64_to_timestamp", "(int) -> timestamp", from_seconds),
        overload("string_to_timestamp", "(string) -> timestamp", parse_timestamp, work=read(100)),
    ),
    function(
        "uint",
        overload("uint64_to_uint64", "(uint) -> uint", _unchanged),
        overload("double_to_uint64", "(double) -> uint", _double_to_uint),
        overload("int64_to_uint64", "(int) -> uint", as_uint),
        overload("string_to_uint64", "(string) -> uint", _string_to_uint, work=read(12)),
    ),
)
