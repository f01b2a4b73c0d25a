"""Which objects are scanned."""

import pytest

from extender.framework.interface import Settings
from extender.match import label_selectors
from extender.review.scan.inventory import Inventory
from extender.review.scan.objects import Ref
from extender.review.scan.selection import Selection
from tests.builders import JSON, toleration
from tests.review.scan.scanning import a_pod, owned_by, scanned, workload

RULE = toleration("sla", "Gt", "900")
VOLUME: JSON = {"kind": "PersistentVolume", "metadata": {"name": "v", "labels": {"app": "web"}}}


def labelled(document: JSON, **labels: str) -> JSON:
    return {**document, "metadata": {**document["metadata"], "labels": labels}}


def making(document: JSON, **labels: str) -> JSON:
    """The workload with these labels on its pods."""
    job = document["spec"].get("jobTemplate", document)
    job["spec"]["template"]["metadata"]["labels"] = labels
    return document


def elsewhere(document: JSON) -> JSON:
    return {**document, "metadata": {**document["metadata"], "namespace": "other"}}


@pytest.mark.parametrize(
    ("document", "by_namespace", "by_label"),
    [
        (a_pod("p"), True, False),
        (elsewhere(labelled(a_pod("p"), app="web")), False, True),
        (labelled(workload("Deployment", "d"), app="web"), True, True),
        (making(workload("CronJob", "c"), app="web"), True, True),
        (making(workload("Job", "j"), app="db"), True, False),
        (VOLUME, False, True),
    ],
)
def test_by_namespace_and_by_label(document: JSON, by_namespace: bool, by_label: bool) -> None:
    obj = scanned(document)

    assert Selection().takes(obj)
    assert Selection("default").takes(obj) is by_namespace
    assert Selection(selector=label_selectors.parse("app=web")).takes(obj) is by_label


def test_an_owner_that_is_not_selected_is_still_the_owner() -> None:
    chosen = Selection(selector=label_selectors.parse("app=web"))
    inventory = Inventory(Settings(), chosen)
    for document in (
        labelled(a_pod("p", RULE, owner=owned_by("ReplicaSet", "web-1")), app="web"),
        workload("ReplicaSet", "web-1", RULE, owner=owned_by("Deployment", "web")),
        workload("Deployment", "web", RULE),
    ):
        inventory.add(document["kind"], scanned(document))

    assert inventory.seen == {"Pod": 1}
    (ref,) = inventory.usages
    assert inventory.root(ref) == Ref("Deployment", "default", "web")
