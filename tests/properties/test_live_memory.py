"""A verdict that is remembered is the verdict that would be given: over random clusters, pods,
and events in between."""

from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from extender import plugins
from extender.cluster.cache import NodeStore
from extender.framework import runner
from extender.framework.interface import NodeFilter, NodeScorer, Profile, Score, Settings, Status
from extender.framework.ledger import Ledger
from extender.framework.memory import Memory
from extender.framework.snapshot import NodeInfo
from extender.model.core_v1 import Node, Pod
from tests.builders import (
    JSON,
    node_json,
    pod_json,
    preferred,
    required,
    requirement,
    taint,
    toleration,
)

NAMES = ("a", "b", "c", "d")
KEYS = st.sampled_from(["sla", "kernel", ""])
VALUES = st.sampled_from(["900", "950", "5.10", "6.1.0", "x", ""])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
OPERATORS = st.sampled_from(["", "Equal", "Exists", "Gt", "Lt", "SemverGt", "SemverEq", "Odd"])
SELECTING = st.sampled_from(["In", "NotIn", "Exists", "Gt", "SemverLt", "Odd"])

TAINTS = st.lists(st.builds(taint, KEYS, VALUES, EFFECTS), max_size=2)
LABELS = st.dictionaries(st.sampled_from(["sla", "kernel"]), VALUES, max_size=2)
NODES = st.builds(
    lambda name, taints, labels, cordoned: node_json(
        name, *taints, labels=labels, unschedulable=cordoned
    ),
    st.sampled_from(NAMES),
    TAINTS,
    LABELS,
    st.booleans(),
)
# A node appears or changes; a name alone: it goes.
EVENTS = st.one_of(NODES, st.sampled_from(NAMES))

TOLERATIONS = st.lists(
    st.builds(toleration, KEYS, OPERATORS, VALUES, st.sampled_from(["", "NoSchedule"])), max_size=2
)
REQUIREMENTS = st.lists(
    st.builds(requirement, st.sampled_from(["sla", "kernel"]), SELECTING, VALUES), max_size=2
)
AFFINITIES = st.one_of(
    st.none(),
    REQUIREMENTS.map(required),
    st.lists(st.tuples(st.integers(1, 100), REQUIREMENTS), max_size=2).map(lambda w: preferred(*w)),
)
PODS = st.builds(
    lambda native, annotated, affinity, other: pod_json(
        *native,
        annotated_tolerations=annotated,
        affinity=affinity,
        annotated_affinity=other,
    ),
    TOLERATIONS,
    st.one_of(st.none(), TOLERATIONS, st.just("[{")),
    AFFINITIES,
    AFFINITIES,
)
STEPS = st.lists(st.one_of(EVENTS, st.integers(0, 2)), min_size=4, max_size=30)


def apply(store: NodeStore, event: JSON | str) -> None:
    if isinstance(event, str):
        store.remove(event)
    else:
        store.put(event["metadata"]["name"], msgspec.convert(event, Node))


def entered(ledger: Ledger) -> tuple[object, ...]:
    """What a call enters into its ledger, but for the time it took."""
    counts = [(e.plugin, e.extension_point, dict(e.codes)) for e in ledger.evaluations]
    return counts, ledger.findings, [repr(fault) for fault in ledger.faults]


def verdicts(
    profile: Profile,
    pod: Pod,
    store: NodeStore,
    filtering: Memory[NodeFilter, Status] | None = None,
    scoring: Memory[NodeScorer, Score] | None = None,
) -> tuple[object, ...]:
    snapshot = store.snapshot()
    candidates: Sequence[NodeInfo] = list(snapshot.nodes.values())
    filtered = runner.run_filter(profile, pod, snapshot, candidates, clock=float, memory=filtering)
    scored = runner.run_score(profile, pod, snapshot, candidates, clock=float, memory=scoring)
    # `brief` and `findings` take no part in the equality of statuses.
    briefs = [(status.brief, status.findings) for status in filtered.statuses]
    return (
        filtered.statuses,
        briefs,
        filtered.settled,
        scored.scores,
        entered(filtered.ledger),
        entered(scored.ledger),
    )


@settings(deadline=None, max_examples=100)
@given(
    pods=st.lists(PODS, min_size=3, max_size=3),
    steps=STEPS,
    questions=st.integers(1, 20),
    answers=st.integers(1, 20),
)
def test_remembered_verdicts_are_the_verdicts(
    pods: list[JSON], steps: list[JSON | str | int], questions: int, answers: int
) -> None:
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())
    store = NodeStore()
    filtering = Memory[NodeFilter, Status](max_questions=questions, max_answers=answers)
    scoring = Memory[NodeScorer, Score](max_questions=questions, max_answers=answers)
    for step in steps:
        if not isinstance(step, int):
            apply(store, step)
            continue
        pod = msgspec.convert(pods[step], Pod)
        remembered = verdicts(profile, pod, store, filtering, scoring)

        assert remembered == verdicts(profile, pod, store)
        assert len(filtering) <= questions
        assert len(scoring) <= questions
        assert 0 <= filtering.answers <= answers
        assert 0 <= scoring.answers <= answers
