"""How bad it is."""

import pytest

from extender.review.doctor import problems
from extender.review.doctor.problems import Problem, Severity


def a_problem(severity: Severity, check: str = "c") -> Problem:
    return Problem(severity, check, "here", "why", "fix")


def test_the_worst_stands_first_and_each_once() -> None:
    found = [a_problem("info"), a_problem("warning", "b"), a_problem("warning"), a_problem("error")]

    assert problems.worst_first([*found, found[1]]) == [found[3], found[1], found[2], found[0]]


@pytest.mark.parametrize(
    ("severities", "code"),
    [
        ([], 0),
        (["info"], 0),
        (["info", "warning"], 3),
        (["warning", "error", "info"], 1),
    ],
)
def test_the_exit_code_is_the_worst(severities: list[Severity], code: int) -> None:
    assert problems.exit_code(severities) == code
