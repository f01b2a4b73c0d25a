"""When values are equal: numbers across their types, the rest only within one type.

To compare an object of Kubernetes' libraries with another type is an error, and so is a computed
quantity on the right of a quantity. What the error does depends on the caller: `==` fails, `!=` is
true, inside lists and maps the two count as equal, and `in` does not find them.
"""

from collections.abc import Sequence
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import (
    MISSING,
    NO_SUCH_OVERLOAD,
    NUMBERS,
    Message,
    OptionalValue,
    Value,
    bound_items,
    find,
    from_key,
    is_object,
    size,
)

_AGGREGATES: Final = frozenset({list, dict, OptionalValue, Message})
# Types whose lists Python compares as CEL does. Not doubles: NaN would equal itself.
_PLAIN: Final = frozenset({bool, int, str, bytes})


def equals(a: Value, b: Value) -> bool:
    """CEL's `==`; NaN equals nothing."""
    kind = type(a)
    if kind is not type(b):
        if is_object(a) and b is not None:
            raise EvaluationError(NO_SUCH_OVERLOAD)
        return kind in NUMBERS and type(b) in NUMBERS and _numbers_equal(a, b)
    return _aggregates_equal(a, b) if kind in _AGGREGATES else a == b


def differs(a: Value, b: Value) -> bool:
    """CEL's `!=`."""
    return not same(a, b)


def same(a: Value, b: Value) -> bool:
    """Whether a equals b; False instead of an error if they cannot be compared."""
    try:
        return equals(a, b)
    except EvaluationError:
        return False


def _numbers_equal(a: Value, b: Value) -> bool:
    # An integer is rounded to a double before it is compared with one.
    if type(a) is float or type(b) is float:
        return float(a) == float(b)  # type: ignore[arg-type]
    return a == b


def _aggregates_equal(a: Value, b: Value) -> bool:
    """Not recursive, as values can be nested deeper than calls."""
    pending = [(a, b, False)]
    steps = 0
    while pending:
        a, b, inside = pending.pop()
        if are_plain_lists(a, b):
            if a != b:
                return False
            continue
        pairs = _pairs(a, b)
        if pairs is None:
            return False
        steps += len(pairs)
        bound_items(steps)
        inside = inside or type(a) is not OptionalValue
        for one, other in pairs:
            if type(one) in _AGGREGATES and type(one) is type(other):
                pending.append((one, other, inside))
            elif not (_pass_for_equal(one, other) if inside else equals(one, other)):
                return False
    return True


def _pass_for_equal(a: Value, b: Value) -> bool:
    try:
        return equals(a, b)
    except EvaluationError:
        return True


def are_plain_lists(a: Value, b: Value) -> bool:
    """Whether both are lists of one and the same simple type, which are compared at once."""
    if type(a) is not list or type(b) is not list:
        return False
    kinds = {*map(type, a), *map(type, b)}
    return len(kinds) == 1 and kinds <= _PLAIN


def _pairs(a: Value, b: Value) -> list[tuple[Value, Value]] | None:
    """The pairs of parts that must be equal for two lists or maps to be; None if none can."""
    if type(a) is OptionalValue and type(b) is OptionalValue:
        return [(a.value, b.value)] if a.present == b.present else None
    if type(a) is Message and type(b) is Message:
        a, b = {**a.fields, "type": a.type_name}, {**b.fields, "type": b.type_name}
    if size(a) != size(b):
        return None
    if type(a) is dict and type(b) is dict:
        found = [(value, find(b, from_key(key), key)) for key, value in a.items()]
        return None if any(value is MISSING for _, value in found) else found
    return list(zip(a, b, strict=True))  # type: ignore[call-overload]


def in_list(value: Value, items: Sequence[Value]) -> bool:
    """Whether a list has an element that equals the value."""
    if type(value) is str:
        return value in items
    return any(same(value, item) for item in items)
