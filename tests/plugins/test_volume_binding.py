"""Where the volumes of a pod can be used: bound claims, and what refuses every node."""

import json
from typing import Any

import msgspec
import pytest

from extender.framework.interface import SKIP, SUCCESS, Code, Settings, Status
from extender.framework.snapshot import Snapshot
from extender.framework.volumes import Volumes
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod
from extender.plugins import volume_binding
from extender.plugins.volume_binding import VolumeBinding
from tests.builders import (
    JSON,
    PREFIX,
    a_node,
    node_json,
    refused,
    requirement,
    some_nodes,
    some_volumes,
)
from tests.vectors import Row, assert_every_row

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
KERNEL = "node.kubernetes.io/kernel-version"
NEWER = {
    "required": {
        "nodeSelectorTerms": [{"matchExpressions": [requirement(KERNEL, "SemverGt", "5.10")]}]
    }
}
UPSTREAM = Settings(gates=FeatureGates(semver_operators=False))


def volume(name: str = "pv1", affinity: JSON | None = None, annotation: Any = None) -> JSON:
    """A PersistentVolume; the annotation may be data or text."""
    metadata: JSON = {"name": name}
    if annotation is not None:
        text = annotation if isinstance(annotation, str) else json.dumps(annotation)
        metadata["annotations"] = {PREFIX + "node-affinity": text}
    return {"metadata": metadata, "spec": {} if affinity is None else {"nodeAffinity": affinity}}


def claim(
    name: str = "c1",
    volume_name: str = "pv1",
    *,
    phase: str = "Bound",
    storage_class: str | None = None,
    annotations: JSON | None = BOUND,
    **meta: Any,
) -> JSON:
    """A claim that is bound, unless told otherwise."""
    metadata = {"name": name, "namespace": "default", "annotations": annotations, **meta}
    spec = {"volumeName": volume_name, "storageClassName": storage_class}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


def a_pod(*volumes: JSON) -> Pod:
    metadata = {"name": "db-0", "namespace": "default", "uid": "uid-db-0"}
    return msgspec.convert({"metadata": metadata, "spec": {"volumes": list(volumes)}}, Pod)


def claimed(name: str) -> JSON:
    return {"name": f"of-{name}", "persistentVolumeClaim": {"claimName": name}}


EPHEMERAL = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
OWNED: dict[str, Any] = {"ownerReferences": [{"uid": "uid-db-0", "controller": True}]}


def judge(
    pod: Pod, volumes: Volumes | None, *, settings: Settings | None = None, **labels: str
) -> Status:
    """What is said of a node with these labels."""
    outcome = VolumeBinding(settings or Settings()).pre_filter(pod, Snapshot(volumes=volumes))
    node = a_node("n1", labels={KERNEL if k == "kernel" else k: v for k, v in labels.items()})
    return outcome if isinstance(outcome, Status) else outcome.filter(node)


# --- The rows ----------------------------------------------------------------------------------


def bound_to(row: Row) -> Volumes:
    written = row["pv"]
    spec = {"nodeAffinity": written["nodeAffinity"]} if "nodeAffinity" in written else {}
    made = {"metadata": {"name": written["name"]}, "spec": spec}
    return some_volumes([made], [claim(volume_name=written["name"])])


def annotated(row: Row) -> Volumes:
    """The same rule in the annotation instead."""
    written = row["pv"]
    made = volume(written["name"], annotation=written.get("nodeAffinity"))
    return some_volumes([made], [claim(volume_name=written["name"])])


def reaches(volumes: Volumes, row: Row, settings: Settings) -> bool:
    question = VolumeBinding(settings).pre_filter(a_pod(claimed("c1")), Snapshot(volumes=volumes))
    assert not isinstance(question, Status)
    node = a_node(row["node"]["name"], labels=row["node"]["labels"])
    status = question.filter(node)
    assert status in (SUCCESS, refused(volume_binding.REASON_CONFLICT))
    return status is SUCCESS or status.code is Code.SUCCESS


@pytest.mark.parametrize("carrier", [bound_to, annotated], ids=["native", "annotation"])
def test_every_row_of_volume_affinity(carrier: Any) -> None:
    assert_every_row(
        "pv_affinity", lambda row: reaches(carrier(row), row, UPSTREAM), lambda row: row["ok"]
    )


