"""The roles in `deploy/` allow what is watched and what is written, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from extender import plugins
from extender.cluster import resources
from extender.cluster.resources import Resource
from extender.config.schema import LeaderElection

KUSTOMIZE = Path(__file__).parent.parent / "deploy/kustomize"
EXTENDER = KUSTOMIZE / "base/rbac.yaml"
CONTROLLER = KUSTOMIZE / "overlays/compile/rbac.yaml"
NAMESPACE = "leeway"
LEASES = ("coordination.k8s.io", "leases")


def documents(file: Path = EXTENDER) -> dict[str, Any]:
    found = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    by_kind = {document["kind"]: document for document in found}

    assert len(by_kind) == len(found)
    return by_kind


def group_of(resource: Resource[Any]) -> str:
    """The API group of a path: /api/v1/... is the core group, which has no name."""
    _, root, *rest = resource.path.split("/")
    return "" if root == "api" else rest[0]


def watched() -> set[tuple[str, str]]:
    """Group and name of all that is watched with every plugin on."""
    names = plugins.resources(plugins.DEFAULT_WEIGHTS)
    known = {each.name: each for each in vars(resources).values() if isinstance(each, Resource)}
    return {(group_of(known[name]), name) for name in names}


def allowed_by(rules: list[Any]) -> list[tuple[str, str, str]]:
    return [
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def test_the_role_allows_what_is_watched_and_written_and_nothing_else() -> None:
    rules = documents()["ClusterRole"]["rules"]
    allowed = allowed_by(rules)

    expected = {(*each, verb) for each in watched() for verb in ("get", "list", "watch")}
    assert set(allowed) == expected | {("", "pods/status", "patch")}
    assert len(allowed) == len(set(allowed))
    assert all(set(rule) == {"apiGroups", "resources", "verbs"} for rule in rules)


def test_a_controller_reads_nodes_and_pods_patches_pods_and_writes_events() -> None:
    """It cannot delete or evict a pod, write a status, bind a pod or change a node."""
    rules = documents(CONTROLLER)["ClusterRole"]["rules"]
    allowed = allowed_by(rules)

    read = {("", each, verb) for each in ("nodes", "pods") for verb in ("get", "list", "watch")}
    written = {("", "pods", "patch"), ("", "events", "create"), ("", "events", "patch")}
    assert sorted(allowed) == sorted(read | written)
    assert all(set(rule) == {"apiGroups", "resources", "verbs"} for rule in rules)


def test_a_controller_holds_no_lease_but_its_own() -> None:
    role = documents(CONTROLLER)["Role"]
    created, held = role["rules"]

    assert role["metadata"]["namespace"] == LeaderElection().namespace == NAMESPACE
    assert allowed_by([created]) == [(*LEASES, "create")]
    assert allowed_by([held]) == [(*LEASES, "get"), (*LEASES, "update")]
    assert held["resourceNames"] == [LeaderElection().name]
    assert "resourceNames" not in created  # nothing has a name yet when it is created


def test_a_controller_has_an_account_of_its_own() -> None:
    found = documents(CONTROLLER)
    (subject,) = found["ClusterRoleBinding"]["subjects"]

    assert found["RoleBinding"]["subjects"] == [subject]
    assert found["RoleBinding"]["roleRef"]["name"] == found["Role"]["metadata"]["name"]
    assert subject["name"] == found["ServiceAccount"]["metadata"]["name"]
    assert subject["name"] != documents()["ServiceAccount"]["metadata"]["name"]


@pytest.mark.parametrize("file", [EXTENDER, CONTROLLER], ids=["extender", "controller"])
def test_the_role_is_bound_to_the_service_account(file: Path) -> None:
    found = documents(file)
    account, role, binding = (
        found[kind] for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")
    )

    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": role["metadata"]["name"],
    }
    subject = {"kind": "ServiceAccount", "name": account["metadata"]["name"]}
    assert binding["subjects"] == [{**subject, "namespace": NAMESPACE}]
    assert account["metadata"]["namespace"] == NAMESPACE


def test_nothing_else_is_in_the_files() -> None:
    cluster = ["ClusterRole", "ClusterRoleBinding"]

    assert sorted(documents()) == [*cluster, "ServiceAccount"]
    assert sorted(documents(CONTROLLER)) == [*cluster, "Role", "RoleBinding", "ServiceAccount"]


def test_a_group_is_read_from_a_path() -> None:
    assert group_of(resources.PODS) == ""
    assert group_of(resources.STORAGE_CLASSES) == "storage.k8s.io"
