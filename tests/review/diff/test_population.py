"""Whose pods are whose."""

from extender.review import daemons
from extender.review.diff.population import Member
from extender.review.scan.objects import Ref
from tests.review.diff.clusters import population, running

DEPLOYMENT = Ref("Deployment", "default", "web")


def workloads(*pods: object, **more: object) -> dict[str, str]:
    found = population(*pods, **more)  # type: ignore[arg-type]
    return {member.ref.name: str(member.workload) for member in found.members()}


def template(name: str, **meta: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default", **meta}, "spec": {"template": {}}}


def test_a_pod_belongs_to_the_topmost_owner() -> None:
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    replicas = template("web-6d4", ownerReferences=[owner])

    assert workloads(
        running("web-6d4-a", owner=("ReplicaSet", "web-6d4")), ReplicaSet=replicas
    ) == {"web-6d4-a": "Deployment default/web"}


def test_a_deployment_is_known_by_the_hash_where_nobody_lists_replica_sets() -> None:
    pod = running("web-6d4-a", owner=("ReplicaSet", "web-6d4"), labels={"pod-template-hash": "6d4"})

    assert workloads(pod) == {"web-6d4-a": "Deployment default/web"}


def test_a_replica_set_of_its_own_is_no_deployment() -> None:
    other = running("rs-a", owner=("ReplicaSet", "rs"), labels={"pod-template-hash": "6d4"})

    assert workloads(running("rs-b", owner=("ReplicaSet", "rs")), other) == dict.fromkeys(
        ("rs-a", "rs-b"), "ReplicaSet default/rs"
    )


def test_a_workload_without_pods_stands_for_itself() -> None:
    found = population(
        running("a", owner=("StatefulSet", "with")),
        StatefulSet=template("with"),
        Deployment=template("without"),
    )

    assert {(m.ref.name, m.live is None) for m in found.members()} == {
        ("a", False),
        ("without", True),
    }


def test_pods_that_have_ended_and_volumes_are_left_out() -> None:
    ended = running("a") | {"status": {"phase": "Succeeded"}}

    assert workloads(ended, PersistentVolume={"metadata": {"name": "v"}}) == {}


def test_owners_may_form_a_circle() -> None:
    owner = {"kind": "ReplicaSet", "name": "rs", "controller": True}
    found = population(
        running("a", owner=("ReplicaSet", "rs")),
        ReplicaSet=template("rs", ownerReferences=[owner]),
    )

    assert [member.workload.name for member in found.members()] == ["rs"]


def test_the_template_of_a_daemon_set_has_what_its_controller_adds() -> None:
    (member,) = population(DaemonSet=template("agent")).members()

    assert member.pod.spec is not None
    assert member.pod.spec.tolerations == daemons.TOLERATIONS


def test_a_daemon_has_a_node() -> None:
    ref = Ref("Pod", "default", "a")
    daemon = Ref("DaemonSet", "default", "agent")
    (pod,) = population(running("a", "n")).members()

    assert Member(ref, daemon, pod.pod, "n").is_daemon
    assert not Member(ref, daemon, pod.pod).is_daemon
    assert not Member(ref, DEPLOYMENT, pod.pod, "n").is_daemon
