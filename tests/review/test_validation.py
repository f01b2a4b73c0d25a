"""Objects as a whole: either carrier, old states, bounds."""

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.review import validation
from extender.review.validation import Review
from tests.builders import JSON, PREFIX, toleration
from tests.review import objects
from tests.review.objects import with_tolerations
from tests.vectors import Row, assert_every_row, gates_of


@pytest.mark.parametrize("annotated", [False, True], ids=["native", "annotated"])
def test_every_toleration_is_refused_as_in_go(annotated: bool) -> None:
    def ask(row: Row) -> list[str]:
        report = objects.judged(
            objects.of_toleration_row(row, annotated=annotated), gates=gates_of(row)
        )
        return objects.messages(report)

    assert_every_row(
        "validation", ask, lambda row: objects.expected_messages(row, annotated=annotated)
    )


@pytest.mark.parametrize("annotated", [False, True], ids=["native", "annotated"])
def test_every_node_selector_is_refused_as_in_go(annotated: bool) -> None:
    def ask(row: Row) -> list[str]:
        report = objects.judged(
            objects.of_selector_row(row, annotated=annotated), gates=gates_of(row)
        )
        return objects.messages(report)

    assert_every_row(
        "validation_node_selector",
        ask,
        lambda row: objects.expected_messages(row, annotated=annotated),
    )


def test_an_annotation_that_cannot_be_read_is_refused() -> None:
    pod = objects.with_annotation("tolerations", "[{color: blue}]")

    assert objects.messages(objects.judged(pod)) == [
        f"{objects.ANNOTATED_TOLERATIONS}[0].color: Invalid value: color is not a field of a"
        " toleration: it has key, operator, value, effect, tolerationSeconds, expression"
    ]


def test_of_a_long_annotation_the_beginning_is_shown() -> None:
    (error,) = objects.judged(objects.with_annotation("tolerations", "x" * 300)).errors

    assert error.shown == f'"{"x" * 64}..."'


@pytest.mark.parametrize("suffix", ["tolerations", "node-affinity"])
def test_what_cannot_be_read_may_stay_and_may_go(suffix: str) -> None:
    pod = objects.with_annotation(suffix, "{")

    assert objects.judged(pod, pod).errors == ()
    assert objects.judged({"spec": {}}, pod).errors == ()
    assert len(objects.judged(objects.with_annotation(suffix, "{{"), pod).errors) == 1


def test_an_equal_rule_of_another_carrier_is_judged() -> None:
    bad = toleration("sla", "Nope")

    assert len(objects.judged(with_tolerations(bad, annotated=True), with_tolerations(bad)).errors)
    assert len(objects.judged(with_tolerations(bad), with_tolerations(bad, annotated=True)).errors)


def test_an_equal_rule_is_found_at_any_place() -> None:
    bad, good = toleration("sla", "Nope"), toleration("zone", "Exists")

    for annotated in (False, True):
        old = with_tolerations(bad, annotated=annotated)
        new = with_tolerations(good, bad, annotated=annotated)
        assert objects.judged(new, old).errors == ()


def test_a_changed_rule_is_judged() -> None:
    old = with_tolerations(toleration("sla", "Nope", "1"))

    assert len(objects.judged(with_tolerations(toleration("sla", "Nope", "2")), old).errors) == 1


@pytest.mark.parametrize(
    ("gates", "rule", "changed"),
    [
        (
            FeatureGates(comparison_operators=False),
            toleration("sla", "Gt", "1"),
            toleration("sla", "Lt", "2"),
        ),
        (
            FeatureGates(semver_operators=False),
            toleration("sla", "SemverGt", "1"),
            toleration("sla", "SemverEq", "2"),
        ),
        (FeatureGates(cel=False), {"expression": "true"}, {"expression": "false"}),
    ],
    ids=["Gt", "Semver", "CEL"],
)
@pytest.mark.parametrize("annotated", [False, True], ids=["native", "annotated"])
def test_a_kind_that_was_used_may_be_used_on_with_its_gate_off(
    gates: FeatureGates, rule: JSON, changed: JSON, annotated: bool
) -> None:
    old = with_tolerations(rule, annotated=annotated)
    other = with_tolerations(toleration("sla", "Exists"))

    assert objects.judged(with_tolerations(changed), old, gates).errors == ()
    assert len(objects.judged(with_tolerations(changed), other, gates).errors) == 1
    assert len(objects.judged(with_tolerations(changed), None, gates).errors) == 1
    assert objects.judged(other, old, gates).errors == ()


