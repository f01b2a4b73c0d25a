import json

import pytest

from extender.framework.interface import Settings
from extender.review import validation
from tests.builders import JSON, PREFIX, requirement
from tests.review.objects import (
    NATIVE_AFFINITY,
    PREFERRED,
    REQUIRED,
    judged,
    preferred,
    required,
    ruled,
    term,
    with_affinity,
)

TERM = f"{NATIVE_AFFINITY}.{REQUIRED}.nodeSelectorTerms[0]"
VALUE = f"{TERM}.matchExpressions[0].values[0]"


def warned(affinity: JSON) -> list[str]:
    report = judged(with_affinity(affinity))
    return [f"{each.field}: {each.text}" for each in report.warnings]


def of_term(*requirements: JSON) -> list[str]:
    return warned(required(term(*requirements)))


def test_an_empty_term_matches_nothing() -> None:
    text = "an empty term matches no node: give it a requirement, or remove it"

    assert warned(required({})) == [f"{TERM}: {text}"]
    assert warned({PREFERRED: [{"weight": 1}]}) == [
        f"{NATIVE_AFFINITY}.{PREFERRED}[0].preference: {text}"
    ]
    assert warned(required(term(fields=[requirement("metadata.name", "In", "n")]))) == []


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
def test_what_is_no_integer_never_matches(operator: str) -> None:
    assert of_term(requirement("cpus", operator, "high")) == [
        f'{VALUE}: "high" is no integer, so the term never matches: write a whole number'
    ]


def test_below_nothing() -> None:
    assert of_term(requirement("cpus", "Lt", "0")) == [
        f"{VALUE}: no label can have a value below 0, so the term never matches: use a larger bound"
    ]


@pytest.mark.parametrize(
    ("value", "way_out"),
    [
        ("1.32.0+k3s1", "write 1.32.0"),
        ("containerd://2.1.4", "labels have letters, digits, '-', '_' and '.'"),
        ("1.2.3-rc-", "labels have letters, digits, '-', '_' and '.'"),
    ],
)
def test_a_preference_for_what_can_be_no_label(value: str, way_out: str) -> None:
    field = f"{NATIVE_AFFINITY}.{PREFERRED}[0].preference.matchExpressions[0].values[0]"

    assert warned(preferred(term(requirement("version", "SemverGt", value)))) == [
        f'{field}: "{value}" can be no label, so the term never matches: {way_out}'
    ]


def test_a_long_value_is_cut() -> None:
    (warning,) = warned(preferred(term(requirement("version", "In", "x" * 70))))

    assert f'"{"x" * 40}..." can be no label' in warning


def test_versions_are_looked_at() -> None:
    (warning,) = of_term(requirement("kernel", "SemverGt", "5.15.0"))

    assert warning.startswith(f"{VALUE}: a kernel such as")


@pytest.mark.parametrize(
    ("lower", "upper", "empty"),
    [
        pytest.param(("Gt", "900"), ("Lt", "902"), False, id="one number between"),
        pytest.param(("Gt", "900"), ("Lt", "901"), True, id="no number between"),
        pytest.param(("Gt", "900"), ("Lt", "100"), True, id="apart"),
        pytest.param(("SemverGt", "1.2"), ("SemverLt", "1.2.1"), False, id="versions between"),
        pytest.param(("SemverGt", "1.2"), ("SemverLt", "1.2.0"), True, id="no version between"),
        pytest.param(("SemverGt", "1.2"), ("Lt", "1"), False, id="different things"),
        pytest.param(("Gt", "x"), ("Lt", "5"), False, id="a bound that is no number"),
    ],
)
def test_bounds_that_exclude_everything(
    lower: tuple[str, str], upper: tuple[str, str], empty: bool
) -> None:
    found = of_term(requirement("a", *upper), requirement("b", "Gt", "1"), requirement("a", *lower))

    assert any("nothing is above" in text for text in found) is empty


def test_the_narrowest_bounds_count() -> None:
    found = of_term(
        requirement("a", "Gt", "5"), requirement("a", "Gt", "10"), requirement("a", "Lt", "8")
    )

    assert found == [
        f"{TERM}.matchExpressions[2].values[0]: nothing is above 10 and below 8, so the term never"
        " matches: widen a bound, or use two terms"
    ]


def test_bounds_on_different_labels_are_independent() -> None:
    assert of_term(requirement("a", "Gt", "10"), requirement("b", "Lt", "8")) == []


def test_values_of_a_wrong_number_are_left_to_the_errors() -> None:
    assert of_term(requirement("a", "Gt"), requirement("a", "Lt", "1", "2")) == []


def test_terms_of_a_volume_are_looked_at() -> None:
    affinity: JSON = {"required": {"nodeSelectorTerms": [{}]}}
    volume = {
        "metadata": {"annotations": {PREFIX + "node-affinity": json.dumps(affinity)}},
        "spec": {"nodeAffinity": {}},
    }
    report = validation.check(ruled(volume, "", "PersistentVolume"), None, Settings())

    assert [each.field for each in report.warnings] == [
        f"metadata.annotations[{PREFIX}node-affinity].required.nodeSelectorTerms[0]"
    ]


def test_an_affinity_that_was_there_is_not_warned_about_again() -> None:
    pod = with_affinity(required({}))

    assert judged(pod, pod).warnings == ()
    assert len(judged(with_affinity(required({}, {})), pod).warnings) == 2
