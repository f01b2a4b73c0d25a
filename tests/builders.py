"""Keyword builders: a pod, a node, a taint in one line, new objects each time."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from extender.framework.columns.node_table import NodeTable, PassingNodes
from extender.framework.interface import (
    Code,
    FilterPlugin,
    NodeFilter,
    NodeScorer,
    Profile,
    ScorePlugin,
    Status,
)
from extender.framework.pods.cohorts import PodInfo
from extender.framework.pods.index import PodIndex
from extender.framework.results import FilterResult, ScoreResult
from extender.framework.runner import Runner
from extender.framework.snapshot import Interner, NodeInfo, Snapshot
from extender.framework.volumes import Volumes
from extender.model.core_v1 import Node, Pod
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass

JSON = dict[str, Any]

PREFIX = "scheduling.leeway/"


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> JSON:
    return {"key": key, "value": value, "effect": effect}


def toleration(
    key: str = "", operator: str = "", value: str = "", effect: str = "", **more: Any
) -> JSON:
    return {"key": key, "operator": operator, "value": value, "effect": effect, **more}


def requirement(key: str, operator: str, *values: str) -> JSON:
    return {"key": key, "operator": operator, "values": list(values)}


def required(*terms: Sequence[JSON]) -> JSON:
    """A node affinity of which one term must match; each term is a list of requirements."""
    selector = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": selector}


def preferred(*weighed: tuple[int, Sequence[JSON]]) -> JSON:
    """A node affinity of preferences, each a weight and a list of requirements."""
    return {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": weight, "preference": {"matchExpressions": list(term)}}
            for weight, term in weighed
        ]
    }


def pod_json(
    *tolerations: JSON,
    name: str = "web-0",
    namespace: str = "default",
    scheduler: str = "",
    affinity: JSON | None = None,
    node_selector: Mapping[str, str] | None = None,
    annotated_tolerations: Sequence[JSON] | str | None = None,
    annotated_affinity: JSON | str | None = None,
    annotations: Mapping[str, str] | None = None,
) -> JSON:
    """A pod as kube-scheduler sends it; annotations may be given as data or as text."""
    carried = dict(annotations or {})
    for suffix, content in (
        ("tolerations", annotated_tolerations),
        ("node-affinity", annotated_affinity),
    ):
        if content is not None:
            carried[PREFIX + suffix] = content if isinstance(content, str) else json.dumps(content)
    spec: JSON = {"tolerations": list(tolerations)}
    if scheduler:
        spec["schedulerName"] = scheduler
    if affinity is not None:
        spec["affinity"] = {"nodeAffinity": affinity}
    if node_selector is not None:
        spec["nodeSelector"] = dict(node_selector)
    return {
        "metadata": {"name": name, "namespace": namespace, "annotations": carried},
        "spec": spec,
    }


def node_json(
    name: str = "node-1",
    *taints: JSON,
    labels: Mapping[str, str] | None = None,
    unschedulable: bool = False,
) -> JSON:
    """A node as the API server has it."""
    return {
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"taints": list(taints), "unschedulable": unschedulable},
    }


def a_pod(*tolerations: JSON, **more: Any) -> Pod:
    return msgspec.convert(pod_json(*tolerations, **more), Pod)


def a_node(name: str = "node-1", *taints: JSON, **more: Any) -> NodeInfo:
    return Interner().node_info(msgspec.convert(node_json(name, *taints, **more), Node))


def some_nodes(*nodes: JSON) -> list[NodeInfo]:
    """Nodes of one cluster: what they share is shared."""
    interner = Interner()
    return [interner.node_info(msgspec.convert(node, Node)) for node in nodes]


def pod_info(
    name: str,
    node: str = "",
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    nominated: str = "",
    terminating: bool = False,
    priority: int = 0,
) -> PodInfo:
    """A pod that has a node, or is nominated to one; its UID is `uid-` and its name."""
    return PodInfo(
        namespace, name, f"uid-{name}", node, nominated, terminating, dict(labels or {}), priority
    )


def a_snapshot(
    nodes: Sequence[JSON],
    pods: Sequence[PodInfo] = (),
    volumes: Volumes | None = None,
    *,
    reserves: bool = False,
) -> Snapshot:
    """A cluster that knows of its pods."""
    by_name = {node.name: node for node in some_nodes(*nodes)}
    index = PodIndex(by_name, reserves=reserves)
    for pod in pods:
        index.put(pod, None)
    table = NodeTable(by_name.values(), lasting=True)
    return Snapshot(by_name, pods=index, volumes=volumes, table=table)


def some_volumes(
    volumes: Sequence[JSON] = (), claims: Sequence[JSON] = (), classes: Sequence[JSON] = ()
) -> Volumes:
    """Storage as the API server has it."""
    made = (
        msgspec.convert(list(volumes), list[PersistentVolume]),
        msgspec.convert(list(claims), list[PersistentVolumeClaim]),
        msgspec.convert(list(classes), list[StorageClass]),
    )
    return Volumes(
        {each.metadata.name: each for each in made[0]},
        {f"{each.metadata.namespace}/{each.metadata.name}": each for each in made[1]},
        {each.metadata.name: each for each in made[2]},
    )


def refused(*reasons: str, plugin: str = "") -> Status:
    """A refusal that no eviction cures, whole."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, plugin)


def question_of(plugin: FilterPlugin, pod: Pod) -> NodeFilter:
    """What a plugin asks of nodes for this pod; it must have something to ask."""
    question = plugin.pre_filter(pod, Snapshot())
    assert not isinstance(question, Status), question
    return question


def judge(plugin: FilterPlugin, pod: Pod, node: NodeInfo) -> Status:
    """What one plugin says of one node."""
    question = plugin.pre_filter(pod, Snapshot())
    return question if isinstance(question, Status) else question.filter(node)


def scorer_of(plugin: ScorePlugin, pod: Pod) -> NodeScorer:
    """How a plugin scores nodes for this pod; it must have something to say."""
    scorer = plugin.pre_score(pod, Snapshot())
    assert not isinstance(scorer, Status), scorer
    return scorer


def filtered(
    profile: Profile,
    pod: Pod,
    nodes: Iterable[NodeInfo],
    snapshot: Snapshot | None = None,
    *,
    narrow: bool = False,
) -> FilterResult:
    """The verdict on nodes of which nothing is remembered."""
    table = NodeTable(nodes)
    return Runner(clock=lambda: 0.0).filter(
        profile, pod, snapshot or Snapshot(), table, table.candidates(), narrow=narrow
    )


def scored(
    profile: Profile, pod: Pod, nodes: Iterable[NodeInfo], snapshot: Snapshot | None = None
) -> ScoreResult:
    """The scores of nodes of which nothing is remembered."""
    table = NodeTable(nodes)
    return Runner(clock=lambda: 0.0).score(
        profile, pod, snapshot or Snapshot(), table, table.candidates()
    )


def let_pass(table: NodeTable, *names: str) -> PassingNodes:
    """Nodes that a pod was let pass on."""
    candidates = table.find(names)
    candidates.judge((), (), ())
    return table.passing(candidates)
