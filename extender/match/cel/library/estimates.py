"""What the rules of estimates are made of: bounds, operands, and rules that functions share.

Integers saturate as upstream's unsigned 64-bit ones do, and factors are floats where its are.
"""

import math
from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from extender.match.cel.syntax.ast import Constant, Expr
from extender.match.cel.types import BYTES, STRING, Type

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
    """The least and the most that a size or a cost can be."""

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
    """Bounds that hold one number."""
    return Bounds(number, number)


ZERO: Final = exactly(0)
ONE: Final = exactly(1)
UNKNOWN: Final = Bounds(0, LIMIT)
NOTHING: Final = Bounds(LIMIT, 0)  # united with any bounds: those bounds

TRAVERSAL: Final = 0.1  # per character or byte
TWICE: Final = 0.2  # per character that is read and written, or read two times
REGEX: Final = 0.25  # per character of a regular expression
LIST_BASE: Final = exactly(10)
MAP_BASE: Final = exactly(30)
STRUCT_BASE: Final = exactly(40)


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


class Operand(Struct, frozen=True, gc=False):
    """A receiver or an argument of a call, with what is known about it."""

    expr: Expr
    type: Type
    cost: Bounds
    known_size: Bounds | None
    entries: Entries | None

    @property
    def size(self) -> Bounds:
        return UNKNOWN if self.known_size is None else self.known_size

    def written_int(self) -> int | None:
        """The integer, if the operand is an integer literal."""
        expr = self.expr
        if isinstance(expr, Constant) and isinstance(expr.value, int) and expr.kind == "int":
            return expr.value
        return None

    def written_count(self, default: int) -> int:
        """The integer literal, at least 0, or the default."""
        written = self.written_int()
        return default if written is None else max(written, 0)


class Estimate(Struct, frozen=True, gc=False):
    """A cost, with the size of the result and the sizes in it where they are known."""

    cost: Bounds
    size: Bounds | None = None
    entries: Entries | None = None
    covers_operands: bool = False  # whether the cost includes that of the operands


# Takes the operands of a call, the receiver first.
Rule = Callable[..., Estimate]


def nominal(*_: Operand) -> Estimate:
    """The least that a call can cost."""
    return Estimate(ONE)


def traversal(position: int = 0, factor: float = TRAVERSAL) -> Rule:
    """The rule of a call that looks at each character of one operand."""
    return lambda *operands: Estimate(operands[position].size.scaled(factor))


def same_size(text: Operand, *_: Operand) -> Estimate:
    """Goes through a text, and yields one that is as long."""
    return Estimate(text.size.scaled(TRAVERSAL), text.size)


def comparison(left: Operand, right: Operand) -> Estimate:
    """Tells two values apart: the smaller one is gone through."""
    most = min(left.size.most, right.size.most)
    return Estimate(Bounds(min(most, 1), most).scaled(TRAVERSAL))


def elements(whole: Operand, *_: Operand) -> Estimate:
    """Compares all elements of a list, or searches a string."""
    if not whole.type.parameters:
        return Estimate(whole.size.scaled(TRAVERSAL))
    element = ONE
    if whole.type.parameters[0] in (STRING, BYTES):
        # Upstream looks the size of an element up by its path, and no list is declared.
        element += UNKNOWN.scaled(TRAVERSAL)
    return Estimate(whole.size * element)


def new_list(size: Bounds, factor: float) -> Estimate:
    """Makes a list of a size, at a cost for each element."""
    return Estimate(size.scaled(factor) + ONE + LIST_BASE, size)


def each_with_each(position: int, factor: float) -> Rule:
    """The rule of a call that compares each element of one operand with each."""

    def rule(*operands: Operand) -> Estimate:
        size = operands[position].size
        return new_list(size * size, factor)

    return rule
