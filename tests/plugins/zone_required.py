"""ZoneRequired: a node without a zone is refused."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Final

from extender.framework.interface import SUCCESS, NodeFilter, Settings, Status, unresolvable
from extender.framework.snapshot import LabelsFacet, NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod

REASON: Final = "node(s) had no zone"
ZONE: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class ZoneRequired:
    """Filters only."""

    name: ClassVar[str] = "ZoneRequired"
    settings: Settings

    def signature(self, pod: Pod) -> Hashable | None:
        """What the verdict depends on: here nothing of the pod, so all pods share it."""
        return ()

    def pre_filter(self, pod: Pod, snapshot: Snapshot) -> NodeFilter | Status:
        """The same question for every pod; a plugin with nothing to ask returns SKIP."""
        return _Zone()


@dataclass(frozen=True, slots=True)
class _Zone:
    facet: ClassVar[LabelsFacet] = LabelsFacet((ZONE,))
    findings: ClassVar[frozenset[Finding]] = frozenset()

    def filter(self, node: NodeInfo) -> Status:
        return SUCCESS if ZONE in node.labels else unresolvable(REASON)
