"""Bounds of sizes and of costs, and the sizes that are known without looking at any call.

Integers saturate as upstream's unsigned 64-bit ones do, and factors are floats where its are.
"""

import math
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from extender.match.cel.syntax.ast import Constant, Expr, ListExpr, MapExpr
from extender.match.cel.types import (
    BOOL,
    DOUBLE,
    DURATION,
    INT,
    TIMESTAMP,
    UINT,
    Type,
    is_optional,
)

LIMIT: Final = 2**64 - 1
_LIMIT_AS_FLOAT: Final = float(LIMIT)


def wrapped(number: int) -> int:
    """The number as unchecked arithmetic on unsigned 64-bit integers leaves it."""
    return number & LIMIT


def _scaled(number: int, factor: float) -> int:
    as_float = float(number)
    # Not only a short cut: close to the limit the product may round to less than 2**64.
    if factor > 0 and as_float > _LIMIT_AS_FLOAT / factor:
        return LIMIT
    return min(math.ceil(as_float * factor), LIMIT)


class Bounds(Struct, frozen=True, gc=False):
    """What a size or a cost is at least and at most."""

    least: int
    most: int

    def __add__(self, other: "Bounds") -> "Bounds":
        return Bounds(min(self.least + other.least, LIMIT), min(self.most + other.most, LIMIT))

    def __mul__(self, other: "Bounds") -> "Bounds":
        return Bounds(min(self.least * other.least, LIMIT), min(self.most * other.most, LIMIT))

    def __or__(self, other: "Bounds") -> "Bounds":
        return Bounds(min(self.least, other.least), max(self.most, other.most))

    def scaled(self, factor: float) -> "Bounds":
        """Times a factor, rounded up."""
        return Bounds(_scaled(self.least, factor), _scaled(self.most, factor))


def exactly(number: int) -> Bounds:
    """Bounds that leave no choice."""
    return Bounds(number, number)


ZERO: Final = exactly(0)
ONE: Final = exactly(1)
UNKNOWN: Final = Bounds(0, LIMIT)
NOTHING: Final = Bounds(LIMIT, 0)  # united with any bounds: those bounds


class Entries(Struct, frozen=True, gc=False):
    """Sizes of what is in a list (its key is the index) or in a map."""

    container: Literal["list", "map"]
    key: Bounds
    value: Bounds


def joined(first: Entries | None, second: Entries | None) -> Entries | None:
    """The entries of either; unknown if those of one are."""
    if first is None or second is None:
        return None
    return Entries(first.container, first.key | second.key, first.value | second.value)


# Where a value is found, starting from a variable. Only what is declared has a size by its path,
# so all other paths are one; the empty path is that of a value that was computed.
Path = tuple[str, ...]
COMPUTED: Final[Path] = ()
ELSEWHERE: Final[Path] = ("",)

# The object has no size of its own, so upstream takes it for empty.
DECLARED: Final[Mapping[Path, Bounds]] = {
    ("taint",): ZERO,
    ("taint", "key"): Bounds(0, 317),
    ("taint", "value"): Bounds(0, 63),
    ("taint", "effect"): Bounds(0, 16),
}


def below(path: Path, name: str) -> Path:
    """The path of a field or of the entries of what is found at a path.

    Below a computed value it starts anew, as upstream's does: `{'taint': x}.taint` is `taint`.
    """
    longer = (*path, name)
    return longer if longer in DECLARED else ELSEWHERE


def of_literal(expr: Expr) -> Bounds | None:
    """The size of what is written out."""
    if isinstance(expr, Constant):
        return exactly(len(expr.value)) if isinstance(expr.value, (str, bytes)) else ONE
    if isinstance(expr, ListExpr):
        return exactly(len(expr.elements))
    if isinstance(expr, MapExpr):
        return exactly(len(expr.entries))
    return None


_SCALARS: Final = frozenset({BOOL, INT, UINT, DOUBLE, DURATION, TIMESTAMP})


def of_type(type_: Type) -> Bounds | None:
    """The size of every value of a type, where they all have the same."""
    while is_optional(type_):
        type_ = type_.parameters[0]
    return ONE if type_ in _SCALARS else None
