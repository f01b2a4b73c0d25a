"""cel-python's answers to expressions that both engines understand.

It sees only what is written here and what hypothesis makes from it; never foreign input.
"""

import sys
from typing import Any

import celpy
import pytest
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from extender.match.cel.faults import CompileError
from extender.match.cel.program import compile_expression

FIELDS = st.sampled_from(["taint.key", "taint.value", "taint.effect"])
WORDS = st.sampled_from(["", "a", "sla", "950", "NoSchedule", "env.example.com/dev", "é"])
NUMBERS = st.integers(-20, 20)


def quoted(text: str) -> str:
    return f"'{text}'"


def comparisons() -> st.SearchStrategy[str]:
    texts = st.one_of(FIELDS, WORDS.map(quoted))
    numbers = st.one_of(NUMBERS.map(lambda n: f"({n})"), FIELDS.map("size({})".format))
    order = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds("{} {} {}".format, texts, order, texts),
        st.builds("{} {} {}".format, numbers, order, numbers),
        st.builds("{} {} {} == {}".format, numbers, st.sampled_from("+-*"), numbers, numbers),
        st.builds("{}.startsWith({})".format, FIELDS, texts),
        st.builds("{}.endsWith({})".format, FIELDS, texts),
        st.builds("{}.contains({})".format, FIELDS, texts),
        st.builds("{} in [{}, {}]".format, FIELDS, texts, texts),
        st.builds("[{}, {}].exists(x, x == {})".format, texts, texts, texts),
        st.builds("[{}, {}].all(x, x != {})".format, texts, texts, texts),
        st.builds("{}.matches('^[a-z]+$')".format, FIELDS),
        st.sampled_from(["true", "false", "has(taint.key)", "1 / 0 == 1", "int('x') == 1"]),
    )


EXPRESSIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("!({})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
    ),
    max_leaves=6,
)


def environment_of_celpy() -> celpy.Environment:
    """Python's limit of recursion stays: it would be raised for all tests that follow."""
    limit = sys.getrecursionlimit()
    try:
        return celpy.Environment(runner_class=celpy.InterpretedRunner)
    finally:
        sys.setrecursionlimit(limit)


def second_opinion(expression: str, taint: dict[str, str]) -> bool | None:
    environment = environment_of_celpy()
    program = environment.program(environment.compile(expression))
    activation: Any = {"taint": json_to_cel(taint)}
    try:
        return bool(program.evaluate(activation))
    except CELEvalError:
        return None


@settings(max_examples=150, deadline=None)
@given(expression=EXPRESSIONS, key=WORDS, value=WORDS)
def test_both_engines_agree(expression: str, key: str, value: str) -> None:
    try:
        program = compile_expression(expression)
    except CompileError:
        assume(False)  # int('x') is folded, and fails before anything runs
    ours = program.evaluate(key, value, "NoSchedule").result
    taint = {"key": key, "value": value, "effect": "NoSchedule"}

    assert ours == second_opinion(expression, taint)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("taint.key.startsWith('env.example.com/')", True, id="a prefix"),
        pytest.param("taint.key == 'x' || taint.value == 'true'", True, id="alternatives"),
        pytest.param("taint.value == 'false' && 1 / 0 == 1", False, id="an absorbed error"),
        pytest.param("1 / 0 == 1 || false", None, id="an error"),
    ],
)
def test_they_are_asked_the_same(expression: str, expected: bool | None) -> None:
    taint = {"key": "env.example.com/dev", "value": "true", "effect": "NoSchedule"}

    assert second_opinion(expression, taint) is expected
    assert compile_expression(expression).evaluate(**taint).result is expected
