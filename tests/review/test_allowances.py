import pytest

from extender.match.gates import FeatureGates
from extender.model.core_v1 import NodeSelectorRequirement, NodeSelectorTerm, Toleration
from extender.review import allowances

OFF = FeatureGates(comparison_operators=False, semver_operators=False, cel=False)


def term(operator: str) -> NodeSelectorTerm:
    return NodeSelectorTerm((NodeSelectorRequirement("key", operator, ("1",)),))


def test_what_is_on_is_allowed() -> None:
    assert allowances.of(FeatureGates(), (), ()) == FeatureGates()


def test_what_is_off_is_not() -> None:
    assert allowances.of(OFF, (), ()) == OFF


@pytest.mark.parametrize(
    ("rules", "terms", "expected"),
    [
        pytest.param([Toleration("k", "Gt", "1")], [], (True, False, False), id="Gt"),
        pytest.param([Toleration("k", "Lt", "1")], [], (True, False, False), id="Lt"),
        pytest.param([Toleration("k", "SemverEq", "1")], [], (False, True, False), id="Semver"),
        pytest.param([], [term("SemverLt")], (False, True, False), id="Semver in a term"),
        pytest.param([], [term("Gt")], (False, False, False), id="Gt in a term is another one"),
        pytest.param([], [NodeSelectorTerm()], (False, False, False), id="an empty term"),
        pytest.param([Toleration(expression="true")], [], (False, False, True), id="an expression"),
        pytest.param(
            [Toleration("k", "Gt", "1", expression="true")],
            [],
            (False, False, True),
            id="an operator beside an expression was never one",
        ),
        pytest.param([Toleration("k", "Exists")], [], (False, False, False), id="Exists"),
    ],
)
def test_an_old_rule_allows_its_kind(
    rules: list[Toleration], terms: list[NodeSelectorTerm], expected: tuple[bool, bool, bool]
) -> None:
    assert allowances.of(OFF, rules, terms) == FeatureGates(*expected)
