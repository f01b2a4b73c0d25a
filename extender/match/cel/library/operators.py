"""Operators, and the functions that take values of many types: `size`, `type` and `dyn`.

Arithmetic is 64 bits wide, and an overflow is an error. To order NaN is an error. The planner
handles `&&`, `||`, `?:`, fields and indices itself, so these have no `run`.
"""

import math
import operator
from collections.abc import Callable, Hashable, Mapping
from typing import Final

from extender.match.cel.equality import are_plain_lists, differs, equals, in_list
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import (
    BUILT,
    BY_COMPARISON,
    CONTAINERS,
    Charge,
    Work,
    compared,
    heft,
    tenth,
)
from extender.match.cel.library.estimates import (
    ONE,
    TRAVERSAL,
    Bounds,
    Estimate,
    Operand,
    comparison,
    joined,
    nominal,
    traversal,
)
from extender.match.cel.library.functions import Draft, Function, function, overload
from extender.match.cel.library.lists import add_lists
from extender.match.cel.library.strings import add_bytes, add_strings
from extender.match.cel.library.times import add_duration, subtract_duration, time_between
from extender.match.cel.types import (
    AUTHORIZATION,
    CIDR,
    IP,
    NAMED_FORMAT,
    QUANTITY,
    SEMVER,
    URL,
)
from extender.match.cel.values import (
    INT_MIN,
    MISSING,
    NOT_ORDERED,
    Duration,
    TypeValue,
    Uint,
    Value,
    as_int,
    as_uint,
    find,
    size,
    type_name,
)


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
            raise EvaluationError(NOT_ORDERED)
        return compare(left, right)

    return ordered


def _in_map(value: Value, entries: Mapping[Hashable, Value]) -> bool:
    return find(entries, value) is not MISSING


_FORMAT_NAME: Final = Bounds(1, 64)
_COMPARED_AT_ONCE: Final = frozenset({IP, CIDR, QUANTITY, SEMVER, *AUTHORIZATION})
COMPARED_AS_ONE: Final = frozenset(
    type_.name for type_ in (SEMVER, QUANTITY, URL, NAMED_FORMAT, IP, CIDR)
)


def _estimate_equals(left: Operand, right: Operand) -> Estimate:
    if left.type != right.type:
        return comparison(left, right)
    if left.type in _COMPARED_AT_ONCE:
        return nominal()
    if left.type == NAMED_FORMAT:
        return Estimate(_FORMAT_NAME.scaled(TRAVERSAL))
    if left.type == URL:
        most = 1 if right.known_size is None else right.known_size.most
        return Estimate(Bounds(1, most).scaled(TRAVERSAL))
    return comparison(left, right)


def _charge_equals(a: Value, b: Value) -> int:
    return 1 if getattr(a, "type_name", None) in COMPARED_AS_ONE else compared(a, b)


def _comparing_steps(a: Value, b: Value) -> int:
    if are_plain_lists(a, b):
        return min(heft(a), heft(b)) >> 1
    if type(a) in CONTAINERS and type(b) in CONTAINERS:
        return 3 * min(heft(a), heft(b))
    return 0


_COMPARED: Final = Work(20, by_arguments=_comparing_steps)


def _estimate_text_sum(left: Operand, right: Operand) -> Estimate:
    size = left.size + right.size
    return Estimate(size.scaled(TRAVERSAL), size, joined(left.entries, right.entries))


def _estimate_list_sum(left: Operand, right: Operand) -> Estimate:
    return Estimate(ONE, left.size + right.size, joined(left.entries, right.entries))


_TEXT_SUM: Final = Charge(by_arguments=lambda a, b: tenth(size(a) + size(b)))


def _estimate_logic(left: Operand, right: Operand) -> Estimate:
    cost = Bounds(left.cost.least, (left.cost + right.cost).most)
    return Estimate(cost, covers_operands=True)


def _estimate_conditional(condition: Operand, yes: Operand, no: Operand) -> Estimate:
    cost, entries = condition.cost + (yes.cost | no.cost), joined(yes.entries, no.entries)
    return Estimate(cost, yes.size | no.size, entries, covers_operands=True)


# The overloads of `<`, `<=`, `>` and `>=` in upstream's order, by the suffix of their id.
_ORDERED: Final[Mapping[str, str]] = {
    "bool": "(bool, bool)",
    "int64": "(int, int)",
    "int64_double": "(int, double)",
    "int64_uint64": "(int, uint)",
    "uint64": "(uint, uint)",
    "uint64_double": "(uint, double)",
    "uint64_int64": "(uint, int)",
    "double": "(double, double)",
    "double_int64": "(double, int)",
    "double_uint64": "(double, uint)",
    "string": "(string, string)",
    "bytes": "(bytes, bytes)",
    "timestamp": "(timestamp, timestamp)",
    "duration": "(duration, duration)",
}


def _order(name: str, overload_name: str, compare: Callable[..., bool]) -> Function:
    return function(
        name,
        *(_ordered(f"{overload_name}_{kind}", types, compare) for kind, types in _ORDERED.items()),
        singleton=True,
    )


