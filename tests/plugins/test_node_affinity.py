import json
from typing import Any

import msgspec
import pytest

from extender.framework.interface import SKIP, SUCCESS, Score, Settings, Status
from extender.framework.snapshot import LabelsFacet, Snapshot
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Affinity, ObjectMeta, Pod, PodSpec
from extender.plugins.node_affinity import REASON, NodeAffinity
from tests.builders import (
    JSON,
    PREFIX,
    a_node,
    a_pod,
    judge,
    preferred,
    question_of,
    refused,
    required,
    requirement,
    scorer_of,
)
from tests.vectors import Row, assert_every_row, gates_of

PLUGIN = NodeAffinity(Settings())
NO = refused(REASON)


def natively(row: Row) -> Pod:
    return msgspec.convert({"spec": row["pod_spec_fragment"]}, Pod)


def by_annotation(row: Row) -> Pod:
    """The affinity as an annotation; the node selector has no carrier and stays."""
    fragment = dict(row["pod_spec_fragment"])
    affinity = (fragment.pop("affinity", None) or {}).get("nodeAffinity")
    annotations = {} if affinity is None else {PREFIX + "node-affinity": json.dumps(affinity)}
    pod = {"metadata": {"annotations": annotations}, "spec": fragment}
    return msgspec.convert(pod, Pod)


def both(row: Row) -> Pod:
    """The same affinity in both carriers: required twice is required, preferred adds up."""
    return Pod(by_annotation(row).metadata, natively(row).spec)


CARRIERS = [
    pytest.param(natively, 1, id="native field"),
    pytest.param(by_annotation, 1, id="annotation"),
    pytest.param(both, 2, id="both"),
]


@pytest.mark.parametrize(("carrier", "times"), CARRIERS)
@pytest.mark.parametrize("name", ["node_affinity", "node_affinity_semver"])
def test_every_affinity_is_judged_and_scored_as_in_go(name: str, carrier: Any, times: int) -> None:
    def ask(row: Row) -> tuple[Status, int]:
        plugin = NodeAffinity(Settings(gates=gates_of(row)))
        pod = carrier(row)
        node = a_node(row["node"]["name"], labels=row["node"]["labels"])
        verdict = judge(plugin, pod, node)
        scorer = plugin.pre_score(pod, Snapshot())
        score = 0 if isinstance(scorer, Status) else scorer.score(node).value
        return SUCCESS if verdict == SKIP else verdict, score

    def answer(row: Row) -> tuple[Status, int]:
        return SUCCESS if row["required_match"] else NO, times * row["preferred_score"]

    assert_every_row(name, ask, answer)


SSD = required([requirement("disk", "In", "ssd")])
EU = required([requirement("zone", "In", "eu")])


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(a_pod(), SKIP, id="nothing is asked"),
        pytest.param(Pod(), SKIP, id="a pod of nothing"),
        pytest.param(Pod(ObjectMeta(), PodSpec(affinity=Affinity())), SKIP, id="affinity to pods"),
        pytest.param(a_pod(node_selector={}), SKIP, id="an empty selector"),
        pytest.param(a_pod(annotated_affinity={}), SKIP, id="an annotation of nothing"),
        pytest.param(a_pod(affinity=preferred((1, []))), SKIP, id="preferences refuse nobody"),
        pytest.param(a_pod(affinity=SSD), SUCCESS, id="native, matching"),
        pytest.param(a_pod(affinity=EU), NO, id="native, not matching"),
        pytest.param(a_pod(annotated_affinity=SSD), SUCCESS, id="annotated, matching"),
        pytest.param(a_pod(annotated_affinity=EU), NO, id="annotated, not matching"),
        pytest.param(a_pod(affinity=SSD, annotated_affinity=SSD), SUCCESS, id="both, matching"),
        pytest.param(a_pod(affinity=SSD, annotated_affinity=EU), NO, id="only native matches"),
        pytest.param(a_pod(affinity=EU, annotated_affinity=SSD), NO, id="only annotated matches"),
        pytest.param(
            a_pod(node_selector={"disk": "hdd"}, affinity=SSD), NO, id="not by its selector"
        ),
        pytest.param(
            a_pod(node_selector={"disk": "ssd"}, annotated_affinity=SSD),
            SUCCESS,
            id="selector and annotation",
        ),
        pytest.param(a_pod(affinity=required()), NO, id="no terms match nothing"),
        pytest.param(a_pod(affinity=required([])), NO, id="an empty term matches nothing"),
        pytest.param(
            a_pod(affinity=required([requirement("disk", "Bogus", "ssd")])),
            NO,
            id="a malformed term is no match, not a fault",
        ),
        pytest.param(
            a_pod(affinity=SSD, annotated_affinity='{"required": {}}'),
            refused(
                f"pod annotation {PREFIX}node-affinity is invalid:"
                " required is not a field of a node affinity: it has"
                " requiredDuringSchedulingIgnoredDuringExecution,"
                " preferredDuringSchedulingIgnoredDuringExecution"
            ),
            id="an annotation that cannot be read",
        ),
    ],
)
def test_filter(pod: Pod, expected: Status) -> None:
    assert judge(PLUGIN, pod, a_node("n", labels={"disk": "ssd"})) == expected


