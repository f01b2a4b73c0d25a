import json
import random
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from extender import plugins
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import SUCCESS, Code, FilterPlugin, ScorePlugin, Settings, Status
from extender.framework.results import FilterResult
from extender.framework.runner import Runner
from extender.framework.snapshot import Interner, NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.wire import answers, requests
from extender.wire.known_nodes import KnownNodes
from tests import builders
from tests.builders import JSON, pod_json, some_nodes
from tests.properties.core_strategies import SETTINGS, nodes, pod_of, pod_parts

EXAMPLES = settings(max_examples=50)


def filtered(config: Settings, pod: Pod, candidates: Sequence[NodeInfo]) -> FilterResult:
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, config)
    return builders.filtered(profile, pod, candidates)


def whole(status: Status) -> tuple[object, ...]:
    """All that a status says; equality leaves the last two out."""
    return status.code, status.reasons, status.brief, status.findings


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes())
def test_every_candidate_gets_one_status_and_nothing_breaks(
    config: Settings, parts: JSON, cluster: list[JSON]
) -> None:
    result = filtered(config, pod_of(parts), some_nodes(*cluster))

    assert len(result.statuses()) == len(cluster)
    assert result.stats.faults == []
    for status in result.statuses():
        if status.code is Code.SUCCESS:
            assert status == SUCCESS
        else:
            assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            assert status.plugin in plugins.DEFAULT_WEIGHTS
            assert len(status.reasons) == 1
            assert 0 < len(status.reasons[0].encode()) < 500


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes(), seed=st.integers(0, 99))
def test_the_order_of_nodes_changes_no_verdict(
    config: Settings, parts: JSON, cluster: list[JSON], seed: int
) -> None:
    pod, candidates = pod_of(parts), some_nodes(*cluster)
    shuffled = random.Random(seed).sample(candidates, len(candidates))  # noqa: S311 - an order

    def by_name(order: Sequence[NodeInfo]) -> dict[str, Status]:
        statuses = filtered(config, pod, order).statuses()
        return {node.name: status for node, status in zip(order, statuses, strict=True)}

    assert by_name(candidates) == by_name(shuffled)


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes())
def test_the_order_of_tolerations_changes_no_verdict(
    config: Settings, parts: JSON, cluster: list[JSON]
) -> None:
    candidates = some_nodes(*cluster)
    turned = dict(parts, tolerations=parts["tolerations"][::-1])
    if isinstance(parts["annotated_tolerations"], list):
        turned["annotated_tolerations"] = parts["annotated_tolerations"][::-1]

    assert (
        filtered(config, pod_of(parts), candidates).statuses()
        == filtered(config, pod_of(turned), candidates).statuses()
    )


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes())
def test_a_node_among_others_is_judged_as_if_it_were_alone(
    config: Settings, parts: JSON, cluster: list[JSON]
) -> None:
    pod, candidates = pod_of(parts), some_nodes(*cluster)
    together = filtered(config, pod, candidates)
    alone = [filtered(config, pod, [node]) for node in candidates]

    assert list(map(whole, together.statuses())) == [whole(one.statuses()[0]) for one in alone]
    assert together.stats.findings == set().union(*(one.stats.findings for one in alone))


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes())
def test_equal_keys_promise_equal_verdicts(
    config: Settings, parts: JSON, cluster: list[JSON]
) -> None:
    pod, candidates = pod_of(parts), some_nodes(*cluster)
    foreign = plugins.foreign_profile(config).filters
    filters: list[FilterPlugin] = [each.build_filter(config) for each in plugins.PLUGINS]
    for plugin in (*filters, *foreign):
        question = plugin.pre_filter(pod, Snapshot())
        if isinstance(question, Status):
            continue
        judged: dict[object, object] = {}
        for key, node in zip(question.facet.column(candidates), candidates, strict=True):
            verdict = whole(question.filter(node))
            assert judged.setdefault(key, verdict) == verdict
    scorers: list[ScorePlugin] = [
        each.build_scorer(config) for each in plugins.PLUGINS if each.build_scorer is not None
    ]
    for scorer in scorers:
        preference = scorer.pre_score(pod, Snapshot())
        if isinstance(preference, Status):
            continue
        scored: dict[object, object] = {}
        for key, node in zip(preference.facet.column(candidates), candidates, strict=True):
            score = preference.score(node)
            assert scored.setdefault(key, score) == score


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes())
def test_explain_agrees_with_filter(config: Settings, parts: JSON, cluster: list[JSON]) -> None:
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, config)
    pod, candidates = pod_of(parts), some_nodes(*cluster)
    result = filtered(config, pod, candidates)

    for node, status in zip(candidates, result.statuses(), strict=True):
        told = Runner(clock=lambda: 0.0).explain(profile, pod, Snapshot(), node)
        refusals = [s for s in told if s.code not in (Code.SUCCESS, Code.SKIP)]
        if result.settled is None:
            assert status == (refusals[0] if refusals else SUCCESS)
        else:
            assert result.settled in refusals


@EXAMPLES
@given(config=SETTINGS, parts=pod_parts(), cluster=nodes(), whole_nodes=st.booleans())
def test_every_requested_node_lands_in_exactly_one_list(
    config: Settings, parts: JSON, cluster: list[JSON], whole_nodes: bool
) -> None:
    rest = {name: part for name, part in parts.items() if name != "tolerations"}
    names = [node["metadata"]["name"] for node in cluster]
    body: JSON = {"Pod": pod_json(*parts["tolerations"], **rest)}
    body |= {"Nodes": {"items": cluster}} if whole_nodes else {"NodeNames": names}

    known = KnownNodes(config.caches)
    args = requests.read_filter_args(json.dumps(body).encode(), known)
    table = NodeTable(some_nodes(*cluster))
    batch = requests.nodes_of(args, table, known, Interner())
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, config)
    runner = Runner(config.caches, clock=lambda: 0.0)
    result = runner.filter(profile, args.pod, Snapshot(), batch.table, batch.candidates)
    pieces = answers.encode_filter(batch, result, args.mode, "always")
    answer = json.loads(b"".join(pieces))

    assert answer["Error"] == ""
    assert answer["FailedNodes"] == {}
    if whole_nodes:
        assert answer["NodeNames"] is None
        assert [node for node in cluster if node in answer["Nodes"]["items"]] == (
            answer["Nodes"]["items"]
        )
        passed = [node["metadata"]["name"] for node in answer["Nodes"]["items"]]
    else:
        assert answer["Nodes"] is None
        passed = answer["NodeNames"]
    refused = list(answer["FailedAndUnresolvableNodes"])
    assert sorted([*passed, *refused]) == sorted(names)
