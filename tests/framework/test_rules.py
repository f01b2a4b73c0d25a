from collections.abc import Hashable
from dataclasses import replace

import pytest

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import MAX_COMPILED, MAX_COMPILED_BYTES, Settings
from extender.framework.memory import weight_of
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.model.core_v1 import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    ObjectMeta,
    Pod,
    PodSpec,
    Taint,
)
from tests.builders import a_pod, required, requirement, toleration

DEFAULTS = Settings()

A, B, C = (Taint(key, "1", "NoSchedule") for key in "abc")


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(Pod(), id="a pod of nothing"),
        pytest.param(Pod(ObjectMeta(), PodSpec()), id="a pod that asks nothing"),
        pytest.param(Pod(ObjectMeta(annotations={}), PodSpec(tolerations=())), id="empty lists"),
    ],
)
def test_a_pod_without_rules_has_none(pod: Pod) -> None:
    tolerations = rules.pod_tolerations(pod, DEFAULTS)

    assert not tolerations.joined.tolerates(A, set())
    assert tolerations.findings == frozenset()
    assert rules.annotated_affinity(pod, DEFAULTS) is None
    assert rules.native_affinity(pod) is None


def test_both_carriers_are_kept_apart_and_joined() -> None:
    pod = a_pod(toleration("a", "Exists"), annotated_tolerations=[toleration("b", "Exists")])
    tolerations = rules.pod_tolerations(pod, DEFAULTS)

    def tolerated(*taints: Taint) -> list[tuple[bool, bool, bool]]:
        lists = (tolerations.native, tolerations.annotated, tolerations.joined)
        return [
            (
                lists[0].tolerates(t, set()),
                lists[1].tolerates(t, set()),
                lists[2].tolerates(t, set()),
            )
            for t in taints
        ]

    assert tolerated(A, B, C) == [
        (True, False, True),
        (False, True, True),
        (False, False, False),
    ]


def test_an_expression_is_read_from_both_carriers() -> None:
    expression = {"expression": "true"}
    native = rules.pod_tolerations(a_pod(expression), DEFAULTS)
    annotated = rules.pod_tolerations(a_pod(annotated_tolerations=[expression]), DEFAULTS)

    assert native.native.addresses(A)
    assert annotated.annotated.addresses(A)
    assert native.joined.tolerates(A, set())
    assert annotated.joined.tolerates(A, set())


def test_the_expressions_of_a_pod_are_those_of_both_carriers() -> None:
    pod = a_pod(
        {"expression": "true"},
        toleration("a", "Exists"),
        annotated_tolerations=[{"expression": "false"}, toleration("b", "Exists")],
    )

    assert rules.expressions(pod, DEFAULTS) == ("true", "false")
    assert rules.expressions(a_pod(), DEFAULTS) == ()


def test_what_does_not_parse_in_either_carrier_is_noticed() -> None:
    pod = a_pod(
        toleration("a", "Gt", "high"), annotated_tolerations=[toleration("b", "SemverGt", "x")]
    )

    assert rules.pod_tolerations(pod, DEFAULTS).findings == {
        Finding("toleration", "integer", "a", "high"),
        Finding("toleration", "semver", "b", "x"),
    }


def test_the_gates_hold_for_both_carriers() -> None:
    above_zero = toleration("a", "Gt", "0")
    off = Settings(gates=FeatureGates(comparison_operators=False))

    for pod in (a_pod(above_zero), a_pod(annotated_tolerations=[above_zero])):
        assert rules.pod_tolerations(pod, DEFAULTS).joined.tolerates(A, set())
        assert not rules.pod_tolerations(pod, off).joined.tolerates(A, set())


def test_prefix_and_limit_are_those_of_the_settings() -> None:
    pod = a_pod(annotations={"x/tolerations": '[{"operator": "Exists"}]', "x/node-affinity": "{}"})
    settings = Settings(annotation_prefix="x/")

    assert rules.pod_tolerations(pod, settings).joined.tolerates(A, set())
    assert rules.annotated_affinity(pod, settings) is not None
    assert not rules.pod_tolerations(pod, DEFAULTS).joined.tolerates(A, set())
    assert rules.annotated_affinity(pod, DEFAULTS) is None
    with pytest.raises(AnnotationError, match=r"are more than the limit of 5$"):
        rules.pod_tolerations(pod, Settings(annotation_prefix="x/", annotation_bytes=5))


