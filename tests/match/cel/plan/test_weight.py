"""The memory of a plan, told apart from what all plans share."""

import sys
from collections.abc import Callable

from extender.match.cel.plan.weight import bytes_of
from extender.match.cel.types import STRING, list_of


def holding(*values: object) -> Callable[[], object]:
    return lambda: values


def test_a_closure_weighs_what_it_holds() -> None:
    text = "a" * 1_000

    assert bytes_of(holding(text)) - bytes_of(holding("")) > 1_200


def test_what_is_held_twice_weighs_once() -> None:
    text = "a" * 1_000

    assert bytes_of(holding(text, text)) - bytes_of(holding(text)) < 100


def test_closures_in_closures_and_their_defaults_count() -> None:
    text = "a" * 1_000

    def function(value: str = text) -> str:
        return value

    assert bytes_of(holding(holding(function))) > 1_000


def test_what_all_plans_share_weighs_nothing() -> None:
    shared = (sys, str, len, list_of(STRING))

    assert bytes_of(holding(*shared)) - bytes_of(holding()) < 100
