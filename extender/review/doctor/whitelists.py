"""Checks what keeps compiled tolerations out: PodTolerationRestriction and its whitelists."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct, field

from extender.cluster.resources import Resource
from extender.model.core_v1 import Toleration
from extender.review.doctor.component import Component
from extender.review.doctor.problems import Problem
from extender.review.scan.objects import ScannedMeta

PLUGIN: Final = "PodTolerationRestriction"
ANNOTATION: Final = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_FLAG: Final = "enable-admission-plugins"
_NAMED: Final = 10


class Namespace(Struct, frozen=True):
    """A namespace with its annotations."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)

    @property
    def is_restricted(self) -> bool:
        """Whether its whitelist refuses some tolerations."""
        text = (self.metadata.annotations or {}).get(ANNOTATION)
        if not text:  # an empty list allows everything, as no list does
            return False
        try:
            allowed = msgspec.json.decode(text, type=list[Toleration] | None)
        except (msgspec.DecodeError, RecursionError):
            return True  # the plugin then refuses every pod with tolerations
        return bool(allowed) and not any(map(_is_everything, allowed or ()))


RESOURCE: Final = Resource("namespaces", "/api/v1/namespaces", Namespace)


def _is_everything(allowed: Toleration) -> bool:
    return allowed.operator == "Exists" and not allowed.key and not allowed.effect


def is_on(api_server: Component) -> bool:
    """Whether an API server runs the plugin, which is off by default."""
    plugins = (api_server.flag(_FLAG) or "").split(",")
    return PLUGIN in (each.strip() for each in plugins)


def check(api_servers: Sequence[Component], restricted: Sequence[str]) -> Iterator[Problem]:
    """Check the API servers, and the namespaces whose whitelist refuses some tolerations."""
    for each in filter(is_on, api_servers):
        yield Problem(
            "warning",
            "toleration-whitelist",
            f"{each.origin}: --{_FLAG}",
            f"{PLUGIN} refuses compiled tolerations that the whitelist of a namespace, or of the"
            " cluster, does not have: pods with rules are not created, or not freed",
            "remove the plugin, or put an Exists for each key of your rules into the whitelists",
        )
    # Without a manifest nobody knows whether the plugin runs.
    if restricted and (not api_servers or any(map(is_on, api_servers))):
        more = len(restricted) - _NAMED
        names = ", ".join(sorted(restricted)[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        yield Problem(
            "warning",
            "toleration-whitelist",
            f"namespaces: {names}",
            f"each has a whitelist of tolerations. If the API server runs {PLUGIN}, it refuses"
            " compiled tolerations that the list does not have",
            f"put an Exists for each key of your rules into the annotation {ANNOTATION}",
        )
