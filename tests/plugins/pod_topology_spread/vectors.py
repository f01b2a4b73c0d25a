"""The rows of `topology_spread.jsonl`, asked of the plugin itself."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from extender.framework.interface import Code, NodeScorer, RelativeScorer, Settings, Status
from extender.framework.snapshot import Snapshot
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.pod_topology_spread.scoring import IGNORED
from tests.builders import JSON, a_snapshot, node_json, pod_info
from tests.vectors import Row

# The rows were made by code that knows numbers in tolerations, and has no semver operators.
SETTINGS = Settings(gates=FeatureGates(semver_operators=False), no_execute="join")


def node_of(row: JSON) -> JSON:
    return node_json(
        row["name"],
        *({"value": "", **taint} for taint in row["taints"] or ()),
        labels=row["labels"],
        unschedulable=row.get("unschedulable", False),
    )


def snapshot_of_row(row: Row) -> Snapshot:
    """The whole cluster of a row."""
    pods = [
        pod_info(
            pod["name"],
            pod["node"],
            namespace=pod["namespace"],
            labels=pod["labels"],
            terminating=pod.get("deletionTimestamp", False),
        )
        for pod in row["existing_pods"]
    ]
    return a_snapshot([node_of(node) for node in row["nodes"]], pods)


def filtered(row: Row) -> tuple[str, dict[str, Any]]:
    """The status of PreFilter, and the verdict on every node as the row has it."""
    snapshot = snapshot_of_row(row)
    plugin = PodTopologySpread(SETTINGS)
    outcome = plugin.pre_filter(msgspec.convert(row["pod"], Pod), snapshot)
    if isinstance(outcome, Status):
        passes = outcome.code is Code.SKIP
        return outcome.code.value, dict.fromkeys(snapshot.nodes, passes)
    verdicts = {name: outcome.filter(node) for name, node in snapshot.nodes.items()}
    return "Success", {name: (s.code.value, list(s.reasons)) for name, s in verdicts.items()}


def expected_filter(row: Row) -> tuple[str, dict[str, Any]]:
    """What the row says of it."""
    if row["prefilter_status"] != "Success":
        return row["prefilter_status"], {n: v["feasible"] for n, v in row["filter"].items()}
    return "Success", {n: (v["status"], v["reasons"]) for n, v in row["filter"].items()}


def scored(row: Row, names: Sequence[str]) -> tuple[str, dict[str, int], dict[str, int]]:
    """The status of PreScore, and the scores before and after normalisation."""
    snapshot = snapshot_of_row(row)
    outcome = PodTopologySpread(SETTINGS).pre_score(msgspec.convert(row["pod"], Pod), snapshot)
    if isinstance(outcome, Status):
        return outcome.code.value, {}, {}
    raw = raw_scores(outcome, snapshot, names)
    normal = outcome.normalize(list(raw.values()))
    shown = {name: 0 if score == IGNORED else score for name, score in raw.items()}
    return "Success", shown, dict(zip(raw, normal, strict=True))


def raw_scores(scorer: NodeScorer, snapshot: Snapshot, names: Sequence[str]) -> dict[str, int]:
    assert isinstance(scorer, RelativeScorer)
    nodes = [snapshot.nodes[name] for name in names]
    # As the runner asks: once for nodes that are alike, with how many they are.
    exceptions, rows = scorer.exceptions(snapshot.table), snapshot.table.rows
    apart = [exceptions.get(rows[name]) for name in names]
    keys = list(zip(scorer.facet.column(nodes), apart, strict=True))
    alike = Counter(keys)
    samples = dict(zip(keys, nodes, strict=True))
    said = scorer.score_among([samples[key] for key in alike], list(alike.values()))
    scores = dict(zip(alike, said, strict=True))
    return {node.name: scores[key] for node, key in zip(nodes, keys, strict=True)}
