"""What the runner says is what each plugin says of each node, asked one by one.

Over random clusters, pods and events in between: whatever is remembered, however little may be,
whoever does the work on rows, and however few codes are asked about at once.
"""

import json
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import extender.rows
from extender import plugins
from extender.cluster.cache import ClusterCache
from extender.cluster.resources import key_of
from extender.framework.columns import columns, judging, node_table
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import (
    SUCCESS,
    NodeFilter,
    NodeScorer,
    Profile,
    Score,
    Settings,
    Status,
    unresolvable,
)
from extender.framework.node_info import NodeInfo
from extender.framework.runner import Runner
from extender.framework.snapshot import LabelsFacet, Snapshot
from extender.match.findings import Finding
from extender.match.lru import CacheBudget
from extender.model.core_v1 import Node, PlacedPod, Pod
from extender.plugins.pod_topology_spread.filtering import UNSETTLED
from extender.rows import Candidates, plain
from tests import oracle
from tests.builders import (
    JSON,
    let_pass,
    node_json,
    pod_json,
    preferred,
    required,
    requirement,
    taint,
    toleration,
)

NAMES = ("a", "b", "c", "d", "e", "é", 'q"\n')
VALUES = st.sampled_from(["900", "950", "5.10", "6.1.0", "x", ""])
KEYS = st.sampled_from(["sla", "kernel", ""])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
OPERATORS = st.sampled_from(["", "Equal", "Exists", "Gt", "Lt", "SemverGt", "SemverEq", "Odd"])
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
    st.builds(
        requirement,
        KEYS,
        st.sampled_from(["In", "NotIn", "Exists", "Gt", "SemverLt", "Odd"]),
        VALUES,
    ),
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
    CHANGES, CHANGES, st.sampled_from(NAMES), st.tuples(st.sampled_from(NAMES), st.integers(0, 25))
)
# Which pod is asked about, and which nodes: in any order, some twice, some that nobody knows.
ASKED = st.lists(st.sampled_from((*NAMES, "new", "\\", "ñ")), max_size=9)
ASKS = st.fixed_dictionaries(
    {
        "pod": st.sampled_from([0, 0, 1]),
        "mode": st.sampled_from(["names", "names", "names", "nodes"]),
        "names": st.one_of(st.just(NAMES), st.permutations(NAMES), ASKED),
    }
)
STEPS = st.lists(st.one_of(EVENTS, ASKS, ASKS), min_size=8, max_size=25)

ZONE = LabelsFacet(("zone",))


