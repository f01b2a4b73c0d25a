"""One module a plugin; here they are put in order.

Plugins do not know each other and reach nothing outside: they answer with a Status.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from extender.framework.interface import FilterPlugin, Profile, ScorePlugin, Settings
from extender.plugins.node_affinity import NodeAffinity
from extender.plugins.node_unschedulable import NodeUnschedulable
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.taint_toleration import TaintToleration
from extender.plugins.volume_binding import VolumeBinding

# In the order in which they judge, whatever the order of the configuration.
FILTERS: Final[tuple[Callable[[Settings], FilterPlugin], ...]] = (
    NodeUnschedulable,
    TaintToleration,
    NodeAffinity,
    VolumeBinding,
    PodTopologySpread,
)
SCORERS: Final[tuple[Callable[[Settings], ScorePlugin], ...]] = (
    TaintToleration,
    NodeAffinity,
    PodTopologySpread,
)

# Every name that a configuration may use, with in-tree's weight (0: it does not score).
DEFAULT_WEIGHTS: Final[Mapping[str, int]] = {
    "NodeUnschedulable": 0,
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "VolumeBinding": 0,
    "PodTopologySpread": 2,
}
# What each plugin reads of the cluster, by the names of its resources.
RESOURCES: Final[Mapping[str, frozenset[str]]] = {
    "NodeUnschedulable": frozenset({"nodes"}),
    "TaintToleration": frozenset({"nodes"}),
    "NodeAffinity": frozenset({"nodes"}),
    "VolumeBinding": frozenset(
        {"nodes", "persistentvolumes", "persistentvolumeclaims", "storageclasses"}
    ),
    "PodTopologySpread": frozenset({"nodes", "pods"}),
}


def profile(name: str, weights: Mapping[str, int], settings: Settings) -> Profile:
    """The plugins named in `weights`, ready to run."""
    filters = (build(settings) for build in FILTERS)
    scorers = (build(settings) for build in SCORERS)
    return Profile(
        name,
        tuple(plugin for plugin in filters if plugin.name in weights),
        tuple((p, weights[p.name]) for p in scorers if weights.get(p.name, 0) > 0),
    )


def foreign_profile(settings: Settings) -> Profile:
    """How a pod of a profile that is not configured is judged: by its annotation alone."""
    plugin = NodeAffinity(settings, annotation_only=True)
    return Profile("other", (plugin,), ((plugin, DEFAULT_WEIGHTS[plugin.name]),))


def resources(names: Collection[str]) -> frozenset[str]:
    """What of a cluster must be watched for these plugins."""
    return frozenset[str]().union(*(RESOURCES[name] for name in names if name in RESOURCES))