def test_an_annotation_that_cannot_be_read_is_a_fault_here() -> None:
    pod = a_pod(annotated_tolerations="{", annotated_affinity="[")

    with pytest.raises(AnnotationError, match=r"^pod annotation scheduling\.leeway/tolerations is"):
        rules.pod_tolerations(pod, DEFAULTS)
    with pytest.raises(
        AnnotationError, match=r"^pod annotation scheduling\.leeway/node-affinity is"
    ):
        rules.annotated_affinity(pod, DEFAULTS)


def test_the_affinities_of_both_carriers() -> None:
    pod = a_pod(affinity={}, annotated_affinity=required([requirement("a", "Exists")]))

    annotated = rules.annotated_affinity(pod, DEFAULTS)

    assert rules.native_affinity(pod) == NodeAffinity()
    assert annotated is not None
    assert isinstance(annotated.required, NodeSelector)
    assert rules.native_affinity(Pod(spec=PodSpec(affinity=Affinity()))) is None


def test_pods_of_one_workload_have_equal_rules_whoever_they_are() -> None:
    one, two = (
        a_pod(toleration("a", "Exists"), name=name, node_selector={"x": "y"}) for name in "ab"
    )

    assert rules.toleration_rules(one, DEFAULTS) == rules.toleration_rules(two, DEFAULTS)
    assert rules.toleration_rules(one, DEFAULTS) != rules.toleration_rules(a_pod(), DEFAULTS)
    for annotation_only in (False, True):
        first, second = (
            rules.affinity_rules(pod, DEFAULTS, annotation_only=annotation_only)
            for pod in (one, two)
        )
        assert first == second


def written(length: int, tolerations: int = 0) -> Pod:
    text = " " * length
    native = (toleration(str(number)) for number in range(tolerations))
    return a_pod(*native, annotated_tolerations=text, annotated_affinity=text)


def every_rule(pod: Pod) -> list[Hashable | None]:
    return [
        rules.toleration_rules(pod, DEFAULTS),
        rules.affinity_rules(pod, DEFAULTS, annotation_only=False),
        rules.affinity_rules(pod, DEFAULTS, annotation_only=True),
    ]


def test_rules_that_are_too_large_are_not_remembered() -> None:
    assert every_rule(written(270_000)) == [None] * 3
    assert rules.toleration_rules(written(0, 7_000), DEFAULTS) is None
    assert None not in every_rule(written(260_000))


def test_rules_that_take_much_room_say_so() -> None:
    assert [*map(weight_of, every_rule(written(4_000)))] == [0, 0, 0]
    assert [*map(weight_of, every_rule(written(10_000)))] == [160_000] * 3
    assert weight_of(rules.toleration_rules(written(10_000, 10), DEFAULTS)) == 166_000
    assert every_rule(written(10_000)) == every_rule(written(10_000)) != every_rule(written(10_001))


def test_tolerations_are_compiled_once_for_all_who_ask() -> None:
    settings = Settings()
    one, other = (
        a_pod(toleration("a"), annotated_tolerations=[toleration("sla", "Gt", "high")], name=name)
        for name in ("one", "other")
    )
    compiled = rules.pod_tolerations(one, settings)

    assert rules.pod_tolerations(other, settings) is compiled
    assert compiled.findings == {Finding("toleration", "integer", "sla", "high")}
    assert rules.pod_tolerations(a_pod(toleration("b")), settings) is not compiled


def test_what_was_compiled_is_not_shared_by_other_settings() -> None:
    settings = Settings()
    pod = a_pod(toleration("a", "Gt", "0"))
    rules.pod_tolerations(pod, settings)
    gated = replace(settings, gates=FeatureGates(comparison_operators=False))

    assert rules.pod_tolerations(pod, settings).joined.tolerates(A, set())
    assert not rules.pod_tolerations(pod, gated).joined.tolerates(A, set())


def test_what_was_compiled_is_kept_within_bounds() -> None:
    settings = Settings()
    large = a_pod(annotated_tolerations=[toleration("a" * 250_000)])
    assert rules.pod_tolerations(large, settings) is rules.pod_tolerations(large, settings)
    for number in range(2 * MAX_COMPILED):
        rules.pod_tolerations(a_pod(toleration(f"a-{number}")), settings)

    assert len(settings.compiled) == MAX_COMPILED
    for number in range(40):
        rules.pod_tolerations(
            a_pod(annotated_tolerations=[toleration(f"{number:05}" * 20_000)]), settings
        )

    assert settings.compiled.weight <= MAX_COMPILED_BYTES


def test_a_pod_of_another_profile_without_the_annotation_is_one_case_with_all_such_pods() -> None:
    assert rules.affinity_rules(a_pod(), DEFAULTS, annotation_only=True) is not None
