"""Every row of the vectors through real HTTP: both carriers, both wire modes.

The annotation is asked with `noExecute: join`, as the vectors mean it.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from extender.config.schema import Config, ProfileConfig
from extender.match.gates import FeatureGates
from tests.builders import JSON, node_json, pod_json, preferred, requirement, taint, toleration
from tests.serving import Client, ShiftingSource, lean, names_request, nodes_request, served
from tests.vectors import VECTORS, Row, gates_of, rows

READ_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Question:
    """One request of a row, and what of its answer must hold."""

    line: int
    verb: str
    pod: JSON
    nodes: tuple[JSON, ...]
    expected: Any  # filter: True or the reason for each node; prioritize: the scores in order
    twins: bool = False  # two nodes of one name, so it cannot be asked by names

    @property
    def names(self) -> list[str]:
        return [node["metadata"]["name"] for node in self.nodes]


Ask = Callable[[int, Row, str], Iterable[Question]]


def a_pod(carrier: str, tolerations: list[JSON], **more: Any) -> JSON:
    if carrier == "native":
        return pod_json(*tolerations, **more)
    return pod_json(annotated_tolerations=tolerations, **more)


def of_toleration(line: int, row: Row, carrier: str) -> Iterator[Question]:
    name = f"row-{line}"
    if row["taint"]["effect"] == "PreferNoSchedule":
        pod = a_pod(carrier, [row["toleration"]])
        pair = (node_json(name, row["taint"]), node_json(f"{name}-plain"))
        yield Question(line, "prioritize", pod, pair, [0, 0] if row["tolerates"] else [0, 10])
        return
    if row["taint"]["effect"] not in READ_EFFECTS:
        pod = a_pod(carrier, [row["toleration"]])
        yield Question(line, "filter", pod, (node_json(name, row["taint"]),), {name: True})
        row = as_hard(row)
        name += "-hard"
    pod = a_pod(carrier, [row["toleration"]])
    nodes = (node_json(name, row["taint"]),)
    yield Question(
        line, "filter", pod, nodes, {name: row["tolerates"] or untolerated(row["taint"])}
    )


def untolerated(refusing: JSON) -> str:
    return f"node(s) had untolerated taint {{{refusing['key']}: {refusing['value']}}}"


def as_hard(row: Row) -> Row:
    """The row with an effect that no plugin reads made a hard one, to which the toleration's
    own effect stands as before: equal, empty or another."""
    written, asked = row["taint"]["effect"], row["toleration"]["effect"]
    hard = "NoExecute" if asked == "NoSchedule" else "NoSchedule"
    return row | {
        "taint": row["taint"] | {"effect": hard},
        "toleration": row["toleration"] | {"effect": hard if asked and asked == written else asked},
    }


def of_versions(line: int, row: Row, carrier: str) -> Iterator[Question]:
    operators = {"gt": "SemverGt", "lt": "SemverLt", "eq": "SemverEq"}
    tolerations = [toleration(key, operator, row["b"]) for key, operator in operators.items()]
    taints = {key: taint(key, row["a"]) for key in operators}
    nodes = tuple(node_json(f"row-{line}-{key}", taints[key]) for key in operators)
    expected = {f"row-{line}-{key}": row[key] or untolerated(taints[key]) for key in operators}
    yield Question(line, "filter", a_pod(carrier, tolerations), nodes, expected)


def of_affinity(line: int, row: Row, carrier: str) -> Iterator[Question]:
    fragment = row["pod_spec_fragment"]
    name, labels = row["node"]["name"], row["node"]["labels"]
    node = node_json(name, labels=labels)
    node["metadata"]["labels"] = labels  # null where the row has null
    passes = row["required_match"] or "node(s) didn't match Pod's node affinity/selector"
    yield Question(line, "filter", affine_pod(fragment, carrier), (node,), {name: passes})
    # A score is seen only in relation: beside the node stands its twin, which differs by a
    # preference of our own for a label that no row knows. Of 20 parts one shows as 1.
    twin = node_json(name, labels={**(labels or {}), "leeway.test/twin": "yes"})
    score = row["preferred_score"]
    for weight, expected in ((19 * score, [1, 10]), (19 * (score + 1), [0, 10])):
        if weight:
            pod = affine_pod(fragment, carrier, weight=weight)
            yield Question(line, "prioritize", pod, (node, twin), expected, twins=True)


def affine_pod(fragment: Row, carrier: str, *, weight: int = 0) -> JSON:
    """A pod with the row's affinity in one carrier and our preference in the other."""
    affinity = (fragment.get("affinity") or {}).get("nodeAffinity")
    ours = preferred((weight, [requirement("leeway.test/twin", "Exists")])) if weight else None
    if carrier == "native":
        pod = pod_json(annotated_affinity=ours)
        pod["spec"] |= fragment
        return pod
    pod = pod_json(annotated_affinity=affinity, affinity=ours)
    pod["spec"] |= {key: value for key, value in fragment.items() if key != "affinity"}
    return pod


