"""How the verdict on one node comes about: every plugin, every rule, every value."""

from extender.errors import AnnotationError
from extender.framework import runner
from extender.framework.interface import Code, FilterPlugin, Profile, Status
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.plugins.node_affinity import NodeAffinity
from extender.plugins.node_unschedulable import NodeUnschedulable
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.taint_toleration import TaintToleration
from extender.plugins.volume_binding import VolumeBinding
from extender.review.explain import (
    affinity_derivation,
    spread_derivation,
    taint_derivation,
    volume_derivation,
)
from extender.review.explain.schema import (
    ClaimCheck,
    Derivation,
    PluginCheck,
    SpreadCheck,
    TaintCheck,
    TermCheck,
)


def derive(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    node: NodeInfo,
    *,
    stands: Status,
    limit: int,
) -> Derivation:
    """All that leads to the verdict that `stands`; `limit` bounds the rows of each list."""
    statuses = runner.explain(profile, pod, snapshot, node, clock=lambda: 0.0)
    plugins = tuple(
        PluginCheck(plugin.name, status.code.value, ", ".join(status.reasons), _why(plugin, status))
        for plugin, status in zip(profile.filters, statuses, strict=True)
    )
    parts = _Parts(pod, snapshot, node, limit)
    for plugin in profile.filters:
        parts.add(plugin)
    return Derivation(
        node=node.name,
        code=stands.code.value,
        plugin=stands.plugin,
        reason=", ".join(stands.reasons),
        plugins=plugins,
        cordon=parts.cordon,
        taints=tuple(parts.taints),
        terms=tuple(parts.terms),
        claims=tuple(parts.claims),
        spread=tuple(parts.spread),
    )


class _Parts:
    """The rules behind each plugin; one that cannot be read at all leaves its list empty."""

    def __init__(self, pod: Pod, snapshot: Snapshot, node: NodeInfo, limit: int) -> None:
        self._pod = pod
        self._snapshot = snapshot
        self._node = node
        self._limit = limit
        self.cordon: TaintCheck | None = None
        self.taints: list[TaintCheck] = []
        self.terms: list[TermCheck] = []
        self.claims: list[ClaimCheck] = []
        self.spread: list[SpreadCheck] = []

    def add(self, plugin: FilterPlugin) -> None:
        """What this plugin looked at."""
        pod, node, limit = self._pod, self._node, self._limit
        try:
            match plugin:
                case TaintToleration(settings=settings):
                    self.taints = taint_derivation.checks(pod, node, settings, limit)
                case NodeAffinity(settings=settings, annotation_only=annotation_only):
                    self.terms = affinity_derivation.checks(
                        pod, node, settings, annotation_only=annotation_only, limit=limit
                    )
                case VolumeBinding(settings=settings) if self._snapshot.volumes is not None:
                    self.claims = volume_derivation.checks(
                        pod, node, self._snapshot.volumes, settings, limit
                    )
                case PodTopologySpread():
                    question = plugin.pre_filter(pod, self._snapshot)
                    self.spread = spread_derivation.checks(question, node, limit)
                case NodeUnschedulable(settings=settings) if node.unschedulable:
                    self.cordon = taint_derivation.cordon_check(pod, settings, limit)
                case _:
                    pass
        except AnnotationError:
            return  # the plugin's own reason says what is wrong with it


def _why(plugin: FilterPlugin, status: Status) -> str:
    """In a few words what a plugin says of the node."""
    if status.code is Code.SKIP:
        return "nothing to judge"
    if status.code is not Code.SUCCESS:
        return ", ".join(status.reasons)
    match plugin:
        case NodeUnschedulable():
            return "not cordoned, or tolerated"
        case TaintToleration():
            return "every taint is tolerated"
        case NodeAffinity():
            return "the node is what the pod requires"
        case VolumeBinding():
            return "the node reaches every bound volume"
        case _:
            return "every constraint holds"
