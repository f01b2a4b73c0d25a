"""Unification: which types fit each other, and which types the variables get.

The rules are those of cel-go: dyn and error fit everything, null fits objects, opaque types,
durations, timestamps and wrappers, and a variable takes the most general of the types that it
meets.
"""

from collections.abc import Sequence
from typing import Final

from extender.errors import LeewayError
from extender.match.cel.library.functions import Overload
from extender.match.cel.types import DYN, Type, is_wrapper, parametric, variable

# Types nest as deep as literals do (250), unless chained macros build them; upstream then takes
# exponential time. No honest expression comes near these numbers.
MAX_WEIGHT: Final = 1_000
MAX_DEPTH: Final = 256
MAX_STEPS: Final = 200_000

_WILDCARDS: Final = ("dyn", "any", "error")
_LEAST_SPECIFIC: Final = ("dyn", "any", "var")
_NULLABLE: Final = ("null", "object", "opaque", "well_known")

# Two types to unify; with a variable, two unified types, the more general of which it gets.
_Work = list[tuple[Type, Type, Type | None]]


class TypeTooLargeError(LeewayError):
    """A type, or the work of unifying types, that is larger than any honest expression needs."""


class Unifier:
    """The type variables of one expression, with what is known about each."""

    __slots__ = ("_bindings", "_fresh", "_steps", "_trail")

    def __init__(self) -> None:
        self._bindings: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._fresh = 0
        self._steps = 0

    def fresh(self) -> Type:
        """A new variable."""
        name = f"_var{self._fresh}"
        self._fresh += 1
        return variable(name)

    def assignable(self, given: Type, wanted: Type) -> bool:
        """Whether the types fit. If not, no variable is bound."""
        return self.all_assignable((given,), (wanted,))

    def all_assignable(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        """Whether the types fit pair by pair. If not, no variable is bound."""
        self._trail.clear()
        if self._unify_all(given, wanted):
            return True
        for name, before in reversed(self._trail):
            if before is None:
                del self._bindings[name]
            else:
                self._bindings[name] = before
        return False

    def instantiate(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Parameters and result of an overload, with fresh variables for this call."""
        if not overload.variables:
            return overload.parameters, overload.result
        own = {name: self.fresh() for name in overload.variables}
        parameters = tuple([_rename(own, parameter) for parameter in overload.parameters])
        return parameters, _rename(own, overload.result)

    def resolve(self, type_: Type) -> Type:
        """The type, with its bound variables replaced."""
        return self._substitute(type_, None, 0)

    def settle(self, type_: Type) -> Type:
        """The type at the end of the check: variables that are still unbound become dyn."""
        return self._substitute(type_, DYN, 0)

    def _step(self, depth: int = 0) -> None:
        self._steps += 1
        if depth > MAX_DEPTH or self._steps > MAX_STEPS:
            raise TypeTooLargeError("the types are too large")

    def _unify_all(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        """Depth first, left to right, as upstream recurses: the order decides the bindings."""
        if len(given) != len(wanted):
            return False
        work: _Work = _pairs(given, wanted)
        while work:
            self._step()
            one, other, to_generalize = work.pop()
            if to_generalize is not None:
                self._generalize(to_generalize, one, other)
            elif not self._unify(one, other, work):
                return False
        return True

    def _unify(self, given: Type, wanted: Type, work: _Work) -> bool:
        """False if the outer types do not fit; their parameters are added to the work."""
        if given == wanted:
            return True
        if wanted.kind == "var" and self._bind(given, wanted, work):
            return True
        if given.kind == "var":
            return self._bind(wanted, given, work)
        if given.kind in _WILDCARDS or wanted.kind in _WILDCARDS:
            return True
        if given.kind == "null" or wanted.kind == "null":
            return _takes_null(given) and _takes_null(wanted)
        if given.kind != wanted.kind:
            return False
        if given.kind == "type":
            return True
        if given.name != wanted.name or len(given.parameters) != len(wanted.parameters):
            return False
        work += _pairs(given.parameters, wanted.parameters)
        return True

    def _bind(self, type_: Type, name: Type, work: _Work) -> bool:
        """Bind a variable to a type, unless the type contains the variable."""
        known = self._bindings.get(name.name)
        if known is None:
            if self._occurs(name, type_):
                return False
            self._assign(name, type_)
        elif type_ != known:
            work += ((type_, known, name), (type_, known, None))
        return True

    def _generalize(self, name: Type, type_: Type, known: Type) -> None:
        general = most_general(type_, known)
        if not self._occurs(name, general):
            self._assign(name, general)

    def _assign(self, name: Type, type_: Type) -> None:
        self._trail.append((name.name, self._bindings.get(name.name)))
        self._bindings[name.name] = type_

    def _occurs(self, name: Type, within: Type) -> bool:
        work = [within]
        while work:
            self._step()
            part = work.pop()
            if part == name:
                return True
            known = self._bindings.get(part.name) if part.kind == "var" else None
            work += [inner for inner in part.parameters if inner.is_open]
            work += () if known is None else (known,)
        return False

    def _substitute(self, type_: Type, unknown: Type | None, depth: int) -> Type:
        self._step(depth)
        if not type_.is_open:
            return type_
        if type_.kind == "var":
            known = self._bindings.get(type_.name)
            if known is not None:
                return self._substitute(known, unknown, depth + 1)
            return unknown or type_
        inner = [self._substitute(part, unknown, depth + 1) for part in type_.parameters]
        return checked_size(parametric(type_.kind, type_.name, tuple(inner)))


def _takes_null(type_: Type) -> bool:
    return type_.kind in _NULLABLE or is_wrapper(type_)


def _pairs(given: Sequence[Type], wanted: Sequence[Type]) -> _Work:
    work: _Work = [(one, other, None) for one, other in zip(given, wanted, strict=True)]
    work.reverse()  # taken from the end
    return work


def checked_size(type_: Type) -> Type:
    """The type, unless it is too large."""
    if type_.weight > MAX_WEIGHT or type_.depth > MAX_DEPTH:
        raise TypeTooLargeError("the types are too large")
    return type_


def _rename(own: dict[str, Type], type_: Type) -> Type:
    if type_.kind == "var":
        return own[type_.name]
    if not type_.is_open:
        return type_
    inner = [_rename(own, parameter) for parameter in type_.parameters]
    return parametric(type_.kind, type_.name, tuple(inner))


def most_general(one: Type, other: Type) -> Type:
    """The less specific of two types that fit each other."""
    return one if _equal_or_less_specific(one, other) else other


def _equal_or_less_specific(one: Type, other: Type) -> bool:
    if one.kind in _LEAST_SPECIFIC:
        return True
    if other.kind in _LEAST_SPECIFIC or one.kind != other.kind:
        return False
    if one.kind == "type":
        return True
    if one.name != other.name or len(one.parameters) != len(other.parameters):
        return False
    return all(map(_equal_or_less_specific, one.parameters, other.parameters))
