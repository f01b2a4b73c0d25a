"""How the tests call a function of the library: by its overload id, errors as values."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import OVERLOADS
from extender.match.cel.values import Value

RUN: Final[Mapping[str, Callable[..., Any]]] = {
    overload.id: overload.run for overload in OVERLOADS.values() if overload.run is not None
}


class Refused(NamedTuple):
    """An error of the evaluation, by its text."""

    text: str


def call(overload: str, *arguments: Value) -> tuple[type, Value]:
    """The type beside the value: in Python 1, 1.0 and True are equal."""
    try:
        return typed(RUN[overload](*arguments))
    except EvaluationError as fault:
        return typed(Refused(str(fault)))


def typed(value: Value) -> tuple[type, Value]:
    return type(value), value
