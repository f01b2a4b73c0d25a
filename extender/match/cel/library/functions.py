"""How a function is described: once, with all that the other steps ask about it.

`check` reads the signature of an overload, `cost` its estimate and its charge, `plan` its work and
what runs. The topic modules of this folder each hold a table of such descriptions.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from extender.match.cel.library.charges import NOTHING, ONE, Charge, Work
from extender.match.cel.library.estimates import Rule, nominal
from extender.match.cel.types import (
    AUTHORIZATION,
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NAMED_FORMAT,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
    variable,
)

Run = Callable[..., Any]


class Signature(NamedTuple):
    """The types of a call."""

    parameters: tuple[Type, ...]
    result: Type
    member: bool
    variables: tuple[str, ...]


class Overload(Struct, frozen=True):
    """One way to call a function."""

    id: str
    function: str
    parameters: tuple[Type, ...]  # the receiver of a member is the first
    result: Type
    member: bool
    variables: tuple[str, ...]
    # None if the planner handles the call itself, or if no value can have the type of the receiver.
    run: Run | None
    estimate: Rule  # the worst case, before anything runs
    charge: Charge  # upstream's cost of one call, when it runs
    work: Work  # what one call does beyond its charge


class Function(Struct, frozen=True):
    """All overloads under one name, in upstream's order.

    The order decides the type and the estimate of a call where several overloads fit.
    """

    name: str
    overloads: tuple[Overload, ...]
    charge: Charge  # where several overloads fit: upstream then goes by the name of the function
    # Upstream has one implementation for all overloads: it evaluates all arguments even if one
    # fails, and its error text is shorter.
    is_singleton: bool


class Draft(NamedTuple):
    """An overload without what it takes over from its function."""

    id: str
    signature: str
    run: Run | None
    estimate: Rule | None
    charge: Charge | None
    work: Work | None


def overload(
    overload_id: str,
    signature: str,
    run: Run | None = None,
    *,
    estimate: Rule | None = None,
    charge: Charge | None = None,
    work: Work | None = None,
) -> Draft:
    """One way to call a function; what is left out is as the function says."""
    return Draft(overload_id, signature, run, estimate, charge, work)


def function(
    name: str,
    *overloads: Draft,
    estimate: Rule = nominal,
    charge: Charge = ONE,
    work: Work = NOTHING,
    singleton: bool = False,
) -> Function:
    """A function; estimate, charge and work hold for all overloads that have none of their own."""
    complete = tuple(
        Overload(
            draft.id,
            name,
            *read_signature(draft.signature),
            run=draft.run,
            estimate=draft.estimate or estimate,
            charge=draft.charge or charge,
            work=draft.work or work,
        )
        for draft in overloads
    )
    return Function(name, complete, charge, singleton)


def by_name(tables: Iterable[Iterable[Function]]) -> dict[str, Function]:
    """All functions; overloads of one name in several tables are put together, in their order."""
    functions: dict[str, Function] = {}
    for table in tables:
        for each in table:
            known = functions.get(each.name)
            if known is not None:
                if (known.charge, known.is_singleton) != (each.charge, each.is_singleton):
                    raise ValueError(f"two descriptions of {each.name} disagree")
                each = replace(each, overloads=known.overloads + each.overloads)
            functions[each.name] = each
    return functions


_NAMED_TYPES: Final[Mapping[str, Type]] = {
    **{type_.name: type_ for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, DYN)},
    **{type_.name.rpartition(".")[2]: type_ for type_ in AUTHORIZATION},
    "timestamp": TIMESTAMP,
    "duration": DURATION,
    "semver": SEMVER,
    "quantity": QUANTITY,
    "url": URL,
    "named_format": NAMED_FORMAT,
    "ip": IP,
    "cidr": CIDR,
}
_CONTAINERS: Final[Mapping[str, Callable[..., Type]]] = {
    "list": list_of,
    "map": map_of,
    "optional": optional_of,
    "type": type_of,
}
_TYPE_TOKEN: Final = re.compile(r"\w+|[()]")
_SIGNATURE: Final = re.compile(r"(?:(?P<receiver>.+)\.)?(?P<parameters>\(.*\)) -> (?P<result>.+)")


def read_signature(text: str) -> Signature:
    """`list(T).(int) -> T`: a receiver is before the dot, a single capital is a type variable."""
    parts = _SIGNATURE.fullmatch(text)
    if parts is None:
        raise ValueError(f"no signature: {text}")
    receiver = parts["receiver"]
    parameters = _types(receiver or "") + _types(parts["parameters"][1:-1])
    (result,) = _types(parts["result"])
    variables = tuple(dict.fromkeys(_variables((result, *parameters))))
    return Signature(parameters, result, receiver is not None, variables)


def _types(text: str) -> tuple[Type, ...]:
    """The types that are written in `text`, one beside the other."""
    open_types: list[tuple[str, list[Type]]] = [("", [])]
    name = ""
    for word in _TYPE_TOKEN.findall(text):
        siblings = open_types[-1][1]
        if word == "(":
            open_types.append((name, []))
        elif word == ")":
            container, inner = open_types.pop()
            open_types[-1][1].append(_CONTAINERS[container](*inner))
        elif word not in _CONTAINERS:
            siblings.append(_NAMED_TYPES.get(word) or variable(word))
        name = word
    return tuple(open_types[0][1])


def _variables(types: tuple[Type, ...]) -> Iterator[str]:
    for type_ in types:
        if type_.kind == "var":
            yield type_.name
        yield from _variables(type_.parameters)
