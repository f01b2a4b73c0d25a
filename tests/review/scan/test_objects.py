"""Objects as a scan reads them."""

import msgspec
import pytest

from extender.cluster.api import ApiServer
from extender.cluster.listing import pages
from extender.model.core_v1 import LivePod
from extender.review.scan import objects
from extender.review.scan.objects import Ref, ScannedMeta, ScannedPod
from tests.builders import JSON, toleration
from tests.cluster.apiserver import PATHS, WORKLOADS, anonymous, scripted
from tests.review.scan.scanning import a_pod, owned_by, scanned, workload


@pytest.mark.parametrize(
    ("change", "waits"),
    [
        pytest.param({}, True, id="pending"),
        pytest.param({"spec": {"nodeName": "n"}}, False, id="has a node"),
        pytest.param({"spec": {"schedulingGates": [{"name": "g"}]}}, False, id="is gated"),
        pytest.param({"status": {"phase": "Succeeded"}}, False, id="has ended"),
        pytest.param({"metadata": {"deletionTimestamp": "2026"}}, False, id="is going"),
    ],
)
def test_which_pods_wait(change: JSON, waits: bool) -> None:
    pod = {**a_pod("p"), **change}

    assert msgspec.convert(pod, ScannedPod).waits is waits


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "Job", "CronJob", "Pod"])
def test_the_template_of_every_kind(kind: str) -> None:
    labels = {"scheduling.leeway/tolerations": "[]"}
    document = (
        a_pod("a", annotations=labels) if kind == "Pod" else workload(kind, "a", annotations=labels)
    )
    obj = scanned(document)
    assert not isinstance(obj, objects.ScannedVolume)
    pod = obj.template()

    assert pod.metadata is not None
    assert (pod.metadata.name, pod.metadata.namespace) == ("a", "default")
    assert pod.metadata.annotations == labels


def test_a_pod_as_compile_mode_reads_it() -> None:
    document = a_pod(
        "p", toleration("sla", "Gt", "9"), scheduler="s", node="n", owner=owned_by("Job", "j")
    )
    document["metadata"] |= {"uid": "u", "deletionTimestamp": "2026", "resourceVersion": "7"}
    document["spec"]["tolerations"] = [{"key": "sla", "operator": "Gt", "value": "9"}]
    decoded = msgspec.json.decode(msgspec.json.encode(document), type=LivePod)

    assert msgspec.convert(document, ScannedPod).live() == decoded


def test_a_workload_without_a_template() -> None:
    obj = msgspec.convert({"metadata": {"name": "a"}}, objects.ScannedCronJob)

    assert obj.template().spec is None


def test_the_owner_is_the_controller() -> None:
    meta = msgspec.convert({"namespace": "n", **owned_by("Job", "j")}, ScannedMeta)

    assert objects.owner_of(meta) == Ref("Job", "n", "j")
    assert objects.owner_of(ScannedMeta()) is None


def test_a_static_pod_stands_for_itself() -> None:
    meta = msgspec.convert(owned_by("Node", "n"), ScannedMeta)

    assert objects.owner_of(meta) is None


def test_a_reference_reads_like_kubectl() -> None:
    assert str(Ref("Pod", "n", "p")) == "Pod n/p"
    assert str(Ref("PersistentVolume", "", "v")) == "PersistentVolume v"


def test_the_resources_are_where_the_server_has_them() -> None:
    served = PATHS | WORKLOADS

    assert {each.path: each.name for each in objects.RESOURCES.values()}.items() <= served.items()
    assert objects.RESOURCES.keys() == objects.SHAPES.keys()


async def test_a_listed_object_has_its_shape() -> None:
    async with scripted() as server, ApiServer(anonymous(server)).connect() as connection:
        server.put("daemonsets", workload("DaemonSet", "d"))
        resource = objects.RESOURCES["DaemonSet"]
        ((_, page),) = [each async for each in pages(connection, resource)]

    assert [type(item) for item in page.items or ()] == [objects.ScannedWorkload]
