"""Rules that others than the scheduler do not see."""

import msgspec
import pytest

from extender.framework.interface import Settings
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod, Toleration
from extender.model.storage_v1 import StorageClass
from extender.native.settings import CompileSettings
from extender.review.scan import effects
from extender.review.scan.effects import UnseenByController
from extender.review.scan.objects import Ref, ScannedVolume
from extender.review.scan.values import Met
from tests.builders import (
    JSON,
    a_snapshot,
    node_json,
    pod_json,
    required,
    requirement,
    some_nodes,
    taint,
    toleration,
)

AGENT = Ref("DaemonSet", "default", "agent")
NODES = [
    node_json("plain", labels={"kernel": "6.1"}),
    node_json("spot", taint("sla", "950")),
    node_json("broken", taint("node.kubernetes.io/not-ready", "", "NoExecute")),
    node_json("cordoned", taint("node.kubernetes.io/unschedulable"), unschedulable=True),
]
ABOVE = toleration("sla", "Gt", "900", "NoSchedule")
SPOT = Toleration("sla", "Equal", "950", "NoSchedule")


def unseen(pod: JSON, kind: str = "DaemonSet") -> list[UnseenByController]:
    template = {Ref(kind, "default", "agent"): msgspec.convert(pod, Pod)}
    snapshot = a_snapshot(NODES)
    return list(effects.unseen_by_controller(template, snapshot, Settings(), CompileSettings()))


@pytest.mark.parametrize(
    ("pod", "missing", "stuck", "plain"),
    [
        pytest.param(
            pod_json(annotated_tolerations=[ABOVE]),
            ("spot",),
            (),
            (SPOT,),
            id="tolerated by annotation",
        ),
        pytest.param(
            pod_json({"expression": "taint.key == 'sla'"}),
            ("spot",),
            (),
            (SPOT,),
            id="a native expression",
        ),
        pytest.param(
            pod_json(toleration("sla", "SemverGt", "1")),
            ("spot",),
            (),
            (SPOT,),
            id="a native version",
        ),
        pytest.param(
            pod_json(annotated_affinity=required([requirement("kernel", "SemverGt", "6")])),
            (),
            ("broken", "cordoned"),
            (),
            id="forbidden by annotation",
        ),
        pytest.param(
            pod_json(annotated_tolerations=[toleration("other", "Gt", "1")]),
            (),
            (),
            (),
            id="no matter",
        ),
        pytest.param(
            pod_json(annotated_tolerations="["),
            (),
            ("plain", "broken", "cordoned"),
            (),
            id="an annotation nobody can read",
        ),
    ],
)
def test_what_the_controller_does_differently(
    pod: JSON,
    missing: tuple[str, ...],
    stuck: tuple[str, ...],
    plain: tuple[Toleration, ...],
) -> None:
    assert unseen(pod) == [UnseenByController(AGENT, missing, stuck, plain)]


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        pytest.param(pod_json(ABOVE), "DaemonSet", id="a native number, which it can see"),
        pytest.param(pod_json(annotations={"a": "b"}), "DaemonSet", id="another annotation"),
        pytest.param(pod_json(annotated_tolerations=[ABOVE]), "Deployment", id="a Deployment"),
    ],
)
def test_what_is_no_matter_for_the_controller(pod: JSON, kind: str) -> None:
    assert unseen(pod, kind) == []


EVICTING = Met(some_nodes(node_json("m", taint("maint", "5", "NoExecute")), *NODES)).taints
ANY = toleration("maint", "Exists")
MAINTAINED = toleration("maint", "Gt", "3")


@pytest.mark.parametrize(
    ("pod", "keys"),
    [
        pytest.param(pod_json(annotated_tolerations=[MAINTAINED]), ["maint"], id="annotation"),
        pytest.param(pod_json(ANY, annotated_tolerations=[MAINTAINED]), [], id="both"),
        pytest.param(pod_json(ANY), [], id="native"),
        pytest.param(pod_json(), [], id="neither"),
        pytest.param(pod_json(annotated_tolerations="["), [], id="an annotation nobody can read"),
        pytest.param(
            pod_json(annotated_tolerations=[toleration("maint", "Gt", "3", "NoSchedule")]),
            [],
            id="for another effect",
        ),
    ],
)
def test_no_execute_by_annotation_alone(pod: JSON, keys: list[str]) -> None:
    found = list(
        effects.only_by_annotation({AGENT: msgspec.convert(pod, Pod)}, EVICTING, Settings())
    )

    assert [each.taint.key for each in found] == keys
    assert all(each.nodes == ("m",) for each in found)


@pytest.mark.parametrize(
    ("spec", "late"),
    [
        ({"storageClassName": "late"}, True),
        ({"storageClassName": "late", "claimRef": {"name": "c"}}, False),
        ({"storageClassName": "now"}, False),
        ({"storageClassName": "unknown"}, False),
        ({}, False),
    ],
)
def test_volumes_that_are_bound_too_late(spec: JSON, late: bool) -> None:
    classes = {
        name: msgspec.convert({"metadata": {"name": name}, "volumeBindingMode": mode}, StorageClass)
        for name, mode in (("late", "WaitForFirstConsumer"), ("now", "Immediate"))
    }
    ref = Ref("PersistentVolume", "", "v")
    volume = msgspec.convert({"spec": spec}, ScannedVolume)

    assert list(effects.bound_too_late({ref: volume}, classes)) == ([(ref, "late")] if late else [])


@pytest.mark.parametrize(
    ("pod", "schedulers", "expected"),
    [
        (pod_json(annotated_tolerations=[ABOVE]), {"ours"}, [(AGENT, "default-scheduler")]),
        (pod_json(annotated_tolerations=[ABOVE], scheduler="ours"), {"ours"}, []),
        (pod_json(annotated_tolerations=[ABOVE]), set(), []),
        (pod_json(annotated_affinity={}), {"ours"}, []),
    ],
    ids=["another scheduler", "ours", "every scheduler is ours", "affinity is read for all"],
)
def test_tolerations_that_nobody_reads(
    pod: JSON, schedulers: set[str], expected: list[tuple[Ref, str]]
) -> None:
    template = {AGENT: msgspec.convert(pod, Pod)}

    assert list(effects.read_by_nobody(template, frozenset(schedulers), Settings())) == expected


def test_without_nodes_nothing_differs() -> None:
    pod = msgspec.convert(pod_json(annotated_tolerations=[ABOVE]), Pod)

    found = effects.unseen_by_controller({AGENT: pod}, Snapshot(), Settings(), CompileSettings())

    assert list(found) == [UnseenByController(AGENT, (), ())]
