"""What Leeway must be allowed to do in the cluster."""

from collections.abc import Iterable, Iterator
from typing import Final

from extender import plugins
from extender.cluster.questions import Access
from extender.config.schema import Config
from extender.review.doctor.problems import Problem

_VERBS: Final = ("get", "list", "watch")
_GROUPS: Final = {"storageclasses": "storage.k8s.io"}


def needed(ours: Config | None) -> Iterator[Access]:
    """What `leeway serve` does with this configuration, by resource."""
    enabled = (ours or Config()).enabled_plugins()
    for resource in sorted(plugins.resources(enabled)):
        for verb in _VERBS:
            yield Access(verb, resource, _GROUPS.get(resource, ""))


def check(refused: Iterable[Access], user: str) -> Iterator[Problem]:
    """What is missing, a problem a resource."""
    missing: dict[tuple[str, str], list[str]] = {}
    for access in refused:
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
