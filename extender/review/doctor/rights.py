"""The rights that Leeway and its scheduler need in the cluster."""

from collections.abc import Iterable, Iterator
from typing import Final

from extender.cluster.access_reviews import Access
from extender.config.schema import Config
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import SchedulerConfiguration

_VERBS: Final = ("get", "list", "watch")
_GROUPS: Final = {"storageclasses": "storage.k8s.io"}
_LEASES: Final = "coordination.k8s.io"
# Everything works without it, but nobody heals a refusal that came too early.
WAKE: Final = Access("patch", "pods", subresource="status")

# What does not work without a right of the controller; the verb decides if it is named.
_WITHOUT: Final = {
    ("", "nodes"): "the controller never becomes ready",
    ("", "pods"): "the controller never becomes ready",
    ("patch", "pods"): "the controller adds no toleration to a pod that exists, and no guard",
    ("", "events"): "nobody hears why a pod is not compiled",
    ("", "leases"): "the controller never leads, and never writes",
}
# Kubernetes evicts and binds; a controller only adds tolerations.
NEVER: Final = (
    Access("delete", "pods"),
    Access("create", "pods", subresource="eviction"),
    Access("patch", "pods", subresource="status"),
    Access("update", "pods", subresource="status"),
    Access("create", "pods", subresource="binding"),
    Access("patch", "nodes"),
)


def needed(ours: Config | None) -> Iterator[Access]:
    """The rights that `leeway serve` needs with this configuration."""
    config = ours or Config()
    for resource in sorted(config.watched_resources()):
        for verb in _VERBS:
            yield Access(verb, resource, _GROUPS.get(resource, ""))
    if config.nudges_per_second:
        yield WAKE


def needed_by_scheduler(theirs: SchedulerConfiguration) -> Iterator[Access]:
    """The rights of a second scheduler: one right from each role that it needs."""
    yield Access("list", "nodes")
    yield Access("create", "pods", subresource="binding")
    yield Access("patch", "persistentvolumes")
    yield Access("get", "configmaps", "", "kube-system", "extension-apiserver-authentication")
    election = theirs.leader_election
    if election.leader_elect:
        where = election.resource_namespace or "kube-system"
        name = election.resource_name or "kube-scheduler"
        yield Access("create", "leases", _LEASES, where)
        for verb in ("get", "update"):
            yield Access(verb, "leases", _LEASES, where, name)


def needed_by_controller(ours: Config) -> Iterator[Access]:
    """The rights that `leeway controller` needs with this configuration."""
    for resource in ("nodes", "pods"):
        for verb in _VERBS:
            yield Access(verb, resource)
    yield Access("patch", "pods")
    for verb in ("create", "patch"):
        yield Access(verb, "events")
    election = ours.leader_election
    if election.leader_elect:
        yield Access("create", "leases", _LEASES, election.namespace)
        for verb in ("get", "update"):
            yield Access(verb, "leases", _LEASES, election.namespace, election.name)


def check_controller(refused: Iterable[Access], user: str) -> Iterator[Problem]:
    """A problem for each right that the controller lacks."""
    for access in refused:
        so = _WITHOUT.get((access.verb, access.resource)) or _WITHOUT["", access.resource]
        yield Problem(
            "error",
            "controller-rights",
            str(access),
            f"{user or 'the one who asks'} may not do it, so {so}",
            "allow it, as in deploy/kustomize/overlays/compile/rbac.yaml",
        )


def check_excess(allowed: Iterable[Access], user: str) -> Iterator[Problem]:
    """A problem for each right that a controller never uses."""
    for access in allowed:
        yield Problem(
            "warning",
            "excess-rights",
            str(access),
            f"{user} may do it, and the controller never does: whoever steals its token may, too",
            "bind it to nothing but the roles of deploy/kustomize/overlays/compile/rbac.yaml",
        )


def check_scheduler(refused: Iterable[Access], user: str) -> Iterator[Problem]:
    """A problem for each right that the scheduler lacks."""
    for access in refused:
        yield Problem(
            "error",
            "scheduler-rights",
            str(access),
            f"{user} may not do it, so the scheduler does not lead, bind or become healthy",
            "bind it to system:kube-scheduler, system:volume-scheduler and"
            " extension-apiserver-authentication-reader, and to a Role for its own lease",
        )


def check(refused: Iterable[Access], user: str) -> Iterator[Problem]:
    """A problem for each resource that Leeway lacks rights for."""
    missing: dict[tuple[str, str], list[str]] = {}
    for access in refused:
        if access == WAKE:
            yield Problem(
                "warning",
                "nudge-rights",
                str(access),
                f"{user or 'the one who asks'} may not do it, so Leeway cannot wake a pod that it"
                " refused too early: it may stay Pending for minutes although a node fits",
                "allow it, as in deploy/kustomize/base/rbac.yaml, or set nudge.perSecond to 0",
            )
            continue
        missing.setdefault((access.resource, access.group), []).append(access.verb)
    for (resource, group), verbs in missing.items():
        yield Problem(
            "error",
            "rights",
            f"{resource}.{group}" if group else resource,
            f"{user or 'the one who asks'} may not {', '.join(verbs)} it, so Leeway never becomes"
            " ready",
            f"bind a ClusterRole with the verbs {', '.join(_VERBS)}, as in"
            " deploy/kustomize/base/rbac.yaml",
        )
