"""The role in `deploy/` allows what is watched and what is written, and nothing else."""

from pathlib import Path
from typing import Any

import yaml

from extender import plugins
from extender.cluster import resources
from extender.cluster.resources import Resource

FILE = Path(__file__).parent.parent / "deploy/kustomize/base/rbac.yaml"
NAMESPACE = "leeway"


def documents() -> dict[str, Any]:
    found = list(yaml.safe_load_all(FILE.read_text(encoding="utf-8")))
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


def test_the_role_allows_what_is_watched_and_written_and_nothing_else() -> None:
    rules = documents()["ClusterRole"]["rules"]
    allowed = [
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]

    expected = {(*each, verb) for each in watched() for verb in ("get", "list", "watch")}
    assert set(allowed) == expected | {("", "pods/status", "patch")}
    assert len(allowed) == len(set(allowed))
    assert all(set(rule) == {"apiGroups", "resources", "verbs"} for rule in rules)


def test_the_role_is_bound_to_the_service_account() -> None:
    found = documents()
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


def test_nothing_else_is_in_the_file() -> None:
    assert sorted(documents()) == ["ClusterRole", "ClusterRoleBinding", "ServiceAccount"]


def test_a_group_is_read_from_a_path() -> None:
    assert group_of(resources.PODS) == ""
    assert group_of(resources.STORAGE_CLASSES) == "storage.k8s.io"