@pytest.mark.parametrize("carrier", [bound_to, annotated], ids=["native", "annotation"])
def test_every_row_of_volume_affinity_by_version(carrier: Any) -> None:
    assert_every_row(
        "pv_affinity_semver",
        lambda row: (
            reaches(carrier(row), row, Settings()),
            reaches(carrier(row), row, UPSTREAM),
        ),
        lambda row: (row["ok"], row["gate_off_ok"]),
    )


def bound_claims(row: Row) -> tuple[str, list[str], dict[str, tuple[str, list[str]]]]:
    """PreFilter's status and reasons, and the verdict on every node, as a row has them."""
    volumes = some_volumes(row["pvs"], row["pvcs"], row["storage_classes"])
    nodes = some_nodes(*(node_json(n["name"], labels=n["labels"]) for n in row["nodes"]))
    pod = msgspec.convert(row["pod"], Pod)
    outcome = VolumeBinding(UPSTREAM).pre_filter(pod, Snapshot(volumes=volumes))
    if isinstance(outcome, Status):
        for_all = SUCCESS if outcome is SKIP else outcome
        first = outcome.code.value, list(outcome.reasons)
        verdicts = {node.name: for_all for node in nodes}
    else:
        first = "Success", []
        verdicts = {node.name: outcome.filter(node) for node in nodes}
    return *first, {name: (s.code.value, list(s.reasons)) for name, s in verdicts.items()}


def test_every_row_of_bound_claims() -> None:
    assert_every_row(
        "volume_binding",
        bound_claims,
        lambda row: (
            row["prefilter"]["status"],
            row["prefilter"]["reasons"],
            {name: (v["status"], v["reasons"]) for name, v in row["filter"].items()},
        ),
    )


# --- Cases -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pod", "volumes"),
    [
        pytest.param(a_pod(), some_volumes(), id="no volume"),
        pytest.param(a_pod({"name": "tmp", "emptyDir": {}}), some_volumes(), id="no claim"),
        pytest.param(a_pod(claimed("c1")), None, id="nobody knows of claims"),
        pytest.param(msgspec.convert({}, Pod), some_volumes(), id="an empty pod"),
    ],
)
def test_it_stands_aside(pod: Pod, volumes: Volumes | None) -> None:
    assert judge(pod, volumes) is SKIP


