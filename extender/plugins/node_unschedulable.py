"""NodeUnschedulable: a cordoned node is refused, unless the pod tolerates being there."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from msgspec import Struct

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import SUCCESS, NodeFilter, Settings, Status, unresolvable
from extender.framework.snapshot import UNSCHEDULABLE, AttributeFacet, NodeInfo, Snapshot
from extender.match.findings import Finding, Noticed
from extender.match.taints import CORDON
from extender.model.core_v1 import Pod

REASON: Final = "node(s) were unschedulable"
REFUSED: Final = unresolvable(REASON)


@dataclass(frozen=True, slots=True)
class NodeUnschedulable:
    """Filters only."""

    name: ClassVar[str] = "NodeUnschedulable"
    settings: Settings

    def signature(self, pod: Pod) -> Hashable | None:
        """The question depends on these and on nothing else."""
        return rules.toleration_signature(pod, self.settings)

    def pre_filter(self, pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        """Does the pod tolerate the taint that cordoning stands for?"""
        noticed: Noticed = set()
        try:
            tolerations = rules.pod_tolerations(pod, self.settings)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        tolerated = tolerations.joined.tolerates(CORDON, noticed)
        return _Cordoned(tolerated, tolerations.findings | noticed)


class _Cordoned(Struct, frozen=True, gc=False):
    tolerated: bool
    findings: frozenset[Finding]
    facet: ClassVar[AttributeFacet] = UNSCHEDULABLE

    def filter(self, node: NodeInfo) -> Status:
        return REFUSED if node.unschedulable and not self.tolerated else SUCCESS

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        return [self.filter(node) for node in nodes]
