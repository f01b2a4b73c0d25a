"""Values at run time: their types, sizes, elements and texts.

bool, int, float, str, bytes, None, list and dict are Python's own; lists and dicts are never
changed once made. The rest is here, or with its functions (`library`). An unsigned integer, a
duration and a timestamp are integers of a class of their own, told apart by `type(value) is ...`,
never by isinstance. Keys of a dict come from `map_key` and are read with `from_key`.
"""

from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from types import NoneType
from typing import Final, TypeAlias

from msgspec import Struct

from extender.match.cel.faults import CostLimitError, EvaluationError, PanicError

Value: TypeAlias = object

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1
UINT_MAX: Final = (1 << 64) - 1

# The largest values that may be built; upstream's cost limit allows up to ten times as much.
MAX_TEXT: Final = 10_000_000
MAX_ITEMS: Final = 1_000_000
# Of one evaluation, in upstream's units.
COST_LIMIT: Final = 1_000_000
# Of one evaluation, in steps of about 0.1 us. A list of n elements that is copied counts n / 4 and
# a text n / 32, so this also bounds the memory of one evaluation.
MAX_STEPS: Final = 1_000_000
NO_SUCH_OVERLOAD: Final = "no such overload"
NOT_ORDERED: Final = "NaN values cannot be ordered"
PANIC: Final = "internal error: "
COST_LIMIT_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"


