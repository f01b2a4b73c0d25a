"""Objects as a scan meets them."""

from typing import Any

import msgspec

from extender.framework.interface import Settings
from extender.review.scan import objects
from extender.review.scan.inventory import Inventory
from extender.review.scan.objects import Scanned
from tests.builders import JSON, pod_json


def owned_by(kind: str, name: str) -> JSON:
    return {
        "ownerReferences": [
            {"kind": "x", "name": "y"},
            {"kind": kind, "name": name, "controller": True},
        ]
    }


def workload(
    kind: str, name: str, *tolerations: JSON, owner: JSON | None = None, **rules: Any
) -> JSON:
    """A workload whose template has these rules."""
    template = pod_json(*tolerations, **rules)
    spec: JSON = {"template": template}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    metadata = {"name": name, "namespace": "default", **(owner or {})}
    return {"kind": kind, "metadata": metadata, "spec": spec}


def a_pod(
    name: str, *tolerations: JSON, phase: str = "Pending", node: str = "", **rules: Any
) -> JSON:
    """A pod of its own, or of an owner."""
    owner = rules.pop("owner", None) or {}
    pod = pod_json(*tolerations, name=name, **rules)
    pod["metadata"] |= owner
    pod["spec"] |= {"nodeName": node} if node else {}
    return {"kind": "Pod", **pod, "status": {"phase": phase}}


def scanned(document: JSON) -> Scanned:
    return msgspec.convert(document, objects.SHAPES[document["kind"]])


def an_inventory(*documents: JSON, settings: Settings | None = None) -> Inventory:
    inventory = Inventory(settings or Settings())
    for document in documents:
        inventory.add(document["kind"], scanned(document))
    return inventory