def test_a_long_annotation_error_is_cut() -> None:
    status = judge(PLUGIN, a_pod(annotated_affinity={"é" * 400: 1}), a_node("n"))

    (reason,) = status.reasons
    assert reason.startswith(f"pod annotation {PREFIX}node-affinity is invalid: éé")
    assert "é... is not a field of a node affinity" in reason
    assert len(reason.encode()) < 500


def test_fields_match_the_name() -> None:
    term = {"matchFields": [requirement("metadata.name", "In", "a")]}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
    }

    assert judge(PLUGIN, a_pod(affinity=affinity), a_node("a")) == SUCCESS
    assert judge(PLUGIN, a_pod(annotated_affinity=affinity), a_node("b")) == NO


CNI = requirement("cni", "SemverGt", "1.3")


def test_semver_terms_match_nothing_with_their_gate_off() -> None:
    off = NodeAffinity(Settings(gates=FeatureGates(semver_operators=False)))
    node = a_node("n", labels={"cni": "v1.4.0", "disk": "ssd"})
    either = required([CNI], [requirement("disk", "Exists")])
    liked = preferred((5, [CNI]), (3, [requirement("disk", "Exists")]))

    for pod in (a_pod(affinity=required([CNI])), a_pod(annotated_affinity=required([CNI]))):
        assert judge(PLUGIN, pod, node) == SUCCESS
        assert judge(off, pod, node) == NO
    assert judge(off, a_pod(affinity=either), node) == SUCCESS
    assert scorer_of(PLUGIN, a_pod(affinity=liked)).score(node).value == 8
    assert scorer_of(off, a_pod(affinity=liked)).score(node).value == 3


def test_an_extended_gt_needs_no_gate() -> None:
    off = NodeAffinity(Settings(gates=FeatureGates(comparison_operators=False)))
    pod = a_pod(annotated_affinity=required([requirement("sla", "Gt", "900")]))

    assert judge(off, pod, a_node("n", labels={"sla": "950"})) == SUCCESS


LIKES_SSD = preferred((10, [requirement("disk", "In", "ssd")]))
LIKES_EU = preferred((5, [requirement("zone", "In", "eu")]))


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(a_pod(affinity=LIKES_SSD), 10, id="native"),
        pytest.param(a_pod(annotated_affinity=LIKES_SSD), 10, id="annotated"),
        pytest.param(a_pod(affinity=LIKES_SSD, annotated_affinity=LIKES_SSD), 20, id="both add up"),
        pytest.param(a_pod(affinity=LIKES_EU, annotated_affinity=LIKES_SSD), 10, id="one of both"),
        pytest.param(a_pod(affinity=LIKES_EU), 0, id="no match"),
        pytest.param(
            a_pod(affinity=preferred((7, [requirement("disk", "Gt", "high")]))),
            0,
            id="a malformed term adds nothing",
        ),
    ],
)
def test_score(pod: Pod, expected: int) -> None:
    assert scorer_of(PLUGIN, pod).score(a_node("n", labels={"disk": "ssd"})).value == expected


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(a_pod(), SKIP, id="nothing is asked"),
        pytest.param(a_pod(affinity=SSD, node_selector={"a": "b"}), SKIP, id="nothing preferred"),
        pytest.param(
            a_pod(affinity=LIKES_SSD, annotated_affinity="[]"),
            refused(
                f"pod annotation {PREFIX}node-affinity is invalid: must be a node affinity,"
                " not a list"
            ),
            id="an annotation that cannot be read",
        ),
    ],
)
def test_a_pod_without_preferences_is_not_scored(pod: Pod, expected: Status) -> None:
    assert PLUGIN.pre_score(pod, Snapshot()) == expected


