import pytest

from extender.match import comparisons
from extender.match.comparisons import Comparisons

BOTH = [
    pytest.param(comparisons.OF_TOLERATIONS, id="of tolerations"),
    pytest.param(comparisons.OF_AFFINITY, id="of node affinity"),
]


@pytest.mark.parametrize("table", BOTH)
@pytest.mark.parametrize(
    ("operator", "rule", "below", "equal", "above"),
    [
        pytest.param("Gt", "900", False, False, True, id="Gt"),
        pytest.param("Lt", "900", True, False, False, id="Lt"),
        pytest.param("SemverGt", "v900", False, False, True, id="SemverGt"),
        pytest.param("SemverLt", "v900", True, False, False, id="SemverLt"),
        pytest.param("SemverEq", "v900", False, True, False, id="SemverEq"),
    ],
)
def test_the_value_of_the_node_is_compared_to_the_rule(
    table: Comparisons, operator: str, rule: str, below: bool, equal: bool, above: bool
) -> None:
    test = table[operator].against(rule)

    assert test is not None
    assert (test("899"), test("900"), test("901")) == (below, equal, above)


@pytest.mark.parametrize("table", BOTH)
@pytest.mark.parametrize("operator", ["Gt", "Lt", "SemverGt", "SemverLt", "SemverEq"])
def test_a_value_that_does_not_parse_is_neither_true_nor_false(
    table: Comparisons, operator: str
) -> None:
    comparison = table[operator]
    test = comparison.against("900")

    assert comparison.against("high") is None
    assert test is not None
    assert test("high") is None


def test_only_node_affinity_takes_leading_zeros() -> None:
    affinity = comparisons.OF_AFFINITY["Gt"].against("0900")

    assert affinity is not None
    assert affinity("0901") is True
    assert comparisons.OF_TOLERATIONS["Gt"].against("0900") is None


@pytest.mark.parametrize("table", BOTH)
def test_the_kinds_are_those_that_are_counted(table: Comparisons) -> None:
    assert {name: comparison.kind for name, comparison in table.items()} == {
        "Gt": "integer",
        "Lt": "integer",
        "SemverGt": "semver",
        "SemverLt": "semver",
        "SemverEq": "semver",
    }
