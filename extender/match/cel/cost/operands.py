"""A call as the rules of the estimate see it, and what they answer."""

from collections.abc import Callable

from msgspec import Struct

from extender.match.cel.cost.bounds import ONE, UNKNOWN, Bounds, Entries
from extender.match.cel.syntax.ast import Constant, Expr
from extender.match.cel.types import Type


class Operand(Struct, frozen=True, gc=False):
    """A receiver or an argument, with what is known of it."""

    expr: Expr
    type: Type
    cost: Bounds
    known_size: Bounds | None
    entries: Entries | None

    @property
    def size(self) -> Bounds:
        return UNKNOWN if self.known_size is None else self.known_size

    def written_int(self) -> int | None:
        """The integer, if the operand is one that is written out."""
        expr = self.expr
        if isinstance(expr, Constant) and isinstance(expr.value, int) and expr.kind == "int":
            return expr.value
        return None


class Site(Struct, frozen=True, gc=False):
    """A call with one of the overloads that fit; a receiver is the first of the operands.

    The overload fixes how many operands there are, so rules count on it.
    """

    function: str
    overload: str
    operands: tuple[Operand, ...]


class Estimate(Struct, frozen=True, gc=False):
    """A cost, with the size of the result and the sizes in it where they are known."""

    cost: Bounds
    size: Bounds | None = None
    entries: Entries | None = None


Rule = Callable[[Site], Estimate]


def nominal(site: Site) -> Estimate:
    """The least that a call can cost."""
    return Estimate(ONE)


def traversal(position: int, factor: float) -> Rule:
    """The rule of a call that looks at each character of one operand."""
    return lambda site: Estimate(site.operands[position].size.scaled(factor))
