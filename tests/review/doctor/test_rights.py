"""What Leeway must be allowed to do: exactly what it is given."""

from extender.cluster.access_reviews import Access
from extender.config.schema import Config, ProfileConfig
from extender.config.schema import LeaderElection as ControllerElection
from extender.review.doctor import rights
from extender.review.doctor.scheduler import LeaderElection, SchedulerConfiguration
from tests.deploy import rendering


def test_what_is_needed_is_what_the_shipped_role_allows() -> None:
    objects = rendering.kustomized(rendering.OVERLAYS / rendering.EXTENDER_SERVICE)
    roles = [each for each in objects if each["kind"] == "ClusterRole"]
    allowed = {
        (verb, resource, group)
        for role in roles
        if role["metadata"]["name"] == "leeway"
        for rule in role["rules"]
        for verb in rule["verbs"]
        for resource in rule["resources"]
        for group in rule["apiGroups"]
    }

    needed = {
        (a.verb, f"{a.resource}/{a.subresource}".rstrip("/"), a.group) for a in rights.needed(None)
    }
    assert needed == allowed


def test_fewer_plugins_need_less() -> None:
    profiles = (ProfileConfig("x", {"TaintToleration": 3}),)
    waking, silent = (Config(profiles=profiles, nudges_per_second=rate) for rate in (1, 0))

    assert {access.resource for access in rights.needed(silent)} == {"nodes"}
    assert {str(access) for access in rights.needed(waking)} - {
        str(access) for access in rights.needed(silent)
    } == {"get pods", "list pods", "watch pods", "patch pods/status"}


def test_what_a_second_scheduler_needs() -> None:
    election = LeaderElection(resource_name="second", resource_namespace="leeway")
    needed = rights.needed_by_scheduler(SchedulerConfiguration(leader_election=election))

    assert [str(access) for access in needed] == [
        "list nodes",
        "create pods/binding",
        "patch persistentvolumes",
        "get configmaps extension-apiserver-authentication in kube-system",
        "create leases.coordination.k8s.io in leeway",
        "get leases.coordination.k8s.io second in leeway",
        "update leases.coordination.k8s.io second in leeway",
    ]
    alone = SchedulerConfiguration(leader_election=LeaderElection(leader_elect=False))
    assert len(list(rights.needed_by_scheduler(alone))) == 4


def test_what_the_scheduler_may_not_do() -> None:
    (problem,) = rights.check_scheduler([Access("list", "nodes")], "jane")

    assert (problem.check, problem.where) == ("scheduler-rights", "list nodes")


def test_who_may_not_wake_pods_is_told_which_verb_is_missing() -> None:
    (problem,) = rights.check([rights.WAKE], "jane")

    assert (problem.severity, problem.check) == ("warning", "nudge-rights")
    assert problem.where == "patch pods/status"


def test_what_is_missing_is_told_by_resource() -> None:
    refused = [Access("list", "nodes"), Access("watch", "nodes"), Access("get", "s", "g")]
    found = list(rights.check(refused, "jane"))

    assert [(p.severity, p.where) for p in found] == [("error", "nodes"), ("error", "s.g")]
    assert found[0].why.startswith("jane may not list, watch it")
    assert next(iter(rights.check(refused, ""))).why.startswith("the one who asks")


def test_what_a_controller_needs_is_what_its_shipped_roles_allow() -> None:
    objects = rendering.kustomized(rendering.OVERLAYS / rendering.COMPILE)
    allowed = {
        (verb, resource, group, role["metadata"].get("namespace", ""), name)
        for role in objects
        if role["kind"] in ("ClusterRole", "Role")
        for rule in role["rules"]
        for verb in rule["verbs"]
        for resource in rule["resources"]
        for group in rule["apiGroups"]
        for name in rule.get("resourceNames", [""])
    }
    needed = {
        (a.verb, a.resource, a.group, a.namespace, a.name)
        for a in rights.needed_by_controller(Config())
    }

    assert needed == allowed


def test_a_controller_without_an_election_needs_no_lease() -> None:
    alone = Config(leader_election=ControllerElection(leader_elect=False))

    assert "leases" not in {access.resource for access in rights.needed_by_controller(alone)}


def test_what_a_controller_never_does_is_not_needed() -> None:
    assert not set(rights.NEVER) & set(rights.needed_by_controller(Config()))


def test_each_right_that_a_controller_lacks_has_its_consequence() -> None:
    needed = list(rights.needed_by_controller(Config()))
    found = list(rights.check_controller(needed, "jane"))

    assert [p.where for p in found] == [str(access) for access in needed]
    assert {(p.severity, p.check) for p in found} == {("error", "controller-rights")}
    why = {p.where: p.why for p in found}
    assert why["patch pods"].endswith("adds no toleration to a pod that exists, and no guard")
    assert why["watch pods"].endswith("never becomes ready")
    (unnamed,) = rights.check_controller(needed[:1], "")
    assert unnamed.why.startswith("the one who asks")


def test_a_right_too_much_is_a_warning() -> None:
    (problem,) = rights.check_excess(rights.NEVER[:1], "jane")

    assert (problem.severity, problem.check) == ("warning", "excess-rights")
    assert problem.where == "delete pods"
