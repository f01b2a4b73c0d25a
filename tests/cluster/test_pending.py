"""The pods without a node: whose rules are kept, and how much they may take."""

from typing import Any

import msgspec
import pytest

from extender.cluster import pending as pending_module
from extender.cluster.pending import PendingPods
from extender.model.core_v1 import PendingPod, Pod
from tests.builders import JSON, PREFIX, toleration
from tests.waiting import a_waiting_pod, refused, schedulable

SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]


def put(pods: PendingPods, pod: JSON, **status: Any) -> str:
    key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    pods.put(
        key, msgspec.json.decode(msgspec.json.encode(pod | {"status": status}), type=PendingPod)
    )
    return key


def with_spec(pod: JSON, **spec: Any) -> JSON:
    return pod | {"spec": pod["spec"] | spec}


def body_of(pod: JSON, **status: Any) -> Pod:
    """The rules that are kept of a pod."""
    pods = PendingPods((), PREFIX)
    found = pods.get(put(pods, pod, **status))
    assert found is not None
    assert found.rules is not None
    return found.rules.pod()


def resources_of(pod: JSON) -> frozenset[str]:
    pods = PendingPods((), PREFIX)
    found = pods.get(put(pods, pod))
    assert found is not None
    assert found.rules is not None
    return found.rules.resources


def test_pods_of_one_workload_share_their_rules() -> None:
    pods = PendingPods((), PREFIX)
    keys = [put(pods, a_waiting_pod(toleration("sla", "Gt", "1"), name=n)) for n in ("a", "b")]
    first, second = map(pods.get, keys)

    assert first is not None
    assert second is not None
    assert first.rules is second.rules
    assert len(pods) == 2


def test_the_rules_are_those_of_the_pod() -> None:
    pod = a_waiting_pod(
        toleration("sla", "Gt", "1"),
        node_selector={"a": "b"},
        annotated_tolerations=[{"expression": "true"}],
        annotations={"unrelated": "x"},
    )
    kept = body_of(pod)

    assert kept.spec == msgspec.convert(pod["spec"], Pod.__annotations__["spec"])
    assert kept.metadata is not None
    assert kept.metadata.annotations == {f"{PREFIX}tolerations": '[{"expression": "true"}]'}
    assert kept.metadata.name == kept.metadata.uid == kept.metadata.namespace == ""


@pytest.mark.parametrize(
    ("spec", "status", "name", "namespace", "labels"),
    [
        pytest.param({}, {}, "", "", None, id="a plain pod is like any other"),
        pytest.param(
            {"topologySpreadConstraints": SPREAD}, {}, "", "default", {"app": "web"}, id="spread"
        ),
        pytest.param(
            {"topologySpreadConstraints": SPREAD},
            {"nominatedNodeName": "a"},
            "web-0",
            "default",
            {"app": "web"},
            id="nominated: it counts, but not for itself",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
            {},
            "",
            "default",
            None,
            id="a claim is looked up in the namespace",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "ephemeral": {}}]},
            {},
            "web-0",
            "default",
            None,
            id="an ephemeral claim is named after the pod",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "emptyDir": {}}]}, {}, "", "", None, id="no claim at all"
        ),
    ],
)
def test_what_of_a_pod_decides(
    spec: JSON, status: JSON, name: str, namespace: str, labels: JSON | None
) -> None:
    pod = with_spec(a_waiting_pod(), **spec)
    pod["metadata"]["labels"] = {"app": "web"}
    meta = body_of(pod, **status).metadata

    assert meta is not None
    assert (meta.name, meta.namespace, meta.labels) == (name, namespace, labels)


def test_what_of_the_cluster_the_rules_depend_on() -> None:
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}

    assert resources_of(a_waiting_pod()) == {"nodes"}
    assert resources_of(with_spec(a_waiting_pod(), topologySpreadConstraints=SPREAD)) == {
        "nodes",
        "pods",
    }
    assert resources_of(with_spec(a_waiting_pod(), volumes=[claim])) == {
        "nodes",
        "persistentvolumes",
        "persistentvolumeclaims",
        "storageclasses",
    }


@pytest.mark.parametrize(
    ("pod", "is_kept"),
    [
        pytest.param(a_waiting_pod(scheduler="ours"), True, id="ours"),
        pytest.param(a_waiting_pod(scheduler="another"), False, id="another's"),
        pytest.param(
            a_waiting_pod(scheduler="another", annotated_affinity={}),
            True,
            id="another's, but we judge its annotation",
        ),
        pytest.param(
            with_spec(a_waiting_pod(scheduler="ours"), schedulingGates=[{"name": "x"}]),
            False,
            id="gated: nobody tries to place it",
        ),
    ],
)
def test_whom_we_look_after(pod: JSON, is_kept: bool) -> None:
    pods = PendingPods({"ours"}, PREFIX)
    put(pods, pod)

    assert len(pods) == is_kept


def test_what_kube_scheduler_and_we_have_said_of_a_pod() -> None:
    pods = PendingPods((), PREFIX)
    key = put(pods, a_waiting_pod(), **refused(conditions=[schedulable("then")]))
    found = pods.get(key)

    assert found is not None
    assert (found.refused, found.schedulable) == (True, "then")
    put(pods, a_waiting_pod(), phase="Pending")
    again = pods.get(key)
    assert again is not None
    assert (again.refused, again.schedulable) == (False, "")


def test_what_is_kept_is_bounded_and_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (
        a_waiting_pod(name=n, node_selector={"k": "x" * size})
        for n, size in (("s", 1), ("l", 3_000))
    )
    pods = PendingPods((), PREFIX, max_bytes=4_000)
    first = put(pods, large)
    second = put(pods, a_waiting_pod(name="m", node_selector={"k": "y" * 3_000}))

    assert getattr(pods.get(first), "rules", None) is not None
    assert getattr(pods.get(second), "rules", 0) is None
    pods.remove(first)
    pods.remove(first)
    put(pods, a_waiting_pod(name="m", node_selector={"k": "y" * 3_000}))
    assert getattr(pods.get(second), "rules", None) is not None
    monkeypatch.setattr(pending_module, "MAX_POD_BYTES", 10)
    third = put(pods, small)
    assert getattr(pods.get(third), "rules", 0) is None
    pods.remove(third)
    assert len(pods) == 1


def test_a_pod_that_changes_frees_its_old_rules() -> None:
    pods = PendingPods((), PREFIX, max_bytes=4_000)
    key = ""
    for letter in "abcdefgh":
        key = put(pods, a_waiting_pod(node_selector={"k": letter * 3_000}))
        found = pods.get(key)
        assert found is not None
        assert found.rules is not None or letter != "a"

    assert [each.key for each in pods.values()] == [key]
