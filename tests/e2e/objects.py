"""Builders of what is sent to the API server, on top of those of the other tests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.builders import JSON, PREFIX

EXTENDED = "extended-scheduler"
WHOLE_NODES = "whole-node-scheduler"
GATED = "gated-scheduler"
MIXED = "mixed-scheduler"
IGNORING = "ignoring-scheduler"
CUT_OFF = "cut-off-scheduler"
NUDGED = "nudged-scheduler"
# What a pod gets that names no scheduler: it has no extender, and its lease is not contended.
DEFAULT = "default-scheduler"
# Each has a lease of its name.
SCHEDULERS = (EXTENDED, WHOLE_NODES, GATED, MIXED, IGNORING, CUT_OFF, NUDGED)


def node(
    name: str,
    *taints: JSON,
    labels: Mapping[str, str] | None = None,
    cpu: str = "4",
    unschedulable: bool = False,
) -> JSON:
    """A node that is ready, as its kubelet would have it."""
    room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    named = {"kubernetes.io/hostname": name, **(labels or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": named},
        "spec": {"taints": list(taints), "unschedulable": unschedulable},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(
    name: str,
    *tolerations: JSON,
    affinity: JSON | None = None,
    native: Sequence[JSON] = (),
    native_affinity: JSON | None = None,
    scheduler: str = EXTENDED,
    cpu: str = "100m",
    priority: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> JSON:
    """A pod; what comes first travels in annotations, what is `native` in the spec."""
    carried = dict(annotations or {})
    if tolerations:
        carried[PREFIX + "tolerations"] = json.dumps(tolerations)
    if affinity is not None:
        carried[PREFIX + "node-affinity"] = json.dumps(affinity)
    spec: JSON = {
        "schedulerName": scheduler,
        "tolerations": list(native),
        # Nobody runs it, so nothing is to be waited for when it is deleted.
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {
                "name": "main",
                "image": "registry.example.com/main:1",
                "resources": {"requests": {"cpu": cpu}},
            }
        ],
    }
    if native_affinity is not None:
        spec["affinity"] = {"nodeAffinity": native_affinity}
    if priority:
        spec["priorityClassName"] = priority
    metadata = {"name": name, "labels": dict(labels or {}), "annotations": carried}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def deployment(name: str, replicas: int, *tolerations: JSON, **more: Any) -> JSON:
    """A Deployment of such pods."""
    template = pod(name, *tolerations, labels={"app": name}, **more)
    del template["metadata"]["name"], template["apiVersion"], template["kind"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
        },
    }