def test_what_is_allowed_to_stay_must_still_be_well_formed() -> None:
    gates = FeatureGates(comparison_operators=False)
    old = with_tolerations(toleration("sla", "Gt", "1"))

    assert len(objects.judged(with_tolerations(toleration("sla", "Gt", "x")), old, gates).errors)


def test_a_volume_without_required_may_stay_so() -> None:
    volume = objects.ruled({"spec": {"nodeAffinity": {}}}, "", "PersistentVolume")
    other = objects.ruled(
        {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{}]}}}},
        "",
        "PersistentVolume",
    )

    assert validation.check(volume, volume, Settings()).errors == ()
    assert len(validation.check(volume, other, Settings()).errors) == 1
    assert validation.check(other, other, Settings()).errors == ()
    assert validation.check(other, volume, Settings()).errors == ()


def test_the_errors_of_an_object_are_bounded() -> None:
    many = [toleration("sla", "Nope")] * 5_000

    assert len(objects.judged(with_tolerations(*many)).errors) == validation.MAX_ERRORS


def test_the_warnings_of_an_object_are_bounded() -> None:
    many = [toleration("sla", "Lt", "0")] * 5_000

    assert len(objects.judged(with_tolerations(*many)).warnings) == validation.MAX_WARNINGS


def test_the_expressions_of_an_object_are_bounded() -> None:
    long = [{"expression": f"taint.key == '{number:09999}'"} for number in range(8)]
    errors = objects.judged(with_tolerations(*long)).errors

    assert [(error.field, error.reason) for error in errors] == [
        ("spec.tolerations[6].expression", "FieldValueForbidden"),
        ("spec.tolerations[7].expression", "FieldValueForbidden"),
    ]
    assert errors[0].detail == (
        "too complex, the expressions of one object may have 65536 characters in all"
    )


def test_it_is_known_beforehand_what_will_be_compiled() -> None:
    pod = objects.ruled(
        with_tolerations(
            {"expression": "true"},
            {"expression": "true"},
            {"expression": "false", "key": "x"},
            toleration("sla", "Exists"),
            {"expression": "taint.key == ''"},
        )
    )
    review = validation.Review(pod, None, Settings())

    assert review.expressions() == ("true", "taint.key == ''")
    assert validation.Review(pod, pod, Settings()).expressions() == ()


def mistakes(document: JSON, *, lives: bool = False) -> list[str]:
    review = Review(objects.ruled(document), None, Settings())
    return list(map(str, review.mistakes(lives=lives)))


def test_mistakes_are_what_is_misspelt_or_misplaced() -> None:
    pod = objects.with_annotation("tolerations", '[{"key": "sla", "operator": "gt"}]')
    pod["metadata"]["annotations"][f"{PREFIX}toleration"] = "[]"
    pod["spec"] = {"tolerations": [{"key": "sla", "operator": "Exist"}, {"operator": "Nope"}]}

    assert [text.partition(": ")[0] for text in mistakes(pod)] == [
        f"{objects.ANNOTATED_TOLERATIONS}[0].operator",
        "spec.tolerations[0].operator",
        "spec.tolerations[1].operator",
        f"metadata.annotations[{PREFIX}toleration]",
    ]
    assert mistakes(pod)[0].endswith('did you mean "Gt"?')
    assert mistakes(pod)[1].endswith('supported values: "Equal", "Exists"; did you mean Exists?')
    assert mistakes(pod)[2].endswith('supported values: "Equal", "Exists"')


def test_a_bad_value_is_no_mistake_of_spelling() -> None:
    pod = with_tolerations({"key": "sla", "operator": "Gt", "value": "high"}, annotated=True)

    assert objects.judged(pod).errors
    assert mistakes(pod) == []
    record = objects.with_annotation("guarded-keys", "[]")
    assert len(mistakes(record)) == 1
    assert mistakes(record, lives=True) == []


def test_many_mistakes_are_not_all_told() -> None:
    rules = [{"key": f"k{n}", "operator": "gt"} for n in range(500)]

    assert len(mistakes(with_tolerations(*rules, annotated=True))) == validation.MAX_WARNINGS
