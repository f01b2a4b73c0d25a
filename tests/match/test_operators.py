import pytest

from extender.match import operators
from extender.match.gates import FeatureGates
from extender.match.operators import AnyComparison, Operators

BOTH = [
    pytest.param(operators.TOLERATION, id="of tolerations"),
    pytest.param(operators.AFFINITY, id="of node affinity"),
]


def comparison_of(table: Operators, name: str) -> AnyComparison:
    comparison = table[name].comparison
    assert comparison is not None
    return comparison


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
    table: Operators, operator: str, rule: str, below: bool, equal: bool, above: bool
) -> None:
    test = comparison_of(table, operator).against(rule)

    assert test is not None
    assert (test("899"), test("900"), test("901")) == (below, equal, above)


@pytest.mark.parametrize("table", BOTH)
@pytest.mark.parametrize("operator", ["Gt", "Lt", "SemverGt", "SemverLt", "SemverEq"])
def test_a_value_that_does_not_parse_is_neither_true_nor_false(
    table: Operators, operator: str
) -> None:
    comparison = comparison_of(table, operator)
    test = comparison.against("900")

    assert comparison.against("high") is None
    assert test is not None
    assert test("high") is None


def test_only_node_affinity_takes_leading_zeros() -> None:
    affinity = comparison_of(operators.AFFINITY, "Gt").against("0900")

    assert affinity is not None
    assert affinity("0901") is True
    assert comparison_of(operators.TOLERATION, "Gt").against("0900") is None


@pytest.mark.parametrize("table", BOTH)
def test_the_kinds_are_those_that_are_counted(table: Operators) -> None:
    found = {name: each.kind for name, each in table.items() if each.kind != "string"}

    assert found == {
        "Gt": "integer",
        "Lt": "integer",
        "SemverGt": "semver",
        "SemverLt": "semver",
        "SemverEq": "semver",
    }


@pytest.mark.parametrize(
    ("name", "counts"),
    [("In", [1, 2]), ("NotIn", [1, 2]), ("Exists", [0]), ("DoesNotExist", [0]), ("Gt", [1])],
)
def test_an_operator_knows_how_many_values_it_takes(name: str, counts: list[int]) -> None:
    assert [count for count in range(3) if operators.AFFINITY[name].takes(count)] == counts


def test_only_tolerations_need_a_gate_for_integers() -> None:
    off = FeatureGates(comparison_operators=False, semver_operators=False)

    assert [each.name for each in operators.TOLERATION.values() if each.is_on(off)] == [
        "Equal",
        "Exists",
    ]
    assert operators.AFFINITY["Gt"].is_on(off)
    assert not operators.AFFINITY["SemverGt"].is_on(off)


def test_a_toleration_without_an_operator_is_equal() -> None:
    assert operators.toleration("") is operators.TOLERATION["Equal"]
    assert operators.toleration("Like") is None


@pytest.mark.parametrize(
    ("alias", "toleration", "affinity"),
    [(">", "Gt", "Gt"), ("==", "Equal", "In"), ("!=", None, "NotIn"), ("~", None, None)],
)
def test_symbols_of_other_languages_are_known(
    alias: str, toleration: str | None, affinity: str | None
) -> None:
    assert operators.meant_by(alias, operators.TOLERATION) == toleration
    assert operators.meant_by(alias, operators.AFFINITY) == affinity


def test_siblings_are_listed_in_the_order_of_upstream() -> None:
    of = operators.AFFINITY

    assert operators.siblings(of["Gt"], of) == ("Lt", "Gt")
    assert operators.siblings(of["In"], of) == ("In", "NotIn")
    assert operators.siblings(of["SemverEq"], of) == ("SemverLt", "SemverGt", "SemverEq")
