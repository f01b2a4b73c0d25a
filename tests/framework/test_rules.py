from dataclasses import replace

import pytest

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import Settings
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.match.lru import CacheBudget
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

    assert rules.toleration_signature(one, DEFAULTS) == rules.toleration_signature(two, DEFAULTS)
    assert rules.toleration_signature(one, DEFAULTS) != rules.toleration_signature(
        a_pod(), DEFAULTS
    )
    for annotation_only in (False, True):
        first, second = (
            rules.affinity_signature(pod, DEFAULTS, annotation_only=annotation_only)
            for pod in (one, two)
        )
        assert first == second


def test_signatures_tell_apart_what_makes_another_question() -> None:
    pods = [
        a_pod(),
        a_pod(toleration("a", "Exists")),
        a_pod(annotated_tolerations=[toleration("a", "Exists")]),
        a_pod(annotated_tolerations=""),
        a_pod(node_selector={"x": "y"}),
        a_pod(node_selector={"x": "z"}),
        a_pod(affinity=required([requirement("a", "Exists")])),
        a_pod(annotated_affinity=required([requirement("a", "Exists")])),
    ]
    both = {
        (
            rules.toleration_signature(pod, DEFAULTS),
            rules.affinity_signature(pod, DEFAULTS, annotation_only=False),
        )
        for pod in pods
    }

    assert len(both) == len(pods)
    assert len({rules.toleration_signature(pod, DEFAULTS) for pod in pods}) == 4
    alone = {rules.affinity_signature(pod, DEFAULTS, annotation_only=True) for pod in pods}
    assert len(alone) == 2


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


def test_what_was_compiled_is_kept_within_the_budget() -> None:
    settings = Settings(caches=CacheBudget(1 << 20))
    for number in range(400):
        pod = a_pod(toleration(f"a-{number}"), annotated_tolerations=[toleration("a" * 5_000)])
        first = rules.pod_tolerations(pod, settings)

        assert rules.pod_tolerations(pod, settings) is first
        assert settings.caches.bytes == settings.compiled.bytes <= 1 << 20
    large = a_pod(annotated_tolerations=[toleration("a" * 100_000)])
    assert rules.pod_tolerations(large, settings) is not rules.pod_tolerations(large, settings)


def test_a_pod_of_another_profile_without_the_annotation_is_one_case_with_all_such_pods() -> None:
    assert rules.affinity_signature(a_pod(), DEFAULTS, annotation_only=True) is not None