def of_scores(line: int, row: Row, carrier: str) -> Iterator[Question]:
    pod = a_pod(carrier, row["pod_tolerations"])
    nodes = {node["name"]: node_json(node["name"], *node["taints"]) for node in row["nodes"]}
    reasons = {
        name: verdict["feasible"] or ", ".join(verdict["reasons"])
        for name, verdict in row["filter"].items()
    }
    yield Question(line, "filter", pod, tuple(nodes.values()), reasons)
    feasible = [name for name in nodes if row["filter"][name]["feasible"]]
    scores = [row["scores"][name] for name in feasible]
    silent = len(set(scores)) < 2
    scaled = [0 if silent else (score + 5) // 10 for score in scores]
    candidates = tuple(nodes[name] for name in feasible)
    yield Question(line, "prioritize", pod, candidates, scaled)


def of_cordon(line: int, row: Row, carrier: str) -> Iterator[Question]:
    name, node = f"row-{line}", row["node"]
    nodes = (node_json(name, *node["taints"], unschedulable=node["unschedulable"]),)
    passes = row["feasible"] or ", ".join(row["reasons"])
    pod = a_pod(carrier, row["pod_tolerations"])
    yield Question(line, "filter", pod, nodes, {name: passes})


def batches(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Questions that one cluster can hold together: no two nodes of one name."""
    batch: list[Question] = []
    taken: set[str] = set()
    for question in questions:
        if len(batch) == AT_ONCE or taken & set(question.names):
            yield batch
            batch, taken = [], set()
        batch.append(question)
        taken |= set(question.names)
    if batch:
        yield batch


async def wrong_answers(client: Client, batch: list[Question], mode: str) -> list[str]:
    async def ask(question: Question) -> str:
        body = (
            names_request(question.pod, *question.names)
            if mode == "names"
            else nodes_request(question.pod, *question.nodes)
        )
        answer = verdict(question, await client.ask(question.verb, body), mode)
        expected = question.expected
        if question.verb == "prioritize":
            expected = lean(zip(question.names, expected, strict=True))
        if answer == expected:
            return ""
        return f"line {question.line} {question.verb}: {answer}, not {expected}"

    return [wrong for wrong in await asyncio.gather(*map(ask, batch)) if wrong]


def verdict(question: Question, answer: Any, mode: str) -> Any:
    """The answer in the shape of what is expected; what does not add up stays as it came."""
    if question.verb == "prioritize":
        return answer
    refused = answer["FailedAndUnresolvableNodes"]
    kept = (
        answer["NodeNames"]
        if mode == "names"
        else [node["metadata"]["name"] for node in answer["Nodes"]["items"]]
    )
    adds_up = not answer["Error"] and not answer["FailedNodes"]
    if not adds_up or sorted([*kept, *refused]) != sorted(question.names):
        return answer
    return {name: True if name in kept else refused[name] for name in question.names}


JOINED = Config(no_execute="join")
REDACTED = Config(no_execute="join", reasons="redacted")
CORDON_ONLY = Config(
    no_execute="join",
    profiles=(ProfileConfig("default-scheduler", {"NodeUnschedulable": 0}),),
)


@pytest.mark.parametrize("mode", ["nodes", "names"])
@pytest.mark.parametrize("carrier", ["native", "annotation"])
@pytest.mark.parametrize(
    ("name", "ask", "config"),
    [
        pytest.param("tolerations", of_toleration, JOINED, id="tolerations"),
        pytest.param("semver_compare", of_versions, JOINED, id="semver_compare"),
        pytest.param("semver_tolerations", of_toleration, JOINED, id="semver_tolerations"),
        pytest.param("node_affinity", of_affinity, JOINED, id="node_affinity"),
        pytest.param("node_affinity_semver", of_affinity, JOINED, id="node_affinity_semver"),
        pytest.param("taint_score", of_scores, REDACTED, id="taint_score"),
        pytest.param("unschedulable", of_cordon, CORDON_ONLY, id="unschedulable"),
    ],
)
async def test_every_row(name: str, ask: Ask, config: Config, carrier: str, mode: str) -> None:
    by_gates: dict[FeatureGates, list[Question]] = {}
    for line, row in enumerate(rows(name), start=1):
        # A comparison of versions is asked of the semver operators; it knows of no gates.
        gates = FeatureGates() if name == "semver_compare" else gates_of(row)
        by_gates.setdefault(gates, []).extend(ask(line, row, carrier))
    asked: set[int] = set()
    wrong: list[str] = []
    for gates, questions in by_gates.items():
        source = ShiftingSource()
        async with served(replace(config, gates=gates), source) as client:
            for batch in batches(q for q in questions if mode == "nodes" or not q.twins):
                source.show(*(node for question in batch for node in question.nodes))
                wrong += await wrong_answers(client, batch, mode)
                asked |= {question.line for question in batch}

    assert wrong == []
    assert len(asked) == (VECTORS / f"{name}.jsonl").read_bytes().count(b"\n")
