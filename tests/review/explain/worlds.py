"""Random small clusters and pods that are nearly placed, and patches as `kubectl patch` makes them.

The API server accepts every pod of a world: it has no rule that upstream does not know.
"""

import copy
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.builders import (
    JSON,
    node_json,
    pod_json,
    required,
    requirement,
    taint,
    toleration,
)

HOSTNAME = "kubernetes.io/hostname"
SYSTEM = [
    toleration(f"node.kubernetes.io/{name}", "Exists", effect="NoExecute", tolerationSeconds=300)
    for name in ("not-ready", "unreachable")
]
KEYS = ("sla", "node.kubernetes.io/sla", "tier")
NUMBERS = ("700", "900", "950", "0950", "high")
VERSIONS = ("5.10.0", "6.8.0", "6.8.0-91-generic", "v6.9", "x")
EFFECTS = ("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
ZONES = ("a", "A", "b")


@dataclass(frozen=True)
class World:
    """A pod as its template has it, and the nodes."""

    pod: JSON
    nodes: list[JSON]

    def living(self) -> JSON:
        """The pod as it is in a cluster."""
        made = copy.deepcopy(self.pod)
        made["metadata"]["uid"] = "u1"
        made["spec"]["tolerations"] += SYSTEM
        return made


def a_world(random: Random) -> World:
    """One of them."""
    nodes = [_node(random, f"n{index}") for index in range(random.randint(1, 4))]
    return World(_pod(random, [node["metadata"]["name"] for node in nodes]), nodes)


def _node(random: Random, name: str) -> JSON:
    taints = {}
    for _ in range(random.choice((0, 1, 1, 2))):
        made = taint(random.choice(KEYS), _value(random), random.choice(EFFECTS))
        taints[made["key"], made["effect"]] = made
    labels = {HOSTNAME: name}
    for key, values in (("zone", ZONES), ("kernel", VERSIONS), ("cores", NUMBERS)):
        if random.random() < 0.7:
            labels[key] = random.choice(values)
    return node_json(name, *taints.values(), labels=labels, unschedulable=random.random() < 0.15)


def _value(random: Random) -> str:
    return random.choice((*NUMBERS, *VERSIONS))


def _pod(random: Random, nodes: list[str]) -> JSON:
    more: dict[str, Any] = {}
    if random.random() < 0.4:
        more["node_selector"] = {random.choice(("zone", "zonee")): random.choice(ZONES)}
    if random.random() < 0.15:
        more.setdefault("node_selector", {})[HOSTNAME] = random.choice(nodes)
    if random.random() < 0.3:
        more["affinity"] = _affinity(random, ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if random.random() < 0.4:
        more["annotated_affinity"] = _affinity(random, ("In", "Gt", "SemverGt", "SemverLt"))
    if random.random() < 0.6:
        more["annotated_tolerations"] = _annotated(random)
    native = [_toleration(random, ("Equal", "Exists")) for _ in range(random.randint(0, 2))]
    return pod_json(*native, name="report", namespace="default", **more)


def _annotated(random: Random) -> list[JSON] | str:
    rules = [
        _toleration(random, ("Equal", "Exists", "Gt", "Lt", "SemverGt", "SemverLt", "exists"))
        for _ in range(random.randint(1, 2))
    ]
    if random.random() < 0.3:
        return f"- {{key: {random.choice(KEYS)}, operator: Gt, value: {random.choice((900, 950))}}}"
    return rules


def _toleration(random: Random, operators: tuple[str, ...]) -> JSON:
    operator = random.choice(operators)
    effect = random.choice(("", *EFFECTS))
    value = "" if operator.casefold() == "exists" else _value(random)
    made = toleration(random.choice(KEYS), operator, value, effect)
    if effect == "NoExecute" and random.random() < 0.5:
        made["tolerationSeconds"] = 60
    return made


def _affinity(random: Random, operators: tuple[str, ...]) -> JSON:
    terms = []
    for _ in range(random.randint(1, 2)):
        rules = []
        for _ in range(random.randint(1, 2)):
            operator = random.choice(operators)
            match operator:
                case "Exists" | "DoesNotExist":
                    rules.append({"key": random.choice(("zone", "cores")), "operator": operator})
                case "In" | "NotIn":
                    rules.append(requirement("zone", operator, random.choice(ZONES)))
                case "Gt" | "Lt":
                    rules.append(requirement("cores", operator, random.choice(("800", "950"))))
                case _:
                    rules.append(requirement("kernel", operator, random.choice(("6.9", "5.10.0"))))
        terms.append(rules)
    return required(*terms)


def patched(document: JSON, patch: JSON) -> JSON:
    """The document after a strategic merge patch of the fields that fixes change."""
    made = dict(document)
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict):
            made[key] = patched(made.get(key) or {}, value)
        else:
            made[key] = value  # tolerations and terms are atomic lists
    return made


def commanded(node: JSON, command: str) -> JSON:
    """The node after a kubectl command."""
    made = copy.deepcopy(node)
    words = command.split()
    if words[1] == "uncordon":
        made["spec"]["unschedulable"] = False
        return made
    key, _, value = words[-1].partition("=")
    made["metadata"]["labels"][key] = value
    return made


def may_be_updated(before: JSON, after: JSON) -> bool:
    """The API server's rule for a pod that lives, as far as fixes are concerned."""
    old, new = dict(before["spec"]), dict(after["spec"])
    kept, now = (_briefly(each.pop("tolerations")) for each in (old, new))
    return old == new and all(each in now for each in kept)


def _briefly(tolerations: list[JSON]) -> list[JSON]:
    return [{key: value for key, value in each.items() if value} for each in tolerations]
