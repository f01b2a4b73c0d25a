"""How reading a variable changes an optional value.

Upstream converts the value inside to a Go value and back to CEL. The conversion is lossy: a type
becomes its name, a nested optional is unwrapped, and an object of Kubernetes' libraries becomes an
error, which is raised when the value is used.
"""

from collections.abc import Mapping
from types import NoneType
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.types import Type, is_optional
from extender.match.cel.values import (
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    type_name,
)

_PLAIN: Final = frozenset(
    {str, int, float, bool, bytes, list, dict, NoneType, Uint, Duration, Timestamp}
)
_PLAIN_KINDS: Final = frozenset({"primitive", "well_known", "list", "map"})
_GO_TYPES: Final[Mapping[str, str]] = {
    "kubernetes.Semver": "semver.Version",
    "kubernetes.Quantity": "*resource.Quantity",
    "kubernetes.URL": "*url.URL",
    "net.IP": "netip.Addr",
    "net.CIDR": "netip.Prefix",
}


def survives_reading(type_: Type) -> bool:
    """Whether reading a variable keeps values of this static type."""
    if is_optional(type_):
        return type_.parameters[0].kind in _PLAIN_KINDS
    return type_.kind not in ("dyn", "any")


def reread(value: Value) -> Value:
    """The value as upstream reads it."""
    if type(value) is not OptionalValue or not value.present or type(value.value) in _PLAIN:
        return value
    return OptionalValue(_converted(value.value))


def _converted(value: Value) -> Value:
    while type(value) is OptionalValue:
        value = value.value
    if type(value) is TypeValue:
        return value.name
    if type(value) is EvaluationError:  # a conversion failed before
        go_type: str | None = "*errors.errorString"
    else:
        go_type = _GO_TYPES.get(type_name(value))
    if go_type is None:
        return value
    return EvaluationError(f"unsupported conversion to ref.Val: ({go_type})")


def taken(value: Value) -> Value:
    """The value out of an optional; raises the error if its conversion failed."""
    if type(value) is EvaluationError:
        raise EvaluationError(str(value))
    return value
