"""Checks the profiles of kube-scheduler: which in-tree plugins must be off.

An extender only removes nodes, after all in-tree filters, so Leeway never sees a node that an
in-tree plugin refused. A rule that neither side enforces is not enforced at all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import SchedulerConfiguration, SchedulerProfile

_ALL = 100


@dataclass(frozen=True, slots=True)
class Judged:
    """A profile of the scheduler, with the weights of our plugins for its pods."""

    where: str
    theirs: SchedulerProfile
    ours: Mapping[str, int]  # empty: we read only the affinity annotation

    def twice(self, plugin: str) -> bool:
        """Whether both sides filter by a plugin."""
        return plugin in self.ours and self.theirs.plugins.runs(plugin, "filter")

    def nobody(self, plugin: str) -> bool:
        """Whether neither side filters by a plugin."""
        return plugin not in self.ours and not self.theirs.plugins.runs(plugin, "filter")


def check(judged: Judged, config: SchedulerConfiguration) -> Iterator[Problem]:
    """All problems of one profile."""
    yield from _taints(judged)
    yield from _cordons(judged)
    yield from _affinity(judged)
    yield from _spread(judged)
    yield from _unenforced(judged)
    yield from _preemption(judged)
    yield from _sample(judged, config)


def sampled(profile: SchedulerProfile, config: SchedulerConfiguration) -> bool:
    """Whether the extender gets only a sample of the nodes."""
    percentage = profile.percentage_of_nodes_to_score
    if percentage is None:
        percentage = config.percentage_of_nodes_to_score
    return percentage is None or percentage < _ALL


def _taints(judged: Judged) -> Iterator[Problem]:
    plugins = judged.theirs.plugins
    if judged.twice("TaintToleration"):
        yield Problem(
            "error",
            "taint-toleration",
            f"{judged.where}.plugins.multiPoint.disabled",
            "in-tree TaintToleration refuses nodes that only an extended rule tolerates before"
            " Leeway is asked, so extended tolerations have no effect",
            "add {name: TaintToleration}; Leeway enforces every taint",
        )
    elif judged.ours.get("TaintToleration") and plugins.runs("TaintToleration", "score"):
        yield Problem(
            "warning",
            "taint-toleration",
            f"{judged.where}.plugins.score.disabled",
            "PreferNoSchedule taints are scored twice, and once without extended tolerations",
            "add {name: TaintToleration} to multiPoint.disabled",
        )


def _cordons(judged: Judged) -> Iterator[Problem]:
    if judged.twice("NodeUnschedulable"):
        yield Problem(
            "warning",
            "node-unschedulable",
            f"{judged.where}.plugins.multiPoint.disabled",
            "Leeway is never asked about a cordoned node, so an extended toleration of it has no"
            " effect",
            "add {name: NodeUnschedulable}; Leeway enforces cordons",
        )


def _affinity(judged: Judged) -> Iterator[Problem]:
    if judged.ours.get("NodeAffinity") and judged.theirs.plugins.runs("NodeAffinity", "score"):
        yield Problem(
            "warning",
            "node-affinity-score",
            f"{judged.where}.plugins.score.disabled",
            "native preferred terms of node affinity are scored by both sides and count twice",
            "add {name: NodeAffinity}; its filter stays on",
        )


def _spread(judged: Judged) -> Iterator[Problem]:
    plugins, ours = judged.theirs.plugins, judged.ours.get("PodTopologySpread")
    if ours is None:
        return
    points = {"preFilter": "pre_filter", "filter": "filter"}
    running = [name for name, at in points.items() if plugins.runs("PodTopologySpread", at)]
    if running:
        yield Problem(
            "warning",
            "topology-spread",
            f"{judged.where}.plugins.{running[0]}.disabled",
            "hard spread constraints are judged by native rules: nodes that only an extended rule"
            " tolerates are wrong to count, or wrong not to",
            "add {name: PodTopologySpread} to preFilter.disabled and filter.disabled",
        )
    scored = plugins.runs("PodTopologySpread", "score")
    if scored and ours:
        yield Problem(
            "warning",
            "topology-spread-weight",
            f"{judged.where}.plugins.score",
            "soft spread constraints are scored by both sides and count twice",
            "give Leeway's PodTopologySpread the weight 0 in its profile: the in-tree scores know"
            " the cluster's default constraints",
        )
    elif not scored:
        yield Problem(
            "warning",
            "topology-spread-score",
            f"{judged.where}.plugins",
            "nothing spreads the pods of a Service that state no constraint: the cluster's"
            " default constraints are scored in-tree only",
            "disable PodTopologySpread at preFilter and filter only, not at score or multiPoint",
        )


def _unenforced(judged: Judged) -> Iterator[Problem]:
    for plugin in ("TaintToleration", "NodeUnschedulable", "PodTopologySpread"):
        if judged.nobody(plugin):
            yield Problem(
                "error",
                "nobody-enforces",
                f"{judged.where}.plugins",
                f"{plugin} is off in-tree, and Leeway has no {plugin} for"
                f" {judged.theirs.scheduler_name!r} either: nobody enforces it",
                f"add {{name: {plugin}}} to the plugins of this profile in Leeway's"
                " configuration, or switch it on in-tree",
            )


def _preemption(judged: Judged) -> Iterator[Problem]:
    percentage = judged.theirs.arguments("DefaultPreemption").get("minCandidateNodesPercentage")
    if "TaintToleration" in judged.ours and percentage != _ALL:
        given = 10 if percentage is None else percentage
        yield Problem(
            "warning",
            "preemption-candidates",
            f"{judged.where}.pluginConfig[DefaultPreemption].args.minCandidateNodesPercentage",
            f"preemption is offered {given} % of the nodes, at random, which may hold none that"
            " the pod tolerates",
            "set it to 100",
        )


def _sample(judged: Judged, config: SchedulerConfiguration) -> Iterator[Problem]:
    if sampled(judged.theirs, config):
        yield Problem(
            "warning",
            "percentage-of-nodes",
            f"{judged.where}.percentageOfNodesToScore",
            "Leeway is handed a sample of the nodes (10 % of 5,000), and a pod whose few fitting"
            " nodes are outside of it stays Pending",
            "set it to 100",
        )
