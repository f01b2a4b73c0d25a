"""The charge and the work of a call, from the description of its function."""

from collections.abc import Sequence
from typing import Final

from extender.match.cel.library import FUNCTIONS, OVERLOADS
from extender.match.cel.library.charges import NOTHING, ONE, Charge, Work
from extender.match.cel.library.operators import COMPARED_AS_ONE
from extender.match.cel.types import Type

_SCALARS: Final = frozenset(
    {
        *("bool", "int", "uint", "double", "null_type"),
        *("google.protobuf.Timestamp", "google.protobuf.Duration"),
    }
)
# A network with a /0 prefix has the size 0, which matters if the other side is an error.
_SIZED: Final = frozenset({"net.CIDR"})


def charge_of(function: str, overload: str, types: Sequence[Type]) -> Charge:
    """The charge of a call. `overload` is empty if several fit; `types` are the arguments'."""
    if overload in ("equals", "not_equals") and _costs_one(overload, types):
        return ONE
    return OVERLOADS[overload].charge if overload else FUNCTIONS[function].charge


def _costs_one(overload: str, types: Sequence[Type]) -> bool:
    """Whether comparing values of these types always costs 1."""
    names = {type_.name for type_ in types}
    return names <= _SCALARS or (overload == "equals" and names <= COMPARED_AS_ONE - _SIZED)


def work_of(overloads: Sequence[str]) -> Work:
    """The work of a call; if several overloads fit, that of the first with any."""
    for overload in overloads:
        work = OVERLOADS[overload].work
        if work is not NOTHING:
            return work
    return NOTHING
