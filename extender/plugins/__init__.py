"""The plugins: one module each, and one description each in `PLUGINS`.

Plugins do not know each other and reach nothing outside: they answer with a Status.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from extender.framework.interface import FilterPlugin, Profile, ScorePlugin, Settings
from extender.match.gates import CEL_GATE, COMPARISON_GATE, INCLUSION_GATE, SEMVER_GATE
from extender.plugins.node_affinity import NodeAffinity
from extender.plugins.node_unschedulable import NodeUnschedulable
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.taint_toleration import TaintToleration
from extender.plugins.volume_binding import VolumeBinding

_NODES: Final = frozenset({"nodes"})
_TOLERATION_GATES: Final = (COMPARISON_GATE, SEMVER_GATE, CEL_GATE)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """All that others need to know about a plugin."""

    name: str
    build_filter: Callable[[Settings], FilterPlugin]
    build_scorer: Callable[[Settings], ScorePlugin] | None = None
    weight: int = 0  # in-tree's default; 0: it does not score
    resources: frozenset[str] = _NODES  # what it reads from the cluster
    gates: tuple[str, ...] = ()  # the feature gates that change its verdicts
    reasons: tuple[str, ...] = ()  # what its refusals are recognised by in a message


# In the order in which they judge, whatever the order of the configuration.
PLUGINS: Final = (
    Descriptor(
        "NodeUnschedulable",
        NodeUnschedulable,
        gates=_TOLERATION_GATES,
        reasons=("node(s) were unschedulable",),
    ),
    Descriptor(
        "TaintToleration",
        TaintToleration,
        TaintToleration,
        weight=3,
        gates=_TOLERATION_GATES,
        reasons=("node(s) had untolerated taint", "node(s) had NoExecute taint"),
    ),
    Descriptor(
        "NodeAffinity",
        NodeAffinity,
        NodeAffinity,
        weight=2,
        gates=(SEMVER_GATE,),
        reasons=("node(s) didn't match Pod's node affinity/selector",),
    ),
    Descriptor(
        "VolumeBinding",
        VolumeBinding,
        resources=_NODES | {"persistentvolumes", "persistentvolumeclaims", "storageclasses"},
        gates=(SEMVER_GATE,),
        reasons=("persistentvolume", "PersistentVolume", "pvc(s)", "PVC "),
    ),
    Descriptor(
        "PodTopologySpread",
        PodTopologySpread,
        PodTopologySpread,
        weight=2,
        resources=_NODES | {"pods"},
        gates=(*_TOLERATION_GATES, INCLUSION_GATE),
        reasons=("pod topology spread constraints",),
    ),
)
# Every name that a configuration may use, with its default weight.
DEFAULT_WEIGHTS: Final[Mapping[str, int]] = {each.name: each.weight for each in PLUGINS}


def profile(name: str, weights: Mapping[str, int], settings: Settings) -> Profile:
    """The plugins named in `weights`, ready to run."""
    chosen = [each for each in PLUGINS if each.name in weights]
    return Profile(
        name,
        tuple(each.build_filter(settings) for each in chosen),
        tuple(
            (each.build_scorer(settings), weights[each.name])
            for each in chosen
            if each.build_scorer is not None and weights[each.name] > 0
        ),
    )


def foreign_profile(settings: Settings) -> Profile:
    """For a pod whose profile is not configured: only its annotation is judged."""
    plugin = NodeAffinity(settings, annotation_only=True)
    return Profile("other", (plugin,), ((plugin, DEFAULT_WEIGHTS[plugin.name]),))


def resources(names: Collection[str]) -> frozenset[str]:
    """What these plugins need watched in the cluster."""
    return frozenset[str]().union(*(each.resources for each in PLUGINS if each.name in names))


def is_reason_in(message: str) -> bool:
    """Whether a message of kube-scheduler has a reason that one of the plugins gives."""
    return any(reason in message for each in PLUGINS for reason in each.reasons)
