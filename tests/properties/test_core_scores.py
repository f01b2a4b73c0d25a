import math
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from extender import plugins
from extender.framework.interface import ScorePlugin, Settings, Status
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.plugins.node_affinity import NodeAffinity
from extender.plugins.taint_toleration import TaintToleration
from tests import builders
from tests.builders import JSON, a_pod, preferred, scorer_of, some_nodes
from tests.properties.core_strategies import SETTINGS, nodes, pod_of, pod_parts

EXAMPLES = settings(max_examples=50)
WEIGHTS = st.integers(0, 10)


def scored(config: Settings, weights: dict[str, int], pod: Pod, order: list[NodeInfo]) -> list[int]:
    profile = plugins.profile("test", weights, config)
    result = builders.scored(profile, pod, order)
    assert result.stats.faults == []
    return result.scores()


def normalised(plugin: ScorePlugin, pod: Pod, cluster: list[NodeInfo]) -> Sequence[int] | Status:
    preference = plugin.pre_score(pod, Snapshot())
    if isinstance(preference, Status):
        return preference
    return preference.normalize([preference.score(node).value for node in cluster])


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes(), taints=WEIGHTS, affinity=WEIGHTS)
def test_scores_are_the_weighted_mean_of_those_who_speak(
    config: Settings, parts: JSON, cluster: list[JSON], taints: int, affinity: int
) -> None:
    pod, infos = pod_of(parts), some_nodes(*cluster)
    weights = {"TaintToleration": taints, "NodeAffinity": affinity}
    got = scored(config, weights, pod, infos)

    spoken: list[tuple[int, Sequence[int]]] = []
    unreadable = False
    for plugin, weight in ((TaintToleration(config), taints), (NodeAffinity(config), affinity)):
        scores = normalised(plugin, pod, infos)
        if not weight:
            continue
        if isinstance(scores, Status):
            unreadable = unreadable or bool(scores.reasons)
        else:
            assert all(0 <= score <= 100 for score in scores)
            if len(set(scores)) > 1:
                spoken.append((weight, scores))
    if unreadable or not spoken:
        assert got == [0] * len(infos)
        return
    total = sum(weight for weight, _ in spoken)
    for index, score in enumerate(got):
        mean = Fraction(sum(weight * scores[index] for weight, scores in spoken), total)
        assert score == math.floor(mean / 10 + Fraction(1, 2))
        assert 0 <= score <= 10


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes())
def test_the_order_of_nodes_changes_no_score(
    config: Settings, parts: JSON, cluster: list[JSON]
) -> None:
    pod, infos = pod_of(parts), some_nodes(*cluster)
    weights = dict(plugins.DEFAULT_WEIGHTS)

    assert scored(config, weights, pod, infos)[::-1] == scored(config, weights, pod, infos[::-1])


@given(counts=st.lists(st.integers(0, 1000), max_size=20))
def test_soft_taints_are_normalised_as_upstream_does(counts: list[int]) -> None:
    scores = scorer_of(TaintToleration(Settings()), a_pod()).normalize(counts)
    highest = max(counts, default=0)

    assert list(scores) == [
        100 if highest == 0 else 100 - math.floor(Fraction(100 * count, highest))
        for count in counts
    ]


@given(sums=st.lists(st.integers(0, 10_000), max_size=20))
def test_preferences_are_normalised_as_upstream_does(sums: list[int]) -> None:
    pod = a_pod(affinity=preferred((1, [])))
    scores = scorer_of(NodeAffinity(Settings()), pod).normalize(sums)
    highest = max(sums, default=0)

    assert list(scores) == [
        0 if highest == 0 else math.floor(Fraction(100 * total, highest)) for total in sums
    ]