def _ordered(overload_id: str, types: str, compare: Callable[..., bool]) -> Draft:
    signature = f"{types} -> bool"
    if "double" in types:
        return overload(overload_id, signature, _with_doubles(compare))
    if "string" in types or "bytes" in types:
        return overload(overload_id, signature, compare, estimate=comparison, charge=BY_COMPARISON)
    return overload(overload_id, signature, compare)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function("!_", overload("logical_not", "(bool) -> bool", operator.not_), singleton=True),
    function(
        "-_",
        overload("negate_double", "(double) -> double", operator.neg),
        overload("negate_int64", "(int) -> int", lambda a: as_int(-a)),
        singleton=True,
    ),
    function(
        "@in",
        overload(
            "in_list",
            "(A, list(A)) -> bool",
            in_list,
            estimate=traversal(1, 1.0),
            charge=Charge(by_arguments=lambda _, items: size(items)),
            work=Work(by_arguments=lambda _, items: 2 * heft(items)),
        ),
        overload("in_map", "(A, map(A, B)) -> bool", _in_map),
        singleton=True,
    ),
    function("@not_strictly_false", overload("not_strictly_false", "(bool) -> bool")),
    function(
        "_!=_",
        overload("not_equals", "(A, A) -> bool", differs),
        estimate=comparison,
        charge=BY_COMPARISON,
        work=_COMPARED,
        singleton=True,
    ),
    function(
        "_==_",
        overload("equals", "(A, A) -> bool", equals),
        estimate=_estimate_equals,
        charge=Charge(by_arguments=_charge_equals),
        work=_COMPARED,
        singleton=True,
    ),
    _order("_<_", "less", operator.lt),
    _order("_<=_", "less_equals", operator.le),
    _order("_>_", "greater", operator.gt),
    _order("_>=_", "greater_equals", operator.ge),
    function(
        "_%_",
        overload("modulo_int64", "(int, int) -> int", _modulo_int),
        overload("modulo_uint64", "(uint, uint) -> uint", _modulo_uint),
        singleton=True,
    ),
    function(
        "_*_",
        overload("multiply_double", "(double, double) -> double", operator.mul),
        overload("multiply_int64", "(int, int) -> int", lambda a, b: as_int(a * b)),
        overload("multiply_uint64", "(uint, uint) -> uint", lambda a, b: as_uint(a * b)),
        singleton=True,
    ),
    function(
        "_/_",
        overload("divide_double", "(double, double) -> double", _divide_double),
        overload("divide_int64", "(int, int) -> int", _divide_int),
        overload("divide_uint64", "(uint, uint) -> uint", _divide_uint),
        singleton=True,
    ),
    function(
        "_+_",
        overload(
            "add_bytes",
            "(bytes, bytes) -> bytes",
            add_bytes,
            estimate=_estimate_text_sum,
            charge=_TEXT_SUM,
            work=BUILT,
        ),
        overload("add_double", "(double, double) -> double", operator.add),
        overload(
            "add_duration_duration",
            "(duration, duration) -> duration",
            lambda a, b: Duration(as_int(a + b)),
        ),
        overload(
            "add_duration_timestamp",
            "(duration, timestamp) -> timestamp",
            lambda duration, timestamp: add_duration(timestamp, duration),
        ),
        overload("add_timestamp_duration", "(timestamp, duration) -> timestamp", add_duration),
        overload("add_int64", "(int, int) -> int", lambda a, b: as_int(a + b)),
        overload(
            "add_list",
            "(list(A), list(A)) -> list(A)",
            add_lists,
            estimate=_estimate_list_sum,
            work=BUILT,
        ),
        overload(
            "add_string",
            "(string, string) -> string",
            add_strings,
            estimate=_estimate_text_sum,
            charge=_TEXT_SUM,
            work=BUILT,
        ),
        overload("add_uint64", "(uint, uint) -> uint", lambda a, b: as_uint(a + b)),
        singleton=True,
    ),
    function(
        "_-_",
        overload("subtract_double", "(double, double) -> double", operator.sub),
        overload(
            "subtract_duration_duration",
            "(duration, duration) -> duration",
            lambda a, b: Duration(as_int(a - b)),
        ),
        overload("subtract_int64", "(int, int) -> int", lambda a, b: as_int(a - b)),
        overload(
            "subtract_timestamp_duration", "(timestamp, duration) -> timestamp", subtract_duration
        ),
        overload(
            "subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration", time_between
        ),
        overload("subtract_uint64", "(uint, uint) -> uint", lambda a, b: as_uint(a - b)),
        singleton=True,
    ),
    function("_&&_", overload("logical_and", "(bool, bool) -> bool"), estimate=_estimate_logic),
    function("_||_", overload("logical_or", "(bool, bool) -> bool"), estimate=_estimate_logic),
    function("_?_:_", overload("conditional", "(bool, A, A) -> A"), estimate=_estimate_conditional),
    function("_?._", overload("select_optional_field", "(dyn, string) -> optional(V)")),
    function(
        "_[?_]",
        overload("list_optindex_optional_int", "(list(V), int) -> optional(V)"),
        overload("optional_list_optindex_optional_int", "(optional(list(V)), int) -> optional(V)"),
        overload("map_optindex_optional_value", "(map(K, V), K) -> optional(V)"),
        overload("optional_map_optindex_optional_value", "(optional(map(K, V)), K) -> optional(V)"),
    ),
    function(
        "_[_]",
        overload("index_list", "(list(A), int) -> A"),
        overload("index_map", "(map(A, B), A) -> B"),
        overload("optional_list_index_int", "(optional(list(V)), int) -> optional(V)"),
        overload("optional_map_index_value", "(optional(map(K, V)), K) -> optional(V)"),
    ),
    function(
        "size",
        overload("size_bytes", "(bytes) -> int", len),
        overload("bytes_size", "bytes.() -> int", len),
        overload("size_list", "(list(A)) -> int", len),
        overload("list_size", "list(A).() -> int", len),
        overload("size_map", "(map(A, B)) -> int", len),
        overload("map_size", "map(A, B).() -> int", len),
        overload("size_string", "(string) -> int", len),
        overload("string_size", "string.() -> int", len),
        singleton=True,
    ),
    function(
        "type",
        overload("type", "(A) -> type(A)", lambda value: TypeValue(type_name(value))),
        singleton=True,
    ),
    function("dyn", overload("to_dyn", "(A) -> dyn", lambda value: value), singleton=True),
)
