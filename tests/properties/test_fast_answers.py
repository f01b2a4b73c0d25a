"""What is answered from memory is what would be answered from nothing: over random clusters, pods
and events in between, in both modes and for all verbs, the bodies and what is counted for them."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.cluster.cache import ClusterCache
from extender.cluster.resources import key_of
from extender.config.schema import Config
from extender.framework import judgement
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Node, PlacedPod
from extender.server.answers import Answer
from extender.server.profiles import Profiles
from extender.server.verbs import Verbs
from extender.wire import messages
from extender.wire.intake import Body
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
from tests.serving import FixedSource

NAMES = ("a", "b", "c", "d", "e")
VALUES = st.sampled_from(["900", "950", "5.10", "x", ""])
KEYS = st.sampled_from(["sla", "kernel"])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
OPERATORS = st.sampled_from(["", "Equal", "Exists", "Gt", "Lt", "SemverGt"])
EXPRESSIONS = st.sampled_from(["taint.value == '900'", "int(taint.value) > 910", "nonsense("])

TAINTS = st.lists(st.builds(taint, KEYS, VALUES, EFFECTS), max_size=2)
LABELS = st.dictionaries(st.sampled_from(["sla", "kernel", "zone"]), VALUES, max_size=3)


def nodes(name: str) -> st.SearchStrategy[JSON]:
    return st.builds(
        lambda taints, labels, cordoned: node_json(
            name, *taints, labels=labels, unschedulable=cordoned
        ),
        TAINTS,
        LABELS,
        st.sampled_from([False, False, True]),
    )


TOLERATIONS = st.lists(
    st.one_of(
        st.builds(toleration, KEYS, OPERATORS, VALUES),
        EXPRESSIONS.map(lambda text: {"expression": text}),
    ),
    max_size=3,
)
REQUIREMENTS = st.lists(
    st.builds(requirement, KEYS, st.sampled_from(["In", "Exists", "Gt", "SemverLt"]), VALUES),
    max_size=2,
)
AFFINITIES = st.one_of(
    st.none(),
    REQUIREMENTS.map(required),
    st.lists(st.tuples(st.integers(1, 100), REQUIREMENTS), max_size=2).map(lambda w: preferred(*w)),
)
CONSTRAINTS = st.lists(
    st.fixed_dictionaries(
        {
            "maxSkew": st.just(1),
            "topologyKey": st.just("zone"),
            "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": st.just({"matchLabels": {"app": "web"}}),
        }
    ),
    max_size=1,
)


@st.composite
def pods(draw: st.DrawFn) -> JSON:
    pod = pod_json(
        *draw(TOLERATIONS),
        affinity=draw(AFFINITIES),
        annotated_tolerations=draw(st.one_of(st.none(), TOLERATIONS, st.just("[{"))),
        annotated_affinity=draw(AFFINITIES),
    )
    pod["metadata"]["labels"] = {"app": "web"}
    constraints = draw(st.one_of(st.just([]), st.just([]), CONSTRAINTS))
    if constraints:
        pod["spec"]["topologySpreadConstraints"] = constraints
    if draw(st.integers(0, 9)) == 0:
        pod["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    return pod


# A node appears or changes; a name alone: it goes; a name and a number: a pod is bound to it.
CHANGES = st.sampled_from(NAMES).flatmap(nodes)
EVENTS = st.one_of(
    CHANGES, CHANGES, st.sampled_from(NAMES), st.tuples(st.sampled_from(NAMES), st.integers())
)
# Which pod is asked about, how, and which names or nodes: in any order, some twice, some unknown.
ASKED = st.lists(st.sampled_from((*NAMES, "new", "é\n")), max_size=7)
ASKS = st.fixed_dictionaries(
    {
        "verb": st.sampled_from(["filter", "filter", "prioritize", "preempt"]),
        "pod": st.sampled_from([0, 0, 1]),
        "mode": st.sampled_from(["names", "names", "nodes"]),
        "names": st.one_of(st.just(NAMES), st.just(NAMES), st.permutations(NAMES), ASKED),
        "spaced": st.sampled_from([False, False, False, True]),
        "streamed": st.booleans(),
    }
)
STEPS = st.lists(st.one_of(EVENTS, ASKS, ASKS), min_size=8, max_size=25)


class Cluster(FixedSource):
    """A watched cluster without an API server."""

    def __init__(self) -> None:
        self.cache = ClusterCache(reserves=True)
        self.carried: dict[str, JSON] = {}

    def snapshot(self) -> Snapshot:
        return self.cache.snapshot()

    def apply(self, event: Any) -> None:
        if isinstance(event, str):
            self.cache.nodes.remove(event)
        elif isinstance(event, dict):
            self.cache.nodes.put(event["metadata"]["name"], msgspec.convert(event, Node))
            self.carried[event["metadata"]["name"]] = event
        else:
            node, number = event
            meta = {"name": f"p{number % 5}", "namespace": "default", "labels": {"app": "web"}}
            page = {"metadata": meta, "spec": {"nodeName": node}}
            pod = msgspec.json.decode(json.dumps(page), type=PlacedPod)
            self.cache.pods.put(key_of(pod.metadata), pod)

    def body(self, ask: JSON, pod: JSON) -> bytes:
        names = list(ask["names"])
        args: JSON
        if ask["verb"] == "preempt":
            victims = {"Pods": [{"UID": "u"}], "NumPDBViolations": 0}
            args = {"Pod": pod, "NodeNameToMetaVictims": dict.fromkeys(names, victims)}
        elif ask["mode"] == "names":
            args = {"Pod": pod, "Nodes": None, "NodeNames": names}
        else:
            items = [self.carried.get(name, node_json(name)) for name in names]
            args = {"Pod": pod, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}
        return json.dumps(args, separators=None if ask["spaced"] else (",", ":")).encode()


def taken_in(verbs: Verbs, body: bytes) -> Body:
    """As it comes from a body that is looked at while it arrives."""
    intake = verbs.intake()
    for at in range(0, len(body), 1_000):
        intake.feed(body[at : at + 1_000])
    return intake.end()


def told(verbs: Verbs, verb: str, body: Body) -> tuple[object, ...]:
    """All that an answer says, but for the time that was taken."""
    answer: Answer = getattr(verbs, verb)(body)
    ledger = answer.ledger
    counts = ledger and [
        (e.plugin, e.extension_point.value, {code.value: n for code, n in e.codes.items()})
        for e in ledger.evaluations
    ]
    return (
        json.loads(b"".join((*answer.ahead, answer.body))),
        (answer.mode, answer.nodes, answer.passed, answer.error, answer.unsettled),
        (answer.resources, answer.generation),
        counts,
        ledger and ledger.findings,
        ledger and [repr(fault) for fault in ledger.faults],
    )


def listed(document: Any) -> Iterable[str]:
    names = document["NodeNames"] or [
        node["metadata"]["name"] for node in (document["Nodes"] or {"items": []})["items"]
    ]
    return [*names, *document["FailedAndUnresolvableNodes"]]


@settings(deadline=None, max_examples=150)
@given(
    few=st.booleans(),
    asking=st.tuples(pods(), pods()),
    first=st.tuples(*map(nodes, NAMES)),
    steps=STEPS,
)
def test_what_is_remembered_is_what_would_be_said(
    few: bool, asking: tuple[JSON, ...], first: tuple[JSON, ...], steps: list[Any]
) -> None:
    # With `few`, five nodes are enough to have more statuses and reasons than is usual.
    with pytest.MonkeyPatch.context() as patch:
        if few:
            patch.setattr(judgement, "MAX_STATUSES", 2)
            patch.setattr(messages, "MAX_DETAILED_REASONS", 1)
        ask_in_turn(asking, first, steps)


def ask_in_turn(asking: tuple[JSON, ...], first: tuple[JSON, ...], steps: list[Any]) -> None:
    profiles = Profiles(Config())
    ours, others = Cluster(), Cluster()
    fast = Verbs(ours, profiles, min_nodes=1)
    for event in first:
        ours.apply(event)
        others.apply(event)
    for number, step in enumerate(steps):
        if not (isinstance(step, dict) and "verb" in step):
            ours.apply(step)
            others.apply(step)
            continue
        pod = asking[step["pod"]]
        pod["metadata"] |= {"name": f"web-{number}", "uid": f"uid-{number}"}
        body = ours.body(step, pod)
        # Fresh each time, and each node by itself.
        plain = Verbs(others, Profiles(Config()), min_nodes=1_000_000)

        answer = told(fast, step["verb"], taken_in(fast, body) if step["streamed"] else body)

        assert answer == told(plain, step["verb"], body)
        document: Any = answer[0]
        if step["verb"] == "filter" and not document["Error"]:
            assert {*listed(document)} == {*step["names"]}
            # As kube-scheduler goes on: the priorities of those that passed.
            step |= {"verb": "prioritize", "names": document["NodeNames"] or step["names"]}
            body = ours.body(step, pod)
            assert told(fast, "prioritize", body) == told(plain, "prioritize", body)
