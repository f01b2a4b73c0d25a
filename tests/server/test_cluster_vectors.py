"""Every row that needs a whole cluster through real HTTP: both wire modes, both carriers.

A row is asked of one plugin alone, as it was made; what it says of scores is seen on the scale
of an extender.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from extender.config.schema import Config, ProfileConfig
from extender.match.gates import FeatureGates
from tests.builders import JSON, PREFIX, node_json
from tests.cluster.apiserver import a_placed_pod
from tests.plugins.pod_topology_spread.vectors import node_of
from tests.plugins.test_volume_binding import claim, claimed, volume
from tests.serving import Client, WholeCluster, lean, names_request, nodes_request, served
from tests.vectors import Row, lines_of, rows

UPSTREAM = FeatureGates(semver_operators=False)


def alone(plugin: str, gates: FeatureGates = UPSTREAM) -> Config:
    """One plugin, and tolerations of the annotation that count for NoExecute as well."""
    weights = {plugin: 2 if plugin == "PodTopologySpread" else 0}
    profiles = (ProfileConfig("default-scheduler", weights),)
    return Config(profiles=profiles, gates=gates, no_execute="join")


@dataclass(frozen=True, slots=True)
class Question:
    """A cluster, a pod, the nodes that are asked about, and what must come of it."""

    verb: str
    cluster: dict[str, list[JSON]]
    pod: JSON
    names: list[str]
    expected: Any


Ask = Callable[[Row, str], Iterator[Question]]


def in_annotations(pod: JSON) -> JSON:
    """The same tolerations and affinity, carried by annotations."""
    spec = dict(pod["spec"])
    carried = {}
    if "tolerations" in spec:
        carried[PREFIX + "tolerations"] = json.dumps(spec.pop("tolerations") or [])
    affinity = (spec.pop("affinity", None) or {}).get("nodeAffinity")
    if affinity is not None:
        carried[PREFIX + "node-affinity"] = json.dumps(affinity)
    metadata = pod["metadata"] | {"annotations": carried}
    return pod | {"metadata": metadata, "spec": spec}


def of_spread(row: Row, carrier: str) -> Iterator[Question]:
    pod = row["pod"] if carrier == "native" else in_annotations(row["pod"])
    cluster = {
        "nodes": [node_of(node) for node in row["nodes"]],
        "pods": [
            a_placed_pod(
                each["name"],
                each["node"],
                namespace=each["namespace"],
                labels=each["labels"],
                terminating=each.get("deletionTimestamp", False),
            )
            for each in row["existing_pods"]
        ],
    }
    names = [node["name"] for node in row["nodes"]]
    verdicts = {
        name: verdict["feasible"] or ", ".join(verdict["reasons"])
        for name, verdict in row["filter"].items()
    }
    refused = row["prefilter_status"] == "Error"
    yield Question("filter", cluster, pod, names, "an error" if refused else verdicts)
    feasible = [name for name, verdict in row["filter"].items() if verdict["feasible"]]
    first = {"nodes": feasible, "scores": row["scores"], "prescore_status": row["prescore_status"]}
    for scoring in (first, *row.get("extra_scorings", ())):
        if scoring["prescore_status"] == "Success":
            scores = [scoring["scores"][name] for name in scoring["nodes"]]
            silent = len(set(scores)) < 2
            scaled = [0 if silent else (score + 5) // 10 for score in scores]
            scored = list(scoring["nodes"])
            expected = lean(zip(scored, scaled, strict=True))
            yield Question("prioritize", cluster, pod, scored, expected)


def of_volume(row: Row, carrier: str) -> Iterator[Question]:
    written = row["pv"]
    affinity = written.get("nodeAffinity")
    made = (
        volume(written["name"], affinity)
        if carrier == "native"
        else volume(written["name"], annotation=affinity)
    )
    cluster = {
        "nodes": [node_json("n1", labels=row["node"]["labels"])],
        "persistentvolumes": [made],
        "persistentvolumeclaims": [claim(volume_name=written["name"])],
    }
    pod = {
        "metadata": {"name": "db-0", "namespace": "default", "uid": "uid-db-0"},
        "spec": {"volumes": [claimed("c1")]},
    }
    passes = row["ok"] or "node(s) didn't match PersistentVolume's node affinity"
    yield Question("filter", cluster, pod, ["n1"], {"n1": passes})


def of_claims(row: Row, _carrier: str) -> Iterator[Question]:
    cluster = {
        "nodes": [node_json(node["name"], labels=node["labels"]) for node in row["nodes"]],
        "persistentvolumes": row["pvs"],
        "persistentvolumeclaims": row["pvcs"],
        "storageclasses": row["storage_classes"],
    }
    verdicts = {
        name: verdict["feasible"] or ", ".join(verdict["reasons"])
        for name, verdict in row["filter"].items()
    }
    yield Question("filter", cluster, row["pod"], list(verdicts), verdicts)


async def answer_to(client: Client, question: Question, mode: str) -> Any:
    """The answer in the shape of what is expected."""
    by_name = {node["metadata"]["name"]: node for node in question.cluster["nodes"]}
    body = (
        names_request(question.pod, *question.names)
        if mode == "names"
        else nodes_request(question.pod, *(by_name[name] for name in question.names))
    )
    answer = await client.ask(question.verb, body)
    if question.verb == "prioritize":
        return answer
    if answer["Error"]:
        return "an error"
    kept = (
        answer["NodeNames"]
        if mode == "names"
        else [node["metadata"]["name"] for node in answer["Nodes"]["items"]]
    )
    refused = answer["FailedAndUnresolvableNodes"]
    assert sorted([*kept, *refused]) == sorted(question.names)
    return {name: True if name in kept else refused[name] for name in question.names}


@pytest.mark.parametrize("mode", ["nodes", "names"])
@pytest.mark.parametrize("carrier", ["native", "annotation"])
@pytest.mark.parametrize(
    ("name", "ask", "config"),
    [
        pytest.param("topology_spread", of_spread, alone("PodTopologySpread"), id="spread"),
        pytest.param("pv_affinity", of_volume, alone("VolumeBinding"), id="volumes"),
        pytest.param(
            "pv_affinity_semver",
            of_volume,
            alone("VolumeBinding", FeatureGates()),
            id="volumes by version",
        ),
        pytest.param("volume_binding", of_claims, alone("VolumeBinding"), id="claims"),
    ],
)
async def test_every_row(name: str, ask: Ask, config: Config, carrier: str, mode: str) -> None:
    source = WholeCluster()
    asked = 0
    wrong: list[str] = []
    async with served(config, source) as client:
        for line, row in enumerate(rows(name), start=1):
            asked += 1
            for question in ask(row, carrier):
                source.become(**question.cluster)
                found = await answer_to(client, question, mode)
                if found != question.expected:
                    wrong.append(f"line {line}, {row['id']}: {found}, not {question.expected}")

    assert wrong == []
    assert asked == lines_of(name)