class Uint(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


class Duration(int):
    """Nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """Nanoseconds since the epoch; the offset of the text it came from (seconds) is kept.

    Only `string` and `format` know the offset; equality, order and the accessors do not.
    """

    offset = 0


class OptionalValue(Struct, frozen=True, eq=False, gc=False):
    """A value that may be absent."""

    value: Value
    present: bool = True


class TypeValue(Struct, frozen=True, gc=False):
    """A type as a value."""

    name: str


class Message(Struct, frozen=True, eq=False, gc=False):
    """A message that has no plain value, with the fields that are set."""

    type_name: str
    fields: Mapping[str, Value]


class OddKey(Struct, frozen=True, eq=False, gc=False):
    """A map key that equals no other. A list, map, message or `optional.none()` equals itself."""

    value: Value

    def __eq__(self, other: object) -> bool:
        is_one = type(self.value) in (list, dict, Message) or self.value is NONE
        return is_one and type(other) is OddKey and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


NONE: Final = OptionalValue(None, present=False)
MISSING: Final = object()

_TYPE_NAMES: Final[Mapping[type, str]] = {
    NoneType: "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    OptionalValue: "optional_type",
    TypeValue: "type",
}
NUMBERS: Final = frozenset({int, Uint, float})
_SIZED: Final = frozenset({str, bytes, list, dict})
_KEYS_BY_VALUE: Final = frozenset({bool, Uint, float, NoneType, Duration, Timestamp, TypeValue})
_ADDRESSES: Final = frozenset({"net.IP", "net.CIDR"})
# As a key of a Go map these panic.
_UNHASHABLE: Final = {
    "bytes": "types.Bytes",
    "kubernetes.Semver": "cel.Semver",
    "kubernetes.NamedFormat": "cel.Format",
}


def is_object(value: Value) -> bool:
    """Whether the value is of a type of Kubernetes' libraries."""
    return type(value) not in _TYPE_NAMES and type(value) is not Message


def type_name(value: Value) -> str:
    """The name of the type of a value, without parameters."""
    name = _TYPE_NAMES.get(type(value))
    return name if name is not None else str(getattr(value, "type_name"))  # noqa: B009


def size(value: Value) -> int:
    """The size of a value in upstream's cost rules: 1 if it has none."""
    if type(value) in _SIZED:
        return len(value)  # type: ignore[arg-type]
    own: int = getattr(value, "size", 1)
    return own


def as_int(number: int) -> int:
    """The number as an int, if it fits."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EvaluationError("integer overflow")


def as_uint(number: int) -> Uint:
    """The number as a uint, if it fits."""
    if 0 <= number <= UINT_MAX:
        return Uint(number)
    raise EvaluationError("unsigned integer overflow")


def bound_text(length: int) -> None:
    """Refuse to build a text that is too long."""
    if length > MAX_TEXT:
        raise CostLimitError(COST_LIMIT_EXCEEDED)


def bound_items(count: int) -> None:
    """Refuse to build a list or a map that is too large."""
    if count > MAX_ITEMS:
        raise CostLimitError(COST_LIMIT_EXCEEDED)


def index_list(items: Sequence[Value], index: Value) -> Value:
    """`items[index]`; a double or an unsigned integer will do if it is a whole number."""
    place = position(index)
    if 0 <= place < len(items):
        return items[place]
    raise EvaluationError(f"index out of bounds: {shown(index)}")


def position(index: Value) -> int:
    """An index as an int, which may be out of bounds."""
    if type(index) is int:
        return index
    if type(index) is Uint and index <= INT_MAX:
        return int(index)
    if type(index) is float and (whole := _whole(index)) is not None and _is_int(whole):
        return whole
    if type(index) is Uint or type(index) is float:
        raise EvaluationError(f"unsupported index value {shown(index)} in list")
    raise EvaluationError(f"unsupported index type '{type_name(index)}' in list")


def index_map(entries: Mapping[Hashable, Value], key: Value) -> Value:
    """`entries[key]`."""
    value = find(entries, key)
    if value is MISSING:
        raise EvaluationError(f"no such key: {shown(key)}")
    return value


def map_key(value: Value) -> Hashable:
    """The dict key for a value. In Python 1, 1.0 and True would be the same key."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind in _KEYS_BY_VALUE and value == value:
        return kind, value
    name = type_name(value)
    if name in _UNHASHABLE:
        raise PanicError(f"{PANIC}runtime error: hash of unhashable type {_UNHASHABLE[name]}")
    return (kind, value) if name in _ADDRESSES else OddKey(value)


def from_key(key: Hashable) -> Value:
    """The value of a dict key."""
    if type(key) is tuple:
        return key[1]
    return key.value if type(key) is OddKey else key


def find(entries: Mapping[Hashable, Value], value: Value, key: Hashable = MISSING) -> Value:
    """The entry of a map, or MISSING. A number finds the equal integer of another type.

    `key` is the key of the value, where it is known.
    """
    if not entries:
        return MISSING
    found = entries.get(map_key(value) if key is MISSING else key, MISSING)
    if found is not MISSING or type(value) not in NUMBERS:
        return found
    for other in equal_integers(value):
        found = entries.get(other, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def equal_integers(number: Value) -> list[Hashable]:
    """The dict keys of the integers of another type that a number equals, without any rounding."""
    if type(number) is float:
        whole = _whole(number)
        if whole is None:
            return []
    else:
        whole = int(number)  # type: ignore[call-overload]
    keys: list[Hashable] = []
    if type(number) is not int and _is_int(whole):
        keys.append(whole)
    if type(number) is not Uint and 0 <= whole <= UINT_MAX:
        keys.append((Uint, whole))
    return keys


def _whole(number: float) -> int | None:
    return int(number) if number.is_integer() else None


def _is_int(whole: int) -> bool:
    # Without the lowest integer: upstream treats its double as out of range.
    return INT_MIN < whole <= INT_MAX


def shown(value: Value) -> str:
    """A value in an error text, as Go's `%v` prints it; for lists and maps only the type."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int or type(value) is Uint:
        return str(int(value))
    if type(value) is float:
        return double_text(value)
    return type_name(value)


def double_text(number: float) -> str:
    """A double as Go's `%g` prints it: the shortest digits that read back as the same double."""
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "+Inf" if number > 0 else "-Inf"
    if number == 0 or 1e-4 <= abs(number) < 1e6:
        return repr(number).removesuffix(".0")
    mantissa, _, exponent = f"{Decimal(repr(number)).normalize():e}".partition("e")
    return f"{mantissa}e{int(exponent):+03d}"
