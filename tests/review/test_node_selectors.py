"""What the rows of the real code do not have: versions, weights, lists, old terms."""

import pytest

from extender.match.gates import FeatureGates
from tests.builders import JSON, requirement
from tests.review.objects import (
    NATIVE_AFFINITY,
    PREFERRED,
    REQUIRED,
    judged,
    messages,
    preferred,
    required,
    term,
    with_affinity,
)

TERM = f"{NATIVE_AFFINITY}.{REQUIRED}.nodeSelectorTerms[0]"
VERSION = "node.kubernetes.io/kubelet-version"


def said(affinity: JSON, gates: FeatureGates | None = None) -> list[str]:
    return messages(judged(with_affinity(affinity), gates=gates))


def said_after(new: JSON, old: JSON) -> list[str]:
    return messages(judged(with_affinity(new), with_affinity(old)))


@pytest.mark.parametrize("operator", ["SemverGt", "SemverLt", "SemverEq"])
@pytest.mark.parametrize(
    ("values", "problems"),
    [
        pytest.param(["1.30.0"], [], id="a version"),
        pytest.param(
            ["v1.2.x"],
            ['[0]: Invalid value: "v1.2.x": Invalid character(s) found in patch number "x"'],
            id="no version",
        ),
        pytest.param(
            [],
            [
                ": Required value: must be specified single value when `operator` is 'SemverLt' or"
                " 'SemverGt' or 'SemverEq'"
            ],
            id="no value",
        ),
        pytest.param(
            ["1", "x"],
            [
                ": Required value: must be specified single value when `operator` is 'SemverLt' or"
                " 'SemverGt' or 'SemverEq'",
                '[1]: Invalid value: "x": Invalid character(s) found in major number "x"',
            ],
            id="two values of which one is no version",
        ),
    ],
)
def test_versions(operator: str, values: list[str], problems: list[str]) -> None:
    affinity = required(term(requirement(VERSION, operator, *values)))

    assert said(affinity) == [f"{TERM}.matchExpressions[0].values{each}" for each in problems]


def test_a_version_must_be_a_label_value_as_well() -> None:
    errors = judged(with_affinity(required(term(requirement(VERSION, "SemverEq", "+"))))).errors

    assert [error.field for error in errors] == [f"{TERM}.matchExpressions[0].values[0]"] * 2
    assert errors[0].detail.startswith("Short version cannot contain")
    assert errors[1].detail.startswith("a valid label must be an empty string")


def test_a_version_operator_whose_gate_is_off_is_none() -> None:
    affinity = required(term(requirement(VERSION, "SemverGt", "1.30")))

    assert said(affinity, FeatureGates(semver_operators=False)) == [
        f'{TERM}.matchExpressions[0].operator: Invalid value: "SemverGt": not a valid selector'
        " operator"
    ]


def test_a_version_operator_is_none_in_fields() -> None:
    affinity = required(term(fields=[requirement("metadata.name", "SemverEq", "1.2.3")]))

    assert said(affinity) == [
        f'{TERM}.matchFields[0].operator: Invalid value: "SemverEq": not a valid selector operator'
    ]


def test_there_must_be_a_term() -> None:
    assert said(required()) == [
        f"{NATIVE_AFFINITY}.{REQUIRED}.nodeSelectorTerms: Required value: must have at least one"
        " node selector term"
    ]


def test_an_empty_term_is_legal() -> None:
    assert said(required({})) == []


@pytest.mark.parametrize("weight", [0, -1, 101])
def test_weights_go_from_1_to_100(weight: int) -> None:
    assert said(preferred({}, weight=weight)) == [
        f"{NATIVE_AFFINITY}.{PREFERRED}[0].weight: Invalid value: {weight}: must be in the range"
        " 1-100"
    ]


@pytest.mark.parametrize("weight", [1, 100])
def test_the_least_and_the_most_weight(weight: int) -> None:
    assert said(preferred({}, weight=weight)) == []


def test_a_preference_may_be_absent() -> None:
    assert said({PREFERRED: [{"weight": 1}]}) == []


def test_each_term_has_its_place() -> None:
    bad = term(requirement("zone", "Nope"))
    affinity = required({}, bad) | preferred({}, bad)

    assert [error.field for error in judged(with_affinity(affinity)).errors] == [
        f"{NATIVE_AFFINITY}.{REQUIRED}.nodeSelectorTerms[1].matchExpressions[0].operator",
        f"{NATIVE_AFFINITY}.{PREFERRED}[1].preference.matchExpressions[0].operator",
    ]


def test_a_term_that_was_there_is_not_judged_again() -> None:
    bad, worse = term(requirement("zone", "Nope")), term(requirement("zone", "Never"))

    assert said_after(required(bad) | preferred(bad), required(bad) | preferred(bad)) == []
    assert said_after(required({}, bad), required(bad, {})) == []
    assert len(said_after(required(bad, worse), required(bad))) == 1
    assert len(said_after(preferred(bad, worse), preferred(bad))) == 1
    assert len(said_after(preferred(bad), required(bad))) == 1


def test_no_terms_at_all_may_stay() -> None:
    assert said_after(required(), required()) == []
    assert len(said_after(required(), required({}))) == 1


def test_where_a_label_value_was_wrong_others_may_be() -> None:
    wrong, also = term(requirement("zone", "In", "a b")), term(requirement("zone", "In", "c d"))

    assert said_after(required(wrong, also), required(wrong)) == []
    assert len(said_after(required(wrong, also), required({}))) == 2
