"""How comparisons are put into words."""

import pytest

from extender.match import operators
from extender.review.explain import words
from extender.review.explain.words import Side


@pytest.mark.parametrize(
    ("operator", "rule", "node", "holds", "expected"),
    [
        ("Gt", ("950", "950"), ("950", "950"), False, "950 is not greater than 950"),
        ("Lt", ("950", "950"), ("900", "900"), True, "900 is less than 950"),
        (
            "Gt",
            ("x", None),
            ("high", None),
            False,
            'the rule\'s "x" is not an integer; the node\'s "high" is not an integer',
        ),
        ("SemverEq", ("1.2", "1.2.0"), ("v1.2.0", "1.2.0"), True, "1.2.0 is equal to 1.2.0"),
        (
            "SemverGt",
            ("5.15.0", "5.15.0"),
            ("5.15.0-91", "5.15.0-91"),
            False,
            "5.15.0-91 is not greater than 5.15.0: what follows the dash makes it a pre-release,"
            " which comes before 5.15.0",
        ),
        (
            "SemverGt",
            ("6.0.0", "6.0.0"),
            ("5.15.0-91", "5.15.0-91"),
            False,
            "5.15.0-91 is not greater than 6.0.0",
        ),
        (
            "SemverLt",
            ("1.2.0", "1.2.0"),
            ("6.1_2", None),
            False,
            'the node\'s "6.1_2" is not a version:'
            ' Invalid character(s) found in minor number "1_2"',
        ),
    ],
)
def test_a_comparison_in_words(
    operator: str,
    rule: tuple[str, str | None],
    node: tuple[str, str | None],
    holds: bool,
    expected: str,
) -> None:
    comparison = operators.AFFINITY[operator].comparison
    assert comparison is not None

    said = words.compared(comparison, Side("rule", *rule), Side("node", *node), holds=holds)

    assert said == expected


def test_a_value_among_others() -> None:
    assert words.one_of("a", ("a",)) == '"a" is "a"'
    assert words.one_of("", ("a", "b")) == '"" is not one of "a", "b"'


def test_a_version_has_no_problem() -> None:
    assert words.version_problem("v1.2") == ""
    assert words.version_problem("x") == 'Invalid character(s) found in major number "x"'


def test_numbers_of_things() -> None:
    assert [words.counted(n, "node") for n in (0, 1, 2)] == ["0 nodes", "1 node", "2 nodes"]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("pod annotation scheduling.leeway/tolerations is invalid: must be a list", "annotation"),
        ('persistentvolume "a" annotation x/node-affinity is invalid: no', "annotation"),
        ("node(s) were unschedulable", "NodeUnschedulable"),
        ("", "NodeUnschedulable"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_the_cause(reason: str, expected: str) -> None:
    assert words.cause("NodeUnschedulable", reason) == expected
