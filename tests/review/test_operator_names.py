import pytest

from extender.match import operators
from extender.match.gates import FeatureGates
from extender.review import operator_names

ALL = '"Equal", "Exists", "Lt", "Gt", "SemverLt", "SemverGt", "SemverEq"'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gt", "Gt"),
        ("GT", "Gt"),
        (">", "Gt"),
        ("semvergt", "SemverGt"),
        ("exist", "Exists"),
        ("Gt", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_the_operator_that_was_meant(name: str, expected: str | None) -> None:
    assert operator_names.meant(name, operators.TOLERATION) == expected


@pytest.mark.parametrize(
    ("name", "gates", "expected"),
    [
        ("gt", FeatureGates(), f'{ALL}, or an expression instead; did you mean "Gt"?'),
        ("nope", FeatureGates(cel=False), ALL),
        (
            "Gt",
            FeatureGates(cel=False, comparison_operators=False, semver_operators=False),
            '"Equal", "Exists"; feature gate TaintTolerationComparisonOperators is off',
        ),
    ],
)
def test_all_operators_of_an_annotation_are_listed(
    name: str, gates: FeatureGates, expected: str
) -> None:
    found = operator_names.supported(name, operators.TOLERATION, gates)

    assert found == f"supported values: {expected}"


def test_terms_have_no_expressions() -> None:
    found = operator_names.supported("gte", operators.AFFINITY, FeatureGates())

    assert found == (
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Lt", "Gt", "SemverLt",'
        ' "SemverGt", "SemverEq"; did you mean "Gt"?'
    )