@pytest.mark.parametrize(
    ("sums", "expected"),
    [
        pytest.param([], [], id="no nodes"),
        pytest.param([0, 0], [0, 0], id="none preferred"),
        pytest.param([0, 1, 2, 3], [0, 33, 66, 100], id="upstream's integer division"),
        pytest.param([7], [100], id="the best has 100, also when it is alone"),
        pytest.param([-5, 10], [0, 100], id="below zero is zero"),
        pytest.param([-5, -1], [0, 0], id="nothing above zero"),
    ],
)
def test_normalize(sums: list[int], expected: list[int]) -> None:
    assert scorer_of(PLUGIN, a_pod(affinity=LIKES_SSD)).normalize(sums) == expected


def test_findings_of_pod_and_node() -> None:
    bad = required([requirement("sla", "Gt", "high")], [requirement("sla", "Gt", "5")])
    pod = a_pod(affinity=bad, annotated_affinity=preferred((1, [CNI])))
    question, scorer = question_of(PLUGIN, pod), scorer_of(PLUGIN, pod)
    node = a_node("n", labels={"sla": "low", "cni": "two"})

    assert question.findings == {Finding("affinity", "integer", "sla", "high")}
    assert question.filter(node).findings == {Finding("label", "integer", "sla", "low")}
    assert scorer.score(node).findings == {Finding("label", "semver", "cni", "two")}
    assert scorer.findings == frozenset()


def test_a_node_that_passes_keeps_what_was_noticed() -> None:
    pod = a_pod(affinity=required([requirement("sla", "Gt", "5")], [requirement("disk", "Exists")]))
    status = judge(PLUGIN, pod, a_node("n", labels={"sla": "low", "disk": ""}))

    assert status == SUCCESS
    assert status.findings == {Finding("label", "integer", "sla", "low")}


def by_name(**more: Any) -> JSON:
    return {"matchFields": [requirement("metadata.name", "NotIn", "x")], **more}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            a_pod(affinity=required([requirement("b", "Exists"), requirement("a", "Exists")])),
            LabelsFacet(("a", "b")),
            id="the labels of its terms",
        ),
        pytest.param(
            a_pod(node_selector={"c": ""}, annotated_affinity=SSD),
            LabelsFacet(("c", "disk")),
            id="of its selector and its annotation",
        ),
        pytest.param(
            a_pod(affinity=required([requirement("a", "Bogus")], [requirement("b", "Exists")])),
            LabelsFacet(("b",)),
            id="not of a term that cannot match",
        ),
        pytest.param(
            a_pod(
                affinity={
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            by_name(),
                            {"matchExpressions": [requirement("a", "Exists")]},
                        ]
                    }
                }
            ),
            LabelsFacet(("a",), with_name=True),
            id="the name where a rule reads it",
        ),
    ],
)
def test_it_says_what_of_a_node_it_reads(pod: Pod, expected: LabelsFacet) -> None:
    assert question_of(PLUGIN, pod).facet == expected


def test_a_scorer_says_what_of_a_node_it_reads() -> None:
    affinity = preferred((1, [requirement("b", "Exists")]), (0, [requirement("c", "Exists")]))
    affinity["preferredDuringSchedulingIgnoredDuringExecution"].append(
        {"weight": 1, "preference": by_name()}
    )

    assert scorer_of(PLUGIN, a_pod(affinity=affinity)).facet == LabelsFacet(("b",), with_name=True)


