"""What a real kube-scheduler sent, and how the hand-written golden bodies differ from it.

`make golden` captures `tests/golden/captured` anew. A difference in shape that has no explanation
here, and an explanation that has no difference any more, both fail.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from extender.config.schema import Config
from extender.framework.snapshot import snapshot_of
from extender.model.core_v1 import Node
from extender.verbs import filter as filter_verb
from extender.verbs import preempt, prioritize
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from tests.builders import JSON
from tests.serving import FixedSource

GOLDEN = Path(__file__).parent.parent / "golden"
CAPTURED = GOLDEN / "captured"
NAMES = sorted(path.name.removesuffix(".request.json") for path in CAPTURED.glob("*.request.json"))

ASK = {
    "filter": filter_verb.answer,
    "prioritize": prioritize.answer,
    "preempt": preempt.answer,
}

NO_KUBELET = "in e2e nodes are made through the API, and nothing plays a kubelet"
NO_ACCOUNTS = "in e2e the admission plugin ServiceAccount is off"
OF_THE_STORY = "the two stories differ in this"

ONLY_BY_HAND = {
    "Node.spec.podCIDR": NO_KUBELET,
    "Node.spec.podCIDRs": NO_KUBELET,
    "Node.spec.providerID": NO_KUBELET,
    "Node.spec.taints[].timeAdded": "written by the controllers that taint nodes",
    "Node.spec.unschedulable": OF_THE_STORY,
    "Node.status.conditions[].message": NO_KUBELET,
    "Node.status.features": NO_KUBELET,
    "Node.status.nodeInfo.swap": NO_KUBELET,
    "Node.status.runtimeHandlers": NO_KUBELET,
    "Pod.spec.containers[].args": "shows characters that Go escapes",
    "Pod.spec.containers[].volumeMounts": NO_ACCOUNTS,
    "Pod.spec.serviceAccount": NO_ACCOUNTS,
    "Pod.spec.serviceAccountName": NO_ACCOUNTS,
    "Pod.spec.volumes": NO_ACCOUNTS,
    "Pod.status.podIP": NO_KUBELET,
    "Pod.status.startTime": NO_KUBELET,
}
ONLY_CAPTURED = {
    "Node.metadata.managedFields": "the scheduler drops them of pods, not of nodes",
    "Pod.spec.priorityClassName": OF_THE_STORY,
    "Pod.status.conditions[].observedGeneration": "written by API servers since 1.33",
}

# Objects whose keys are data.
_MAPS = frozenset(
    {"labels", "annotations", "capacity", "allocatable", "requests", "fieldsV1"}
    | {"NodeNameToVictims", "NodeNameToMetaVictims"}
)


def body(folder: Path, name: str, part: str) -> bytes:
    return (folder / f"{name}.{part}.json").read_bytes().removesuffix(b"\n")


def objects(data: Any, path: str = "", key: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every object inside of a body: where it is, and its keys in their order."""
    if isinstance(data, list):
        for each in data:
            yield from objects(each, f"{path}[]")
    elif isinstance(data, dict) and key in _MAPS:
        for each in data.values():
            yield from objects(each, f"{path}.*")
    elif isinstance(data, dict):
        path = _kind(path)
        yield path, list(data)
        for name, each in data.items():
            yield from objects(each, f"{path}.{name}".removeprefix("."), name)


def _kind(path: str) -> str:
    """Pods and nodes are alike wherever they are."""
    if path.endswith("Victims.*.Pods[]") and "Meta" not in path:
        return "Pod"
    return "Node" if path == "Nodes.items[]" else path


def shape(folder: Path) -> dict[str, list[list[str]]]:
    """The keys of all objects of a kind and place, in all bodies that were captured too."""
    found: dict[str, list[list[str]]] = {}
    for name in NAMES:
        for path, keys in objects(json.loads(body(folder, name, "request"))):
            found.setdefault(path, []).append(keys)
    return found


def fields(of: dict[str, list[list[str]]]) -> set[str]:
    return {f"{path}.{key}" for path, every in of.items() for keys in every for key in keys}


def roots(paths: set[str]) -> set[str]:
    """Without what lies below another one."""
    return {p for p in paths if not any(p.startswith((f"{o}.", f"{o}[")) for o in paths)}


@pytest.mark.parametrize("name", NAMES)
def test_a_captured_request_has_its_captured_answer(name: str) -> None:
    nodes = json.loads((CAPTURED / "cluster.json").read_bytes())["items"]
    context = Context(FixedSource(*nodes), Profiles(Config()), refusals="always")
    ask = ASK[name.split("-")[0]]

    assert ask(context, body(CAPTURED, name, "request")).body == body(CAPTURED, name, "answer")


def test_every_captured_request_was_written_by_hand_before() -> None:
    assert [name for name in NAMES if not (GOLDEN / f"{name}.request.json").exists()] == []


def test_the_scheduler_sends_nothing_that_is_not_explained() -> None:
    by_hand, captured = fields(shape(GOLDEN)), fields(shape(CAPTURED))

    assert roots(captured - by_hand) == set(ONLY_CAPTURED)


def test_nothing_is_made_up_by_hand_that_is_not_explained() -> None:
    by_hand, captured = fields(shape(GOLDEN)), fields(shape(CAPTURED))

    assert roots(by_hand - captured) == set(ONLY_BY_HAND)


@pytest.mark.parametrize("name", NAMES)
def test_the_envelope_is_the_same(name: str) -> None:
    def envelope(folder: Path) -> JSON:
        data = json.loads(body(folder, name, "request"))
        return {key: type(value) for key, value in data.items()}

    assert list(envelope(GOLDEN).items()) == list(envelope(CAPTURED).items())


def test_keys_come_in_the_same_order() -> None:
    """Go writes the fields of a struct in the order of their declaration."""
    by_hand, captured = shape(GOLDEN), shape(CAPTURED)
    differing = [
        (path, mine, theirs)
        for path in by_hand.keys() & captured.keys()
        for mine in by_hand[path]
        for theirs in captured[path]
        if [key for key in mine if key in theirs] != [key for key in theirs if key in mine]
    ]

    assert differing == []


def test_the_captured_cluster_is_one_that_leeway_reads() -> None:
    items = json.loads((CAPTURED / "cluster.json").read_bytes())["items"]

    assert len(snapshot_of(msgspec.convert(item, Node) for item in items).nodes) == 4