@dataclass(frozen=True)
class Fragile:
    """A plugin that breaks on nodes of one zone, and notices something about another."""

    name: ClassVar[str] = "Fragile"
    facet: ClassVar[LabelsFacet] = ZONE
    findings: ClassVar[frozenset[Finding]] = frozenset()

    def signature(self, _pod: Pod) -> Hashable | None:
        return "always the same"

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        return self

    def pre_score(self, _pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        return self

    def filter(self, node: NodeInfo) -> Status:
        zone = self._zone(node)
        return unresolvable("zone 950") if zone == "950" else self._noticing(zone)

    def score(self, node: NodeInfo) -> Score:
        zone = self._zone(node)
        return Score(len(zone), self._noticing(zone).findings)

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        return [25 * score for score in scores]

    def _zone(self, node: NodeInfo) -> str:
        if node.labels.get("zone") == "x":
            raise LookupError("zone x")
        return node.labels.get("zone", "")

    def _noticing(self, zone: str) -> Status:
        found = frozenset({Finding("label", "integer", "zone", zone)} if zone == "900" else ())
        return msgspec.structs.replace(SUCCESS, findings=found)


class Cluster:
    """A watched cluster without an API server."""

    def __init__(self, budget: CacheBudget | None = None) -> None:
        self.cache = ClusterCache(reserves=True, caches=budget)

    def apply(self, event: Any) -> None:
        if isinstance(event, str):
            self.cache.nodes.remove(event)
        elif isinstance(event, dict):
            self.cache.nodes.put(event["metadata"]["name"], msgspec.convert(event, Node))
        else:
            node, number = event
            meta = {"name": f"web-{number}", "namespace": "default", "uid": f"uid-{number}"}
            page = {"metadata": meta | {"labels": {"app": "web"}}, "spec": {"nodeName": node}}
            pod = msgspec.json.decode(json.dumps(page), type=PlacedPod)
            self.cache.pods.put(key_of(pod.metadata), pod)


def a_profile(config: Settings, fragile: int) -> Profile:
    """The real plugins, and in some place one that breaks."""
    real = plugins.profile("p", plugins.DEFAULT_WEIGHTS, config)
    if fragile < 0:
        return real
    filters = (*real.filters[:fragile], Fragile(), *real.filters[fragile:])
    return Profile("p", filters, (*real.scorers, (Fragile(), 1)))


def asked_of(table: NodeTable, names: Sequence[str]) -> Candidates:
    """By way of the bytes of a request where they can be read, as the server does it."""
    body = json.dumps(list(names), separators=(",", ":"), ensure_ascii=False).encode() + b"}"
    found = table.index.read(body, 0)
    return table.find(names) if found is None else found


class Side:
    """The runner and its cluster, beside another cluster of which the oracle is asked."""

    def __init__(self, budget: CacheBudget, fragile: int) -> None:
        self.fragile = fragile
        self.ours, self.others = Cluster(budget), Cluster()
        self.profile = a_profile(Settings(caches=budget), fragile)
        self.runner = Runner(budget, clock=lambda: 0.0)

    def apply(self, event: Any) -> None:
        self.ours.apply(event)
        self.others.apply(event)

    def ask(self, pod: Pod, names: Sequence[str], mode: str) -> None:
        snapshot, other = self.ours.cache.snapshot(), self.others.cache.snapshot()
        table, known = snapshot.table, [name for name in names if name in other.nodes]
        if mode == "nodes":
            names = list(dict.fromkeys(known))
            known, table = names, NodeTable(snapshot.nodes[name] for name in names)
        nodes = [other.nodes[name] for name in known]
        fresh = a_profile(Settings(), self.fragile)

        found = asked_of(table, names)
        result = self.runner.filter(self.profile, pod, snapshot, table, found)
        expected = oracle.judge(fresh, pod, other, nodes)
        passing = [n for n, s in zip(nodes, expected.said, strict=True) if s == PASSES]
        kept = {node.name for node in oracle.narrow(fresh, pod, other, passing)}
        statuses = {0: SUCCESS, **dict(result.refusals())}

        assert len(found) == len(names)
        assert [place == 1 for place in found.places] == [name not in known for name in names]
        assert [oracle.whole(statuses[place]) for place in found.places if place != 1] == [
            HELD_BACK if said == PASSES and node.name not in kept else said
            for node, said in zip(nodes, expected.said, strict=True)
        ]
        assert oracle.counts_of(result.stats) == expected.counts
        assert result.stats.findings == expected.findings
        self.answered(pod, table, found, [name for name in known if name in kept])
        self.rank(pod, names, table, nodes)

    def answered(self, pod: Pod, table: NodeTable, found: Candidates, names: list[str]) -> None:
        """As the verb does it: from now on the pod may be on any of these nodes."""
        assert sorted({*names}) == sorted(table.passing(found).names())
        here = self.ours.cache.nodes.table
        passing = here.passing_of(table, found) if names else None
        self.ours.cache.index.answered(pod, passing, waits=not names)
        others = let_pass(self.others.cache.nodes.table, *names) if names else None
        self.others.cache.index.answered(pod, others, waits=not names)

    def rank(
        self, pod: Pod, names: Sequence[str], table: NodeTable, nodes: Sequence[NodeInfo]
    ) -> None:
        snapshot, other = self.ours.cache.snapshot(), self.others.cache.snapshot()
        expected = oracle.score(a_profile(Settings(), self.fragile), pod, other, nodes)
        result = self.runner.score(self.profile, pod, snapshot, table, asked_of(table, names))

        encoded = json.loads(result.encoded())
        assert result.scores() == expected.said
        assert oracle.counts_of(result.stats) == expected.counts
        assert result.stats.findings == expected.findings
        lowest = 0 if len(nodes) < len(names) else min(expected.said, default=0)
        assert [(each["Host"], each["Score"]) for each in encoded] == [
            (node.name, score - lowest)
            for node, score in zip(nodes, expected.said, strict=True)
            if score > lowest
        ]
        silent = self.runner.score_without_candidates(
            self.profile, pod, snapshot, table, lambda: len(nodes)
        )
        if silent is not None:
            assert encoded == []
            assert oracle.counts_of(silent) == expected.counts
            assert silent.findings == expected.findings


PASSES = oracle.whole(SUCCESS)
HELD_BACK = oracle.whole(UNSETTLED.signed("PodTopologySpread"))


@contextmanager
def rows_of(module: ModuleType) -> Iterator[None]:
    """Have the rows worked on by the C or by its twin in Python."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("Candidates", "NameIndex", "recognise"):
            patch.setattr(extender.rows, name, getattr(module, name))
        yield


@pytest.mark.parametrize("module", [extender.rows, plain], ids=["as built", "in Python"])
@pytest.mark.parametrize("max_bytes", [64 << 20, 12_000, 0])
@settings(deadline=None, max_examples=60)
@given(
    few=st.booleans(),
    fragile=st.integers(-3, 3),
    asking=st.tuples(pods(), pods()),
    first=st.tuples(*map(nodes, NAMES)),
    steps=STEPS,
)
def test_the_runner_says_what_the_plugins_say_one_by_one(
    module: ModuleType,
    max_bytes: int,
    few: bool,
    fragile: int,
    asking: tuple[JSON, ...],
    first: tuple[JSON, ...],
    steps: list[Any],
) -> None:
    # With `few`, a handful of nodes is enough to go beyond every bound.
    with pytest.MonkeyPatch.context() as patch, rows_of(module):
        if few:
            patch.setattr(judging, "MAX_EAGER", -1_000)
            patch.setattr(columns, "MAX_UNUSED", 0)
            patch.setattr(node_table, "MAX_CHANGES", 2)
        side = Side(CacheBudget(max_bytes), fragile)
        for event in first:
            side.apply(event)
        for number, step in enumerate(steps):
            if not (isinstance(step, dict) and "mode" in step):
                side.apply(step)
                continue
            pod = asking[step["pod"]]
            pod["metadata"] |= {"name": f"web-{number}", "uid": f"uid-{number}"}
            side.ask(msgspec.convert(pod, Pod), step["names"], step["mode"])