@pytest.mark.parametrize(
    ("pod", "claims", "reason"),
    [
        pytest.param(
            a_pod(claimed("c1")), [], 'persistentvolumeclaim "c1" not found', id="no such claim"
        ),
        pytest.param(
            a_pod(EPHEMERAL),
            [],
            "waiting for ephemeral volume controller to create the persistentvolumeclaim"
            ' "db-0-scratch"',
            id="an ephemeral claim that is still to be made",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(phase="Lost", deletionTimestamp="2026-01-01T00:00:00Z")],
            'persistentvolumeclaim "c1" bound to non-existent persistentvolume "pv1"',
            id="lost, and lost comes before deleted",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(deletionTimestamp="2026-01-01T00:00:00Z")],
            'persistentvolumeclaim "c1" is being deleted',
            id="being deleted",
        ),
        pytest.param(
            a_pod(EPHEMERAL),
            [claim("db-0-scratch", ownerReferences=[{"uid": "uid-other", "controller": True}])],
            "PVC default/db-0-scratch was not created for pod default/db-0 (pod is not owner)",
            id="an ephemeral claim of another pod",
        ),
        pytest.param(
            a_pod(EPHEMERAL),
            [claim("db-0-scratch", ownerReferences=[{"uid": "uid-db-0"}])],
            "PVC default/db-0-scratch was not created for pod default/db-0 (pod is not owner)",
            id="an owner that does not control",
        ),
        pytest.param(
            a_pod(claimed("c1"), claimed("c2")),
            [claim("c2", phase="Lost")],
            'persistentvolumeclaim "c1" not found',
            id="the first claim that fails decides",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(annotations=None)],
            "pod has unbound immediate PersistentVolumeClaims",
            id="a volume that is chosen and not yet bound",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(volume_name="", storage_class="slow")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="unbound, of an immediate class",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(volume_name="", storage_class="unknown")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="unbound, of a class that nobody knows",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(volume_name="")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="unbound, without a class",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [
                claim(
                    volume_name="",
                    storage_class="lazy",
                    annotations={"volume.beta.kubernetes.io/storage-class": "slow"},
                )
            ],
            "pod has unbound immediate PersistentVolumeClaims",
            id="the old annotation names the class",
        ),
        pytest.param(
            a_pod(claimed("c1")),
            [claim(volume_name="pv1", storage_class="lazy", annotations=None)],
            "pod has unbound immediate PersistentVolumeClaims",
            id="chosen beforehand, even where binding waits",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_refuses_every_node(
    pod: Pod, claims: list[JSON], reason: str
) -> None:
    classes = [
        {"metadata": {"name": "slow"}, "volumeBindingMode": "Immediate"},
        {"metadata": {"name": "lazy"}, "volumeBindingMode": "WaitForFirstConsumer"},
    ]

    assert judge(pod, some_volumes([volume()], claims, classes)) == refused(reason)


def test_a_claim_that_waits_for_its_first_consumer_is_kube_schedulers_affair() -> None:
    lazy = {"metadata": {"name": "lazy"}, "volumeBindingMode": "WaitForFirstConsumer"}
    waiting = claim(volume_name="", storage_class="lazy", annotations=None, phase="Pending")

    assert judge(a_pod(claimed("c1")), some_volumes([], [waiting], [lazy])) is SUCCESS


def test_a_claim_made_for_the_pod_is_used() -> None:
    own = claim("db-0-scratch", **OWNED)

    assert judge(a_pod(EPHEMERAL), some_volumes([volume()], [own])) is SUCCESS


def test_a_volume_that_does_not_exist_refuses_every_node() -> None:
    status = judge(a_pod(claimed("c1")), some_volumes([], [claim()]))

    assert status == refused(volume_binding.REASON_NO_VOLUME)


def test_claims_are_judged_in_the_order_of_the_volumes() -> None:
    volumes = some_volumes([volume("pv1", NEWER)], [claim("c1"), claim("c2", "gone")])

    first = judge(a_pod(claimed("c1"), claimed("c2")), volumes, kernel="5.4.0")
    second = judge(a_pod(claimed("c2"), claimed("c1")), volumes, kernel="5.4.0")

    assert first == refused(volume_binding.REASON_CONFLICT)
    assert second == refused(volume_binding.REASON_NO_VOLUME)


@pytest.mark.parametrize(
    ("native", "annotation", "passes"),
    [
        pytest.param(None, None, True, id="no rule"),
        pytest.param({}, {}, True, id="nothing required"),
        pytest.param(NEWER, None, True, id="native"),
        pytest.param(None, NEWER, True, id="annotation"),
        pytest.param(NEWER, NEWER, True, id="both"),
        pytest.param(
            {"required": {"nodeSelectorTerms": []}}, NEWER, False, id="native is stricter"
        ),
        pytest.param(NEWER, {"required": {}}, False, id="the annotation is stricter"),
    ],
)
def test_both_carriers_must_match(native: JSON | None, annotation: Any, passes: bool) -> None:
    volumes = some_volumes([volume(affinity=native, annotation=annotation)], [claim()])
    status = judge(a_pod(claimed("c1")), volumes, kernel="6.1.0")

    assert status == (SUCCESS if passes else refused(volume_binding.REASON_CONFLICT))


def test_an_annotation_of_a_volume_that_cannot_be_read_refuses_every_node() -> None:
    volumes = some_volumes([volume(annotation="{required: {terms: []}}")], [claim()])

    assert judge(a_pod(claimed("c1")), volumes) == refused(
        'persistentvolume "pv1" annotation scheduling.leeway/node-affinity is invalid:'
        " required.terms is not a field of a node selector: it has nodeSelectorTerms"
    )


def test_a_label_that_cannot_be_read_is_noticed() -> None:
    volumes = some_volumes([volume(affinity=NEWER)], [claim()])
    status = judge(a_pod(claimed("c1")), volumes, kernel="latest")

    assert status == refused(volume_binding.REASON_CONFLICT)
    assert status.findings == {Finding("label", "semver", KERNEL, "latest")}


def test_the_name_of_a_node_is_never_asked() -> None:
    fields = {"matchFields": [requirement("metadata.name", "In", "elsewhere")]}
    affinity = {"required": {"nodeSelectorTerms": [fields]}}
    volumes = some_volumes([volume(affinity=affinity)], [claim()])
    question = VolumeBinding(Settings()).pre_filter(a_pod(claimed("c1")), Snapshot(volumes=volumes))

    assert not isinstance(question, Status)
    nodes = some_nodes(node_json("a"), node_json("b"))
    assert len(set(question.facet.column(nodes))) == 1
    assert question.filter(nodes[0]) is SUCCESS


def test_nothing_is_remembered_of_what_changes() -> None:
    plugin = VolumeBinding(Settings())

    assert plugin.signature(a_pod(claimed("c1"))) is None
    assert plugin.signature(a_pod()) is not None
