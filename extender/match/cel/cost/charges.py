"""What a call costs at run time, by upstream's rules.

A charge is looked up by overload (cel-go's sets and lists), then by function (Kubernetes), then
again by overload (cel-go); what is in none of the tables costs 1. Where several overloads are
possible, upstream knows the function only.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.types import Type
from extender.match.cel.values import OptionalValue, Value, from_key, size

_LIST_BASE: Final = 11  # one for the call, ten for the list that it makes
_TABLED: Final = 1024
# As upstream reckons: in doubles, rounded up.
TENTHS: Final = tuple(math.ceil(length * 0.1) for length in range(_TABLED))


class Charge(Struct, frozen=True):
    """A fixed charge, and one by the arguments or by the result; an error has the size 1."""

    fixed: int = 0
    by_arguments: Callable[..., int] | None = None
    by_result: Callable[[Value], int] | None = None


def tenth(length: int) -> int:
    """A tenth of a length, rounded up."""
    return TENTHS[length] if length < _TABLED else math.ceil(length * 0.1)


def quarter(length: int) -> int:
    """A quarter of a length, rounded up: what is charged for a regular expression."""
    return math.ceil(length * 0.25)


def _fifth(length: int) -> int:
    return math.ceil(length * 2 * 0.1)


def _present_size(value: Value) -> int:
    while type(value) is OptionalValue and value.present:
        value = value.value
    return size(value)


def _traversal(value: Value) -> int:
    """What it costs to go through a value once."""
    total, pending = 0, [value]
    while pending:
        part = pending.pop()
        if type(part) is list:
            parts: Sequence[Value] = part
        elif type(part) is dict:
            parts = [*map(from_key, part), *part.values()]
        else:
            total += _TRAVERSALS.get(type(part), _one)(part)
            continue
        kinds = set(map(type, parts))
        if kinds.isdisjoint(_TRAVERSED):
            total += len(parts)
        elif len(kinds) == 1 and kinds <= _TRAVERSALS.keys():
            total += sum(map(_TRAVERSALS[kinds.pop()], parts))
        else:
            pending.extend(parts)
    return total


def _one(_: Value) -> int:
    return 1


def _text_traversal(text: Any) -> int:
    if not text.isascii():
        text = text.encode(errors="surrogatepass")
    return int(len(text) * 0.1)


_TRAVERSALS: Final[Mapping[type, Callable[[Any], int]]] = {
    str: _text_traversal,
    bytes: lambda data: int(len(data) * 0.1),
}
_TRAVERSED: Final = frozenset({str, bytes, list, dict})


def _self_comparison(items: Value) -> int:
    count = size(items)
    first = items[0] if type(items) is list and items else None
    factor = 2.1 if type(first) is str or type(first) is bytes else 2.0
    return int(float(count * count) * factor) + _LIST_BASE


def _flatten(items: Value, depth: Value = 1) -> int:
    levels = depth if type(depth) is int else 1
    return max(int(size(items) * float(levels)), 0) + _LIST_BASE


def _product(factor: int) -> Callable[[Value, Value], int]:
    return lambda a, b: 1 + factor * size(a) * size(b)


def _compared(a: Value, b: Value) -> int:
    return tenth(min(_present_size(a), _present_size(b)))


def first_tenth(a: Value, *_: Value) -> int:
    """A tenth of the size of the first argument."""
    return tenth(size(a))


def _first_fifth(a: Value, *_: Value) -> int:
    return _fifth(size(a))


def _matched(text: Value, pattern: Value, *_: Value) -> int:
    return tenth(1 + size(text)) * quarter(size(pattern))


def _contains_ip(cidr: Value, _: Value) -> int:
    return tenth(2 * size(cidr))


def _contains_cidr(cidr: Value, _: Value) -> int:
    return tenth(2 * size(cidr)) + tenth(size(cidr)) + 1


def _validated(named_format: Any, text: Value) -> int:
    pattern_size = getattr(named_format, "regex_size", None)
    if pattern_size is None:  # the format is an error
        return 1
    return tenth(1 + size(text)) * quarter(pattern_size)


_ONE: Final = Charge(fixed=1)
_BY_FIRST: Final = Charge(by_arguments=first_tenth)
_BY_FIRST_TWICE: Final = Charge(by_arguments=_first_fifth)
_BY_MATCH: Final = Charge(by_arguments=_matched)
_BY_COMPARISON: Final = Charge(by_arguments=_compared)
_BY_TRAVERSAL: Final = Charge(by_arguments=lambda items, *_: _traversal(items))
_BY_ITEMS: Final = Charge(by_result=lambda result: size(result) + _LIST_BASE)
_BY_SELF_COMPARISON: Final = Charge(by_arguments=_self_comparison)
_BY_KEYS: Final = Charge(by_arguments=lambda _, keys: _self_comparison(keys))

_ELEMENTS: Final = (
    *("int", "uint", "double", "bool", "string", "bytes"),
    *("google.protobuf.Duration", "google.protobuf.Timestamp"),
)

_LISTS_AND_SETS: Final[Mapping[str, Charge]] = {
    "list_sets_contains_list": Charge(by_arguments=_product(1)),
    "list_sets_intersects_list": Charge(by_arguments=_product(1)),
    "list_sets_equivalent_list": Charge(by_arguments=_product(2)),
    **dict.fromkeys(("lists_range", "list_slice", "list_reverse"), _BY_ITEMS),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), Charge(by_arguments=_flatten)),
    "list_distinct": _BY_SELF_COMPARISON,
    **{f"list_{element}_sort": _BY_SELF_COMPARISON for element in _ELEMENTS},
    **{f"list_{element}_sortByAssociatedKeys": _BY_KEYS for element in _ELEMENTS},
}

_FIRST_TENTH_FUNCTIONS: Final = (
    *("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "ip"),
    *("quantity", "isQuantity", "semver", "isSemver"),
)
_KUBERNETES: Final[Mapping[str, Charge]] = {
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
        _BY_TRAVERSAL,
    ),
    **dict.fromkeys(_FIRST_TENTH_FUNCTIONS, _BY_FIRST),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _BY_FIRST_TWICE),
    "join": Charge(by_result=lambda result: _fifth(size(result))),
    **dict.fromkeys(("find", "findAll"), _BY_MATCH),
    "validate": Charge(by_arguments=_validated),
    "containsIP": Charge(by_arguments=_contains_ip),
    "containsCIDR": Charge(by_arguments=_contains_cidr),
}
_KUBERNETES_OVERLOADS: Final[Mapping[str, Charge]] = {
    "cidr_ip": _ONE,
    "cidr_contains_ip_string": Charge(
        by_arguments=lambda cidr, other: _contains_ip(cidr, other) + tenth(size(other))
    ),
    "cidr_contains_cidr_string": Charge(
        by_arguments=lambda cidr, other: _contains_cidr(cidr, other) + tenth(size(other))
    ),
}

_STANDARD: Final[Mapping[str, Charge]] = {
    **dict.fromkeys(
        (
            *("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string"),
            *("strings_quote", "string_format"),
        ),
        _BY_FIRST,
    ),
    "in_list": Charge(by_arguments=lambda _, items: size(items)),
    **dict.fromkeys(
        (
            *("equals", "not_equals", "less_string", "less_equals_string", "greater_string"),
            *("greater_equals_string", "less_bytes", "less_equals_bytes", "greater_bytes"),
            "greater_equals_bytes",
        ),
        _BY_COMPARISON,
    ),
    **dict.fromkeys(
        ("add_string", "add_bytes"),
        Charge(by_arguments=lambda a, b: tenth(size(a) + size(b))),
    ),
    "matches_string": _BY_MATCH,
    "contains_string": Charge(by_arguments=lambda a, b: tenth(size(a)) * tenth(size(b))),
}

_SCALARS: Final = frozenset(
    {
        *("bool", "int", "uint", "double", "null_type"),
        *("google.protobuf.Timestamp", "google.protobuf.Duration"),
    }
)
_COMPARED_AS_ONE: Final = frozenset(
    {
        *("kubernetes.Semver", "kubernetes.Quantity", "kubernetes.URL", "kubernetes.NamedFormat"),
        *("net.IP", "net.CIDR"),
    }
)
# A network of no bits has the size 0, which counts where the other side is an error.
_UNSIZED: Final = frozenset({"net.CIDR"})


def _equality(a: Value, b: Value) -> int:
    return 1 if getattr(a, "type_name", None) in _COMPARED_AS_ONE else _compared(a, b)


def charge_of(function: str, overload: str, types: Sequence[Type]) -> Charge:
    """`overload` is empty where several are possible; `types` are those of the arguments."""
    for table, key in (
        (_LISTS_AND_SETS, overload),
        (_KUBERNETES_OVERLOADS, overload),
        (_KUBERNETES, function),
    ):
        if key in table:
            return table[key]
    if overload in ("equals", "not_equals"):
        return _charge_of_equality(overload, types)
    return _STANDARD.get(overload, _ONE)


def _charge_of_equality(overload: str, types: Sequence[Type]) -> Charge:
    names = {type_.name for type_ in types}
    if names <= _SCALARS or (overload == "equals" and names <= _COMPARED_AS_ONE - _UNSIZED):
        return _ONE
    return _BY_COMPARISON if overload == "not_equals" else Charge(by_arguments=_equality)