FOREIGN = NodeAffinity(Settings(), annotation_only=True)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(a_pod(affinity=EU, node_selector={"a": "b"}), SKIP, id="native is not read"),
        pytest.param(a_pod(affinity=EU, annotated_affinity=SSD), SUCCESS, id="only the annotation"),
        pytest.param(a_pod(affinity=SSD, annotated_affinity=EU), NO, id="which may refuse"),
        pytest.param(Pod(), SKIP, id="a pod of nothing"),
    ],
)
def test_filter_by_annotation_only(pod: Pod, expected: Status) -> None:
    assert judge(FOREIGN, pod, a_node("n", labels={"disk": "ssd"})) == expected


def test_score_by_annotation_only() -> None:
    pod = a_pod(affinity=LIKES_SSD, annotated_affinity=LIKES_EU)
    node = a_node("n", labels={"disk": "ssd", "zone": "eu"})

    assert scorer_of(FOREIGN, pod).score(node).value == 5
    assert FOREIGN.pre_score(a_pod(affinity=LIKES_SSD), Snapshot()) == SKIP


def test_a_batch_that_takes_more_effort_than_is_left_is_not_begun() -> None:
    settings = Settings()
    plugin = NodeAffinity(settings)
    term = [requirement("a", "Exists")]
    pod = a_pod(affinity=required(term) | preferred((1, term)))
    nodes = [a_node(f"n{i}", labels={"a": str(i)}) for i in range(5)]
    question: Any = question_of(plugin, pod)
    scorer: Any = scorer_of(plugin, pod)
    settings.budget.left = 14

    assert question.filter_all(nodes) is None
    assert scorer.score_all(nodes) is None
    assert settings.budget.left == 14

    settings.budget.left = 30
    assert question.filter_all(nodes) == [SUCCESS] * 5
    assert [score.value for score in scorer.score_all(nodes)] == [1] * 5
    assert settings.budget.left == 0


def test_a_batch_tells_what_it_noticed_of_each_node() -> None:
    term = [requirement("a", "Gt", "1")]
    pod = a_pod(affinity=required(term) | preferred((5, term)))
    nodes = [a_node(f"n{i}", labels={"a": value}) for i, value in enumerate(["2", "odd", "0"])]
    question: Any = question_of(PLUGIN, pod)
    scorer: Any = scorer_of(PLUGIN, pod)
    odd = frozenset({Finding("label", "integer", "a", "odd")})

    assert question.filter_all(nodes) == [SUCCESS, NO, NO]
    assert [status.findings for status in question.filter_all(nodes)] == [set(), odd, set()]
    assert scorer.score_all(nodes) == [Score(5), Score(0, odd), Score(0)]


def test_a_batch_of_nodes_is_told_apart_by_what_was_noticed_of_each() -> None:
    nodes = [a_node(value, labels={"sla": value}) for value in ("5", "high", "1")]
    more = [requirement("sla", "Gt", "3")]
    question: Any = question_of(PLUGIN, a_pod(affinity=required(more)))
    scorer: Any = scorer_of(PLUGIN, a_pod(affinity=preferred((7, more))))
    high = frozenset({Finding("label", "integer", "sla", "high")})

    assert question.filter_all(nodes) == [SUCCESS, NO, NO]
    assert [status.findings for status in question.filter_all(nodes)] == [set(), high, set()]
    assert question.filter_all([nodes[0], nodes[2]]) == [SUCCESS, NO]
    assert scorer.score_all(nodes) == [Score(7), Score(0, high), Score(0)]
    assert scorer.score_all([nodes[2], nodes[0]]) == [Score(0), Score(7)]


def test_a_batch_is_judged_by_every_term() -> None:
    nodes = [a_node(value, labels={"sla": value}) for value in ("5", "7", "1")]
    first, second = [requirement("sla", "In", "5")], [requirement("sla", "In", "1")]
    question: Any = question_of(PLUGIN, a_pod(affinity=required(first, second)))
    scorer: Any = scorer_of(PLUGIN, a_pod(affinity=preferred((7, first), (2, second))))

    assert question.filter_all(nodes) == [SUCCESS, NO, SUCCESS]
    assert scorer.score_all(nodes) == [Score(7), Score(0), Score(2)]
