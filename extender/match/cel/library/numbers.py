"""Arithmetic and order: 64 bits wide, an overflow is an error, NaN has no place in an order."""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import INT_MAX, INT_MIN, UINT_MAX, Uint, Value


def as_int(number: int) -> int:
    """The number as an int, if it is one."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EvaluationError("integer overflow")


def as_uint(number: int) -> Uint:
    """The number as an uint, if it is one."""
    if 0 <= number <= UINT_MAX:
        return Uint(number)
    raise EvaluationError("unsigned integer overflow")


def _divide_int(a: int, b: int) -> int:
    if b == 0:
        raise EvaluationError("division by zero")
    quotient = abs(a) // abs(b)
    return as_int(quotient if (a < 0) == (b < 0) else -quotient)


def _modulo_int(a: int, b: int) -> int:
    if b == 0:
        raise EvaluationError("modulus by zero")
    if a == INT_MIN and b == -1:
        raise EvaluationError("integer overflow")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def _divide_uint(a: Uint, b: Uint) -> Uint:
    if b == 0:
        raise EvaluationError("division by zero")
    return Uint(a // b)


def _modulo_uint(a: Uint, b: Uint) -> Uint:
    if b == 0:
        raise EvaluationError("modulus by zero")
    return Uint(a % b)


def _divide_double(a: float, b: float) -> float:
    if b:
        return a / b
    if not a or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _with_doubles(compare: Callable[[float, float], bool]) -> Callable[[float, float], bool]:
    def ordered(a: float, b: float) -> bool:
        # An integer is rounded to a double before it is compared with one.
        left, right = float(a), float(b)
        if math.isnan(left) or math.isnan(right):
            raise EvaluationError("NaN values cannot be ordered")
        return compare(left, right)

    return ordered


_ORDERS: Final[Mapping[str, Callable[..., bool]]] = {
    "less": operator.lt,
    "less_equals": operator.le,
    "greater": operator.gt,
    "greater_equals": operator.ge,
}
_PLAIN: Final = (
    *("bool", "int64", "uint64", "int64_uint64", "uint64_int64"),
    *("string", "bytes", "timestamp", "duration"),
)
_DOUBLE: Final = (*("double", "int64_double", "uint64_double", "double_int64", "double_uint64"),)

OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    "add_int64": lambda a, b: as_int(a + b),
    "add_uint64": lambda a, b: as_uint(a + b),
    "add_double": operator.add,
    "subtract_int64": lambda a, b: as_int(a - b),
    "subtract_uint64": lambda a, b: as_uint(a - b),
    "subtract_double": operator.sub,
    "multiply_int64": lambda a, b: as_int(a * b),
    "multiply_uint64": lambda a, b: as_uint(a * b),
    "multiply_double": operator.mul,
    "divide_int64": _divide_int,
    "divide_uint64": _divide_uint,
    "divide_double": _divide_double,
    "modulo_int64": _modulo_int,
    "modulo_uint64": _modulo_uint,
    "negate_int64": lambda a: as_int(-a),
    "negate_double": operator.neg,
    **{f"{name}_{kind}": order for name, order in _ORDERS.items() for kind in _PLAIN},
    **{
        f"{name}_{kind}": _with_doubles(order)
        for name, order in _ORDERS.items()
        for kind in _DOUBLE
    },
}
