"""What is kept of the objects that were seen."""

import json

from extender.review.scan.objects import Ref
from tests.builders import JSON, PREFIX, requirement, toleration
from tests.review.scan.scanning import a_pod, an_inventory, owned_by, scanned, workload

RULE = toleration("sla", "Gt", "900")
DEPLOYMENT = Ref("Deployment", "default", "web")
REPLICAS = Ref("ReplicaSet", "default", "web-1")


def test_what_has_no_rule_and_does_not_wait_is_only_counted() -> None:
    inventory = an_inventory(
        workload("Deployment", "web"), a_pod("a", node="n", phase="Running"), a_pod("b", node="n")
    )

    assert inventory.seen == {"Deployment": 1, "Pod": 2}
    assert not (inventory.usages)
    assert not (inventory.templates)
    assert not (inventory.waiting)
    assert not (inventory.owners)


def test_a_pod_that_has_ended_is_only_counted() -> None:
    inventory = an_inventory(a_pod("a", RULE, phase="Succeeded"))

    assert inventory.seen == {"Pod": 1}
    assert not inventory.usages


def test_pods_that_wait_are_kept() -> None:
    assert list(an_inventory(a_pod("a")).waiting) == [Ref("Pod", "default", "a")]


def test_of_pods_with_rules_more_is_kept() -> None:
    inventory = an_inventory(
        a_pod("ruled", RULE, node="n", phase="Running"),
        a_pod("plain"),
        workload("Deployment", "web", RULE),
    )
    (pod,) = inventory.live.values()
    inventory.add("Pod", scanned(a_pod("ruled")))

    assert (pod.metadata.name, pod.spec.node_name, pod.status.phase) == ("ruled", "n", "Running")
    assert not inventory.live


def test_the_root_of_a_pod_is_the_deployment_of_its_replica_set() -> None:
    inventory = an_inventory(
        a_pod("p", RULE, owner=owned_by("ReplicaSet", "web-1")),
        workload("ReplicaSet", "web-1", owner=owned_by("Deployment", "web")),
        workload("Deployment", "web"),
    )

    assert inventory.root(Ref("Pod", "default", "p")) == DEPLOYMENT
    assert inventory.root(REPLICAS) == inventory.root(DEPLOYMENT) == DEPLOYMENT


def test_an_owner_that_was_not_seen_counts_all_the_same() -> None:
    inventory = an_inventory(a_pod("p", RULE, owner=owned_by("Rollout", "web")))

    assert inventory.root(Ref("Pod", "default", "p")) == Ref("Rollout", "default", "web")


def test_owners_in_a_circle_end() -> None:
    inventory = an_inventory(
        workload("Deployment", "web", owner=owned_by("ReplicaSet", "web-1")),
        workload("ReplicaSet", "web-1", owner=owned_by("Deployment", "web")),
    )

    assert inventory.root(DEPLOYMENT) in (DEPLOYMENT, REPLICAS)


def test_an_object_that_comes_again_replaces_itself() -> None:
    inventory = an_inventory(a_pod("a", RULE))
    inventory.add("Pod", scanned(a_pod("a", node="n")))

    assert inventory.seen == {"Pod": 1}
    assert not (inventory.usages)
    assert not (inventory.waiting)
    assert not (inventory.templates)


def test_volumes_with_the_annotation_are_kept() -> None:
    term = {"nodeSelectorTerms": [{"matchExpressions": [requirement("v", "SemverGt", "1")]}]}
    native = {
        "kind": "PersistentVolume",
        "metadata": {"name": "native"},
        "spec": {"nodeAffinity": {"required": term}},
    }
    exists = {"nodeSelectorTerms": [{"matchExpressions": [requirement("a", "Exists")]}]}
    text = json.dumps({"required": exists})
    carried = {
        "kind": "PersistentVolume",
        "metadata": {"name": "carried", "annotations": {"scheduling.leeway/node-affinity": text}},
    }
    inventory = an_inventory(native, carried)

    assert [ref.name for ref in inventory.volumes] == ["carried"]
    assert [ref.name for ref in inventory.usages] == ["native", "carried"]


def test_annotations_that_cannot_be_read_are_kept() -> None:
    inventory = an_inventory(workload("Job", "j", annotated_tolerations="nonsense: ["))

    assert [ref.name for ref in inventory.unreadable] == ["j"]
    assert inventory.templates.keys() == inventory.unreadable.keys()


def hashed(name: str, digest: str, *rules: JSON) -> JSON:
    """A pod of a ReplicaSet that a Deployment made."""
    pod = a_pod(name, *rules, owner=owned_by("ReplicaSet", f"web-{digest}"))
    pod["metadata"]["labels"] = {"pod-template-hash": digest}
    return pod


def test_a_deployment_that_is_only_named_by_its_pods_counts_once() -> None:
    inventory = an_inventory(hashed("p", "5d9c", RULE), hashed("q", "77aa", RULE))

    assert {inventory.root(ref) for ref in inventory.usages} == {DEPLOYMENT}


def test_a_replica_set_that_was_seen_without_an_owner_is_its_own() -> None:
    inventory = an_inventory(hashed("p", "5d9c", RULE), workload("ReplicaSet", "web-5d9c", RULE))

    roots = {inventory.root(ref) for ref in inventory.usages}
    assert roots == {Ref("ReplicaSet", "default", "web-5d9c")}


def test_a_name_that_does_not_end_in_the_hash_tells_nothing() -> None:
    pod = a_pod("p", RULE, owner=owned_by("ReplicaSet", "web-1"))
    pod["metadata"]["labels"] = {"pod-template-hash": "5d9c"}

    assert an_inventory(pod).root(Ref("Pod", "default", "p")) == REPLICAS


def test_a_job_that_is_only_named_is_of_the_cron_job_with_its_name() -> None:
    pod = a_pod("p", RULE, owner=owned_by("Job", "cleanup-29012345"))
    alone, together = an_inventory(pod), an_inventory(pod, workload("CronJob", "cleanup", RULE))

    ref, job = Ref("Pod", "default", "p"), Ref("Job", "default", "cleanup-29012345")
    assert alone.root(ref) == job
    assert together.root(ref) == Ref("CronJob", "default", "cleanup")
    seen = an_inventory(pod, workload("CronJob", "cleanup"), workload("Job", job.name, RULE))
    assert seen.root(ref) == job


def test_mistakes_are_kept_with_what_has_them() -> None:
    misspelt = a_pod("p", annotations={f"{PREFIX}toleration": "[]"})
    again = a_pod("q", annotations={f"{PREFIX}toleration": "[]"}, node="n")
    inventory = an_inventory(misspelt, again, a_pod("r"))

    assert [ref.name for ref in inventory.mistakes] == ["p", "q"]
    inventory.add("Pod", scanned(a_pod("p")))
    assert [ref.name for ref in inventory.mistakes] == ["q"]


def test_the_record_of_a_living_pod_is_no_mistake() -> None:
    pod = a_pod("p", annotations={f"{PREFIX}guarded-keys": "[]"})
    living = a_pod("q", annotations={f"{PREFIX}guarded-keys": "[]"})
    living["metadata"]["uid"] = "u1"

    assert [ref.name for ref in an_inventory(pod, living).mistakes] == ["p"]
