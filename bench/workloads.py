"""Pending pods as kube-scheduler sends them, 3 KB each.

Keys, their order and their spelling are those of captured bodies: `tests/golden/captured`.
kube-scheduler drops managedFields from the pods that it keeps, so they are not in a pod here;
nodes have theirs. Pods of one workload differ in what the API server gives to each: name, UID,
resource version. Every number of a workload stands for rules of its own.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.cluster import JSON, KERNEL, RETIRING, SLA, SLOT, WHEN, encoded, padded

POD_BYTES: Final = 3_000
PREFIX: Final = "scheduling.leeway/"
NAMED: Final = b"POD-NAME"
UID: Final = b"00000000-0000-4000-8000-000000000000"
VERSION: Final = b"RESOURCE-VERSION"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a workload asks of nodes, beside its resources."""

    tolerations: Sequence[JSON] = ()
    affinity: JSON | None = None
    constraints: Sequence[JSON] = ()

    def annotations(self) -> dict[str, str]:
        """As they travel."""
        carried = {}
        if self.tolerations:
            carried[PREFIX + "tolerations"] = json.dumps(list(self.tolerations))
        if self.affinity is not None:
            carried[PREFIX + "node-affinity"] = json.dumps(self.affinity)
        return carried


def mixed_rules(workload: int) -> Rules:
    """A threshold, a required and a preferred kernel: other ones for every workload."""
    threshold = 800 + workload * 7 % 200
    tolerations = [
        {"key": SLA, "operator": "Gt", "value": str(threshold), "effect": "NoSchedule"},
        {"key": "example.com/build", "operator": "Equal", "value": f"build-{workload}"},
    ]
    affinity = required(f"5.{workload % 10}.{workload}")
    affinity |= preferred(f"6.{workload % 20}.{workload}")
    return Rules(tolerations, affinity)


def unopinionated_rules(workload: int) -> Rules:
    """The same rules, but nothing that makes one node better than another.

    Soft taints make nodes differ, too: the pod tolerates the one that the cluster has.
    """
    known = mixed_rules(workload)
    soft = {"key": RETIRING, "operator": "Exists"}
    return Rules([*known.tolerations, soft], required(f"5.{workload % 10}.{workload}"))


def refused_rules(workload: int) -> Rules:
    """Rules that no node keeps: there is no such kernel."""
    known = mixed_rules(workload)
    return Rules(known.tolerations, required(f"99.{workload}.0"))


def expression_rules(workload: int, up_to: int) -> Rules:
    """A CEL toleration for the slots below a number; no two workloads have the same text."""
    expression = (
        f"taint.key == '{SLOT}' && int(taint.value) < {up_to} && taint.value != 'w-{workload}'"
    )
    return Rules([{"expression": expression}])


def many_rules(workload: int, tolerations: int) -> Rules:
    """So many tolerations, of which the last one counts."""
    others: list[JSON] = [
        {"key": f"example.com/other-{i}", "operator": "Gt", "value": str(workload)}
        for i in range(tolerations - 1)
    ]
    return Rules([*others, {"key": SLA, "operator": "Gt", "value": str(800 + workload % 200)}])


def required(version: str) -> JSON:
    """Only kernels above a version."""
    term = {"matchExpressions": [{"key": KERNEL, "operator": "SemverGt", "values": [version]}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def preferred(version: str) -> JSON:
    """Rather kernels above a version."""
    term = {"matchExpressions": [{"key": KERNEL, "operator": "SemverGt", "values": [version]}]}
    weighted = [{"weight": 10, "preference": term}]
    return {"preferredDuringSchedulingIgnoredDuringExecution": weighted}


def make_pod(app: str, rules: Rules) -> JSON:
    """A pod of a workload, with marks where its pods differ."""
    template_hash = f"{abs(hash_of(app)):010x}"[:10]
    env: list[JSON] = []
    container = {
        "name": "main",
        "image": f"registry.example.com/{app}:v1.2.3",
        "env": env,
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": "token", "readOnly": True, "mountPath": "/var/run/secrets"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    spec: JSON = {
        "volumes": [{"name": "token", "projected": {"sources": [], "defaultMode": 420}}],
        "containers": [container],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "securityContext": {},
        "schedulerName": "extended-scheduler",
        "tolerations": [lasting("not-ready"), lasting("unreachable")],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    pod = {
        "metadata": metadata(app, template_hash, rules),
        "spec": spec,
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }
    if rules.constraints:
        spec["topologySpreadConstraints"] = list(rules.constraints)
    return padded(pod, env, a_variable, POD_BYTES)


def metadata(app: str, template_hash: str, rules: Rules) -> JSON:
    """In Go's order."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{app}-{template_hash}",
        "uid": "00000000-0000-4000-8000-00000000000a",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "name": NAMED.decode(),
        "generateName": f"{app}-{template_hash}-",
        "namespace": "shop",
        "uid": UID.decode(),
        "resourceVersion": VERSION.decode(),
        "generation": 1,
        "creationTimestamp": WHEN,
        "labels": {"app": app, "pod-template-hash": template_hash},
        "annotations": {"example.com/checksum": "0" * 64, **rules.annotations()},
        "ownerReferences": [owner],
    }


def lasting(condition: str) -> JSON:
    """What admission adds to every pod."""
    return {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }


def a_variable(number: int) -> JSON:
    """What most of a pod consists of."""
    return {"name": f"SETTING_{number:03}", "value": f"some-value-of-{number:03}"}


def hash_of(text: str) -> int:
    """The same in every process, unlike hash()."""
    return random.Random(text).getrandbits(40)


@dataclass(slots=True)
class Workload:
    """Encodes its pods one after the other; each is another pod with the same rules."""

    app: str
    rules: Rules
    made: int = 0
    _template: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._template = encoded(make_pod(self.app, self.rules))

    def pod(self, number: int | None = None) -> bytes:
        """The next pod, or the one of this number again."""
        if number is None:
            number = self.made
            self.made += 1
        identity = hash_of(f"{self.app}/{number}")
        template = self._template.replace(NAMED, b"%b-%05x" % (self.app.encode(), number), 1)
        template = template.replace(UID, b"00000000-0000-4000-8000-%012x" % identity, 1)
        return template.replace(VERSION, b"%d" % (2_000_000 + number), 1)
