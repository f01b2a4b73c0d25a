"""How the verdicts of each plugin are explained: one entry a plugin, by its name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from extender.framework.interface import Settings
from extender.plugins.node_affinity import NodeAffinity
from extender.review.explain import cordon
from extender.review.explain.affinity import derivation as affinity
from extender.review.explain.affinity.cure import AffinityCure
from extender.review.explain.cordon import CordonCure
from extender.review.explain.proposals import Case, Cure
from extender.review.explain.schema import Derivation
from extender.review.explain.spread import derivation as spread
from extender.review.explain.spread.cure import SpreadCure
from extender.review.explain.taints import derivation as taints
from extender.review.explain.taints.cure import TaintCure
from extender.review.explain.volumes import derivation as volumes
from extender.review.explain.volumes.cure import VolumeCure


@dataclass(frozen=True, slots=True)
class Explainer:
    """What is said of a plugin's verdicts; the functions get the plugin itself first."""

    passes: str  # what it says of a node that passes
    derive: Callable[[Any, Case, int, Derivation], Derivation]
    cure: Callable[[Any, Settings], Cure]
    distance: float = 3.0  # what a refusal usually costs to cure, before anything is tried


def _affinity_cure(plugin: NodeAffinity, settings: Settings) -> Cure:
    return AffinityCure(settings, plugin.annotation_only)


EXPLAINERS: Final[Mapping[str, Explainer]] = {
    "NodeUnschedulable": Explainer(
        "not cordoned, or tolerated",
        cordon.derive,
        lambda _plugin, settings: CordonCure(settings),
        distance=4.0,
    ),
    "TaintToleration": Explainer(
        "every taint is tolerated",
        taints.derive,
        lambda _plugin, settings: TaintCure(settings),
    ),
    "NodeAffinity": Explainer("the node is what the pod requires", affinity.derive, _affinity_cure),
    "VolumeBinding": Explainer(
        "the node reaches every bound volume",
        volumes.derive,
        lambda _plugin, settings: VolumeCure(settings),
        distance=5.0,
    ),
    "PodTopologySpread": Explainer(
        "every constraint holds",
        spread.derive,
        lambda _plugin, settings: SpreadCure(settings),
        distance=2.5,
    ),
}
