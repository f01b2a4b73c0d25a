"""The value next to the one that misses, and the word that was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.match import operators
from extender.match.operators import AnyComparison, Operators
from extender.review.explain import nearness

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
COMPARING = sorted(name for name, each in operators.TOLERATION.items() if each.comparison)


def comparison(operator: str, table: Operators = operators.TOLERATION) -> AnyComparison:
    found = table[operator].comparison
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("operator", "actual", "expected"),
    [
        ("Gt", "950", "949"),
        ("Lt", "950", "951"),
        ("Gt", "0950", None),
        ("Gt", str(INT64_MIN), None),
        ("Lt", str(INT64_MAX), None),
        ("SemverGt", "5.15.0-91-generic", "5.15.0-0"),
        ("SemverGt", "5.15", "5.15.0-0"),
        ("SemverGt", "5.15.0-0", None),
        ("SemverLt", "5.15.0-91-generic", "5.15.0"),
        ("SemverLt", "v5.15.0", "5.15.1"),
        ("SemverEq", "v1.2", "1.2.0"),
        ("SemverEq", "1.2.3-rc.1+build", "1.2.3-rc.1"),
        ("SemverGt", "6.1_2", None),
    ],
)
def test_the_bound_next_to_a_value(operator: str, actual: str, expected: str | None) -> None:
    assert nearness.bound(comparison(operator), actual) == expected


def test_affinity_reads_numbers_that_tolerations_do_not() -> None:
    assert nearness.bound(comparison("Gt", operators.AFFINITY), "0950") == "949"


@given(
    operator=st.sampled_from(COMPARING),
    actual=st.integers(INT64_MIN, INT64_MAX).map(str)
    | st.from_regex(r"v?[0-9]{1,3}(\.[0-9]{1,3}){0,2}(-[a-z0-9]{1,4})?", fullmatch=True),
)
def test_a_bound_always_holds(operator: str, actual: str) -> None:
    bound = nearness.bound(comparison(operator), actual)
    if bound is not None:
        test = comparison(operator).against(bound)
        assert test is not None
        assert test(actual) is True


def test_the_number_that_somebody_meant() -> None:
    texts = ["0950", "+5", " 950 ", "950", "95.5", ""]

    assert [nearness.canonical(text) for text in texts] == ["950", "5", "950", None, None, None]


def test_how_far_a_change_goes() -> None:
    assert (
        nearness.distance(comparison("Gt"), "950", "949")
        < nearness.distance(comparison("Gt"), "950", "799")
        < 1
    )
    assert nearness.distance(comparison("Gt"), "x", "949") == 1
    assert nearness.distance(comparison("SemverGt"), "v5.15.0", "5.15.0-0") < nearness.distance(
        comparison("SemverGt"), "6.0.0", "5.15.0-0"
    )


@pytest.mark.parametrize(
    ("operator", "value", "actual", "expected"),
    [
        ("Gt", "950", "950", ""),
        ("Gt", "0950", "951", ', because "0950" is not an integer in canonical form'),
        (
            "SemverGt",
            "5.15.x",
            "5.15.0",
            ', because "5.15.x" is not a version (Invalid character(s) found in patch number "x")',
        ),
        (
            "SemverGt",
            "5.15.0",
            "5.15.0-91",
            ", which is a pre-release and so comes before 5.15.0",
        ),
        ("SemverGt", "6.0.0", "5.15.0-91", ""),
    ],
)
def test_why_a_comparison_misses(operator: str, value: str, actual: str, expected: str) -> None:
    assert nearness.because(comparison(operator), value, actual) == expected
