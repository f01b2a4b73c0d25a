"""What an estimate knows about the sizes of nodes: from literals, types, paths and calls."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from extender.match.cel.library.estimates import (
    ONE,
    UNKNOWN,
    ZERO,
    Bounds,
    Entries,
    exactly,
)
from extender.match.cel.syntax.ast import Constant, Expr, Ident, ListExpr, MapExpr
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

# The way from a variable to a value. Only declared fields have a size by their path, so all other
# paths are the same one; a computed value has the empty path.
Path = tuple[str, ...]
COMPUTED: Final[Path] = ()
ELSEWHERE: Final[Path] = ("",)

# Upstream gives an object without a declared size the size 0.
DECLARED: Final[Mapping[Path, Bounds]] = {
    ("taint",): ZERO,
    ("taint", "key"): Bounds(0, 317),
    ("taint", "value"): Bounds(0, 63),
    ("taint", "effect"): Bounds(0, 16),
}


def below(path: Path, name: str) -> Path:
    """The path of a field of the value at a path.

    Below a computed value it starts anew, as upstream's does: `{'taint': x}.taint` is `taint`.
    """
    longer = (*path, name)
    return longer if longer in DECLARED else ELSEWHERE


def of_literal(expr: Expr) -> Bounds | None:
    """The size of a literal; None if the expression is none."""
    if isinstance(expr, Constant):
        return exactly(len(expr.value)) if isinstance(expr.value, (str, bytes)) else ONE
    if isinstance(expr, ListExpr):
        return exactly(len(expr.elements))
    if isinstance(expr, MapExpr):
        return exactly(len(expr.entries))
    return None


_SCALARS: Final = frozenset({BOOL, INT, UINT, DOUBLE, DURATION, TIMESTAMP})


def of_type(type_: Type) -> Bounds | None:
    """The size that all values of a type have; None if they differ."""
    while is_optional(type_):
        type_ = type_.parameters[0]
    return ONE if type_ in _SCALARS else None


class Variable(Struct, frozen=True, gc=False):
    """A loop variable, or the variable of `cel.bind`."""

    path: Path
    size: Bounds | None
    entries: Entries | None = None


class KnownSizes:
    """Sizes, entries and paths by the id of a node, and the variables of the folds around it."""

    def __init__(self, types: Mapping[int, Type]) -> None:
        self._types = types
        self._sizes: dict[int, Bounds] = {}
        self._entries: dict[int, Entries] = {}
        self._paths: dict[int, Path] = {}
        self._variables: dict[str, list[Variable]] = {}

    def learn(self, expr: Expr, size: Bounds | None, entries: Entries | None) -> None:
        """Note a size and entries; None changes nothing."""
        if size is not None:
            self._sizes[expr.id] = size
        if entries is not None:
            self._entries[expr.id] = entries

    def learn_path(self, expr: Expr, path: Path) -> None:
        self._paths[expr.id] = path

    def copy(self, source: Expr, target: Expr) -> None:
        """Give one node the size of another."""
        self.learn(target, self.size(source), self.entries(source))

    def enter(self, name: str, variable: Variable) -> None:
        """Declare a variable until `leave`."""
        self._variables.setdefault(name, []).append(variable)

    def leave(self, name: str) -> None:
        self._variables[name].pop()

    def variable(self, name: str) -> Variable | None:
        """The variable of that name, if a fold around has declared one."""
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def path(self, expr: Expr) -> Path:
        variable = self._variable_of(expr)
        return self._paths.get(expr.id, COMPUTED) if variable is None else variable.path

    def size(self, expr: Expr) -> Bounds | None:
        """The first of these that is known: noted, literal, by path, by type, of the variable."""
        size = self._sizes.get(expr.id)
        if size is None:
            size = of_literal(expr)
        if size is None:
            size = DECLARED.get(self.path(expr))
        if size is None:
            size = of_type(self._types[expr.id])
        if size is None:
            variable = self._variable_of(expr)
            size = None if variable is None else variable.size
        return size

    def size_or_unknown(self, expr: Expr) -> Bounds:
        size = self.size(expr)
        return UNKNOWN if size is None else size

    def entries(self, expr: Expr) -> Entries | None:
        entries = self._entries.get(expr.id)
        if entries is None:
            variable = self._variable_of(expr)
            entries = None if variable is None else variable.entries
        return entries

    def _variable_of(self, expr: Expr) -> Variable | None:
        return self.variable(expr.name.removeprefix(".")) if isinstance(expr, Ident) else None
