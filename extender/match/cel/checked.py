"""An expression with what the type checker found out about it: what estimate and planner read."""

from collections.abc import Mapping
from dataclasses import dataclass

from extender.match.cel.ast import Expr
from extender.match.cel.types import Type


@dataclass(frozen=True, slots=True)
class Checked:
    """`types` and `overloads` are by the id of a node."""

    root: Expr
    types: Mapping[int, Type]  # of every node; no type variable is left in it
    # Of every call the ids of the overloads that fit, in the order of declaration: several only
    # where an argument is dyn.
    overloads: Mapping[int, tuple[str, ...]]
    # Idents and selects that name something declared: the taint (`taint`) or a type
    # (`google.protobuf.Duration`, `int`); objects, by their type; and calls whose function is not
    # called what the call says: in a namespace (`sets.contains`; the target is then no expression)
    # or after a leading dot. Variables of folds are not in it.
    names: Mapping[int, str]
