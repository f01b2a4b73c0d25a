"""What becomes of an optional value when a variable that holds it is read.

Upstream takes the value out, turns it into a Go value and that back into a CEL value. Not
everything comes back as it was: a type is its name then, an optional inside is gone, and objects of
Kubernetes' libraries cannot come back at all, which shows when the value is asked for.
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
    """Whether values of a static type come back as they were."""
    if is_optional(type_):
        return type_.parameters[0].kind in _PLAIN_KINDS
    return type_.kind != "dyn"


def reread(value: Value) -> Value:
    """The value that comes back."""
    if type(value) is not OptionalValue or not value.present or type(value.value) in _PLAIN:
        return value
    return OptionalValue(_converted(value.value))


def _converted(value: Value) -> Value:
    while type(value) is OptionalValue:
        value = value.value
    if type(value) is TypeValue:
        return value.name
    if type(value) is EvaluationError:  # it could not come back before
        go_type: str | None = "*errors.errorString"
    else:
        go_type = _GO_TYPES.get(type_name(value))
    if go_type is None:
        return value
    return EvaluationError(f"unsupported conversion to ref.Val: ({go_type})")


def taken(value: Value) -> Value:
    """What was in an optional, unless it could not come back."""
    if type(value) is EvaluationError:
        raise EvaluationError(str(value))
    return value
