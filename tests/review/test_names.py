"""The rows of the real code have most of it; here are the corners and the agreement with match."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.match.selectors import is_label_key, is_label_value
from extender.review import names

TEXTS = st.text(alphabet=string.ascii_letters + string.digits + "-_./ é", max_size=70)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("a/b/c", ["a valid label key must consist"]),
        ("", ["name part must be non-empty", "name part must consist"]),
        ("/a", ["prefix part must be non-empty"]),
        ("a/", ["name part must be non-empty", "name part must consist"]),
        ("A/b", ["prefix part a lowercase RFC 1123 subdomain"]),
        ("n" * 64, ["name part must be no more than 63 bytes"]),
        ("é" * 32, ["name part must be no more than 63 bytes", "name part must consist"]),
        ("p" * 254 + "/n", ["prefix part must be no more than 253 bytes"]),
        ("example.com/name", []),
    ],
)
def test_problems_of_a_label_key(text: str, begins: list[str]) -> None:
    problems = list(names.label_key_problems(text))

    assert len(problems) == len(begins)
    for problem, begin in zip(problems, begins, strict=True):
        assert problem.startswith(begin)


@given(TEXTS)
def test_a_key_has_problems_exactly_if_matching_does_not_take_it(text: str) -> None:
    assert (not list(names.label_key_problems(text))) is is_label_key(text)


@given(TEXTS)
def test_a_value_has_problems_exactly_if_matching_does_not_take_it(text: str) -> None:
    assert (not list(names.label_value_problems(text))) is is_label_value(text)


def test_a_name_may_be_long_or_odd_or_both() -> None:
    too_long = "must be no more than 253 characters"

    assert list(names.node_name_problems("worker-1.example")) == []
    assert list(names.node_name_problems("w" * 254)) == [too_long]
    assert next(names.node_name_problems("é" * 127)) == too_long
    assert len(list(names.node_name_problems("W" * 254))) == 2
