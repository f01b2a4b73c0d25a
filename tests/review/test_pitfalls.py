"""Warnings about tolerations; those about terms and versions have their own files."""

import pytest

from extender.review.pitfalls import Pitfall
from tests.builders import JSON, toleration
from tests.review.objects import ANNOTATED_TOLERATIONS, judged, with_tolerations

NO_EXECUTE = toleration("sla", "Gt", "900", "NoExecute")
EVICTION = "eviction reads spec.tolerations only: without compile mode, add"

SECONDS = (
    "the pod is evicted {} a NoExecute taint arrives, even though this rule tolerates it: leave it"
    " out to let the pod stay"
)


def warned(*rules: JSON, annotated: bool = False) -> list[str]:
    report = judged(with_tolerations(*rules, annotated=annotated))
    return [f"{each.field}: {each.text}" for each in report.warnings]


def both(native: list[JSON], annotated: list[JSON]) -> JSON:
    pod = with_tolerations(*annotated, annotated=True)
    return pod | {"spec": {"tolerations": native}}


@pytest.mark.parametrize("value", ["0", "-5"])
def test_below_nothing(value: str) -> None:
    assert warned(toleration("sla", "Lt", value)) == [
        f"spec.tolerations[0].value: no taint can have a value below {value}, so this never"
        " matches: use a larger bound, or Exists"
    ]


@pytest.mark.parametrize(
    "rule",
    [
        toleration("sla", "Lt", "1"),
        toleration("sla", "Gt", "0"),
        toleration("sla", "Gt", "-5"),
        toleration("sla", "Lt", "low"),
        toleration("sla", "Exists"),
        {"expression": "true"},
        NO_EXECUTE,
    ],
)
def test_ordinary_rules_are_not_warned_about(rule: JSON) -> None:
    assert warned(rule) == []


def test_two_tolerations_are_no_range() -> None:
    rules = [
        toleration("sla", "Gt", "900"),
        toleration("sla", "Gt", "950"),
        toleration("sla", "Lt", "990"),
        toleration("sla", "Lt", "800"),
        toleration("sla", "Lt", "990", "NoSchedule"),
        toleration("other", "Lt", "990"),
    ]

    assert warned(*rules) == [
        "spec.tolerations[2].value: tolerations are alternatives, so Gt 900 and Lt 990 tolerate"
        " every number: use an expression with int(taint.value) > 900 && int(taint.value) < 990"
    ]


def test_a_version_is_looked_at() -> None:
    (warning,) = warned(toleration("kernel", "SemverGt", "5.15.0"))

    assert warning.startswith("spec.tolerations[0].value: a kernel such as 5.15.0-91-generic")


def test_only_the_native_field_keeps_from_eviction() -> None:
    assert warned(NO_EXECUTE, annotated=True) == [
        f"{ANNOTATED_TOLERATIONS}[0]: {EVICTION} {{key: sla, operator: Exists, effect: NoExecute}}"
        " there, and this narrows it"
    ]


def test_an_expression_with_seconds_speaks_of_eviction() -> None:
    assert warned({"expression": "true"}, annotated=True) == []
    assert warned({"expression": "true", "tolerationSeconds": 5}, annotated=True) == [
        f"{ANNOTATED_TOLERATIONS}[0]: {EVICTION} {{operator: Exists, effect: NoExecute}} there, and"
        " this narrows it",
        f"{ANNOTATED_TOLERATIONS}[0].tolerationSeconds: {SECONDS.format('5 s after')}",
    ]


@pytest.mark.parametrize(
    ("rule", "warns"),
    [
        pytest.param(toleration("sla", "Gt", "900", "NoExecute"), True, id="above"),
        pytest.param(toleration("sla", "Lt", "900", "NoExecute"), True, id="below"),
        pytest.param(toleration("v", "SemverEq", "1.0.0", "NoExecute"), True, id="a version"),
        pytest.param({"expression": "taint.key == 'a'"}, True, id="an expression"),
        pytest.param(toleration("sla", "Equal", "900", "NoExecute"), False, id="one value"),
        pytest.param(toleration("sla", "", "900", "NoExecute"), False, id="one value by default"),
        pytest.param(toleration("sla", "Exists", "", "NoExecute"), False, id="every value"),
    ],
)
def test_seconds_evict_although_the_rule_tolerates(rule: JSON, warns: bool) -> None:
    later = warned(rule | {"tolerationSeconds": 60})
    at_once = warned(rule | {"tolerationSeconds": 0})
    path = "spec.tolerations[0].tolerationSeconds"

    assert later == ([f"{path}: {SECONDS.format('60 s after')}"] if warns else [])
    assert at_once == ([f"{path}: {SECONDS.format('at once when')}"] if warns else [])
    assert warned(rule) == []


@pytest.mark.parametrize(
    ("native", "kept"),
    [
        pytest.param(toleration("sla", "Exists", "", "NoExecute"), True, id="the same key"),
        pytest.param(toleration("sla", "Exists"), True, id="every effect"),
        pytest.param(toleration("", "Exists"), True, id="every taint"),
        pytest.param(toleration("sla", "Exists", "", "NoSchedule"), False, id="another effect"),
        pytest.param(toleration("other", "Exists"), False, id="another key"),
    ],
)
def test_a_native_toleration_of_the_taint_is_enough(native: JSON, kept: bool) -> None:
    assert bool(judged(both([native], [NO_EXECUTE])).warnings) is not kept


def test_foreign_text_stays_on_one_line() -> None:
    (warning,) = warned(toleration("a\nb", "Exists", "", "NoExecute"), annotated=True)

    assert '{key: "a\\nb", operator' in warning


def test_a_rule_that_was_there_is_not_warned_about_again() -> None:
    old = with_tolerations(toleration("sla", "Lt", "0"))
    new = with_tolerations(toleration("a", "Exists"), toleration("sla", "Lt", "0"))

    assert judged(new, old).warnings == ()
    assert judged(new).warnings != ()


def test_a_warning_fits_into_what_the_api_server_passes_on() -> None:
    path = ".".join(["averylongname"] * 30)

    assert str(Pitfall("spec.tolerations[0]", "text")) == "spec.tolerations[0]: text"
    assert str(Pitfall(path, "x" * 100)) == f"...{path[-151:]}: " + "x" * 100
    assert len(str(Pitfall(path, "x" * 100))) == 256
    assert len(str(Pitfall(path, "x" * 300))) == 256


def test_the_key_is_cut_and_the_warning_whole() -> None:
    long = toleration("k" * 63 + "/" + "n" * 63, "Exists", "", "NoExecute")
    (warning,) = judged(with_tolerations(long, annotated=True)).warnings

    assert str(warning).endswith("there, and this narrows it")
