"""What the checker notes about an expression, and its result for the later steps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from extender.match.cel.check.declarations import CONSTANTS, FIELDS, TYPE_NAMES, VARIABLES
from extender.match.cel.check.unification import Unifier, checked_size
from extender.match.cel.library.messages import KINDS
from extender.match.cel.syntax.ast import Expr
from extender.match.cel.syntax.source import Issue
from extender.match.cel.types import DYN, ERROR, INT, TAINT, Type, describe, type_of


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked expression; the keys of the mappings are ids of nodes."""

    root: Expr
    types: Mapping[int, Type]  # of every node, without type variables
    # The ids of the overloads that fit each call, in upstream's order. Several fit only if an
    # argument is dyn.
    overloads: Mapping[int, tuple[str, ...]]
    # Resolved names: of identifiers and selections, the variable `taint` or a type (`int`,
    # `google.protobuf.Duration`); of objects, their type; of calls, the function where the call
    # spells it otherwise, in a namespace (`sets.contains`, whose target is then no expression) or
    # with a leading dot. Loop variables are not in it.
    names: Mapping[int, str]


# Types that upstream knows as objects without any field.
_FIELDLESS: Final = frozenset(
    {
        "bool",
        "bytes",
        "double",
        "duration",
        "int",
        "list",
        "null_type",
        "string",
        "timestamp",
        "uint",
    }
)


class Notes:
    """Types, overloads and names by node, the variables in scope, and all issues so far."""

    def __init__(self) -> None:
        self.issues: Final[list[Issue]] = []
        self.types: Final[dict[int, Type]] = {}
        self.overloads: Final[dict[int, tuple[str, ...]]] = {}
        self.names: Final[dict[int, str]] = {}
        self.unifier: Final = Unifier()
        self._locals: Final[dict[str, list[Type]]] = {}

    def checked(self, root: Expr) -> Checked:
        """The result, once every node has been visited."""
        settle = self.unifier.settle
        types = {node: settle(type_) for node, type_ in self.types.items()}
        return Checked(root, types, self.overloads, self.names)

    def set(self, expr: Expr, type_: Type) -> None:
        self.types[expr.id] = checked_size(type_)

    def report(self, offset: int, message: str) -> None:
        self.issues.append(Issue(offset, message))

    def refuse(self, expr: Expr, message: str) -> None:
        """Report, and go on with the error type."""
        self.report(expr.offset, message)
        self.set(expr, ERROR)

    def undeclared(self, expr: Expr, name: str) -> None:
        self.refuse(expr, f"undeclared reference to '{name}' (in container '')")

    def mismatch(self, expr: Expr, expected: Type, found: Type) -> None:
        message = f"expected type '{describe(expected)}' but found '{describe(found)}'"
        self.report(expr.offset, message)

    def enter(self, variables: Mapping[str, Type]) -> None:
        for name, type_ in variables.items():
            self._locals.setdefault(name, []).append(type_)

    def leave(self, variables: Iterable[str]) -> None:
        for name in variables:
            self._locals[name].pop()

    def look_up(self, name: str) -> Type | None:
        """The type of a declared name. A local variable hides a global one."""
        local = self._locals.get(name)
        if local:
            return local[-1]
        if name in VARIABLES:
            return VARIABLES[name]
        if name in CONSTANTS:
            return INT
        return type_of(TYPE_NAMES[name]) if name in TYPE_NAMES else None

    def resolve_name(self, expr: Expr, name: str) -> bool:
        """Resolve an expression as a declared name; False if there is none."""
        name = name.removeprefix(".")
        type_ = self.look_up(name)
        if type_ is None:
            return False
        self.set(expr, type_)
        if not self._locals.get(name):
            self.names[expr.id] = name
        return True

    def field_type(self, offset: int, type_name: str, field: str) -> Type:
        """The type of a field of an object."""
        if type_name == "map":
            return DYN
        if type_name == TAINT.name and field in FIELDS:
            return FIELDS[field]
        if type_name in KINDS and field in KINDS[type_name].fields:
            return KINDS[type_name].fields[field].type
        if type_name == TAINT.name or type_name in _FIELDLESS or type_name in KINDS:
            self.report(offset, f"undefined field '{field}'")
        else:
            self.report(offset, f"unexpected failed resolution of '{type_name}'")
        return ERROR
