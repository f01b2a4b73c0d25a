"""What is explained is what happens: verdicts, their derivation, and every fix that is told."""

import copy
import json
from dataclasses import replace
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.framework.interface import Code, Profile
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo
from extender.model.core_v1 import Pod
from extender.review.explain import annotation_cure
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Inquiry, no_clock
from extender.review.explain.schema import Derivation, Explanation, Fix, TermCheck
from tests.builders import JSON, filtered
from tests.properties.explain_strategies import World, worlds

EXAMPLES = settings(max_examples=30)
REFUSES = {"Unschedulable", "UnschedulableAndUnresolvable", "Error"}


@EXAMPLES
@given(world=worlds())
def test_every_verdict_is_that_of_filter(world: World) -> None:
    inquiry = world.inquiry()
    nodes = list(inquiry.snapshot.nodes.values())
    result = filtered(inquiry.profile, inquiry.pod, nodes, inquiry.snapshot)

    explanation = explain(inquiry)

    told = {each.node: (each.code, each.plugin, each.reason) for each in explanation.verdicts}
    assert told == {
        node.name: (status.code.value, status.plugin, ", ".join(status.reasons))
        for node, status in zip(nodes, result.statuses(), strict=True)
    }
    assert explanation.omitted == 0
    refused = [each for each in explanation.verdicts if each.code != "Success"]
    assert explanation.passing == len(nodes) - len(refused)
    assert sum(group.count for group in explanation.groups) == len(refused)


@EXAMPLES
@given(world=worlds(), data=st.data())
def test_a_derivation_leads_to_the_verdict_of_every_plugin(
    world: World, data: st.DataObject
) -> None:
    node = data.draw(st.sampled_from(world.nodes))["metadata"]["name"]
    inquiry = world.inquiry(node=node)
    derived = explain(inquiry).derivation
    assert derived is not None
    codes = {each.plugin: each.code for each in derived.plugins}
    tolerations, affinity = (
        annotation_cure.readable(inquiry.pod, name, inquiry.settings)
        for name in ("tolerations", "node-affinity")
    )

    if tolerations:
        assert (codes["NodeUnschedulable"] in REFUSES) == (
            derived.cordon is not None and not derived.cordon.tolerated
        )
        assert (codes["TaintToleration"] in REFUSES) == any(t.refuses for t in derived.taints)
        assert_taints_follow_from_their_rows(derived, inquiry.settings.no_execute)
    if affinity:
        assert (codes["NodeAffinity"] in REFUSES) == (not selected(derived.terms))
    assert (codes["VolumeBinding"] in REFUSES) == any(not c.matches for c in derived.claims)
    if derived.spread:
        assert (codes["PodTopologySpread"] in REFUSES) == any(
            not check.matches for check in derived.spread
        )
        for check in derived.spread:
            assert check.skew == check.matching + check.itself - check.minimum
            assert check.matches == (check.domain is not None and check.skew <= check.max_skew)


def assert_taints_follow_from_their_rows(derived: Derivation, no_execute: str) -> None:
    for taint in derived.taints:
        by_carrier = {
            carrier: any(t.matches for t in taint.tolerations if t.carrier == carrier)
            for carrier in ("native", "annotation")
        }
        if taint.effect == "NoExecute" and no_execute == "narrow":
            assert not taint.tolerated or by_carrier["native"]
        elif taint.effect in ("NoExecute", "NoSchedule"):
            assert taint.tolerated == any(by_carrier.values())


def selected(terms: tuple[TermCheck, ...]) -> bool:
    """A node selector must match, and one term of each carrier."""
    carriers = {term.carrier for term in terms}
    for term in terms:
        if term.matches:
            assert all(each.matches for each in term.requirements)
    return all(
        any(term.matches for term in terms if term.carrier == carrier) for carrier in carriers
    )


@EXAMPLES
@given(world=worlds())
def test_every_fix_that_is_told_works(world: World) -> None:
    explanation = explain(world.inquiry())
    for fix in fixes_of(explanation):
        changed = apply(world, fix)
        assert_it_helps(changed.inquiry(), fix, explanation)


@EXAMPLES
@given(world=worlds())
def test_no_fix_keeps_away_a_node_that_passed(world: World) -> None:
    explanation = explain(world.inquiry())
    passed = {each.node for each in explanation.verdicts if each.code == "Success"}
    for fix in fixes_of(explanation):
        after = explain(apply(world, fix).inquiry())
        assert passed <= {each.node for each in after.verdicts if each.code == "Success"}
        assert after.passing == fix.passing


def fixes_of(explanation: Explanation) -> list[Fix]:
    return [group.fix for group in explanation.groups if group.fix is not None]


def assert_it_helps(inquiry: Inquiry, fix: Fix, before: Explanation) -> None:
    node = inquiry.snapshot.nodes[fix.node]
    for plugin in inquiry.profile.filters:
        if any(change.plugin == plugin.name for change in fix.changes):
            assert passes(replace(inquiry, profile=Profile("one", (plugin,), ())), node)
    if fix.complete:
        assert passes(inquiry, node)
    else:
        assert not fix.changes or not passes(inquiry, node)


def passes(inquiry: Inquiry, node: NodeInfo) -> bool:
    runner = Runner(clock=no_clock)
    statuses = runner.explain(inquiry.profile, inquiry.pod, inquiry.snapshot, node)
    return all(status.code in (Code.SUCCESS, Code.SKIP) for status in statuses)


def apply(world: World, fix: Fix) -> World:
    """The world after somebody has done what a fix says."""
    nodes = copy.deepcopy(world.nodes)
    for change in fix.changes:
        if change.command:
            obey(change.command, {node["metadata"]["name"]: node for node in nodes})
    pod = merged(world.pod, fix.patch or {})
    msgspec.convert(pod, Pod)
    return replace(world, nodes=nodes, pod=json.loads(json.dumps(pod)))


def obey(command: str, nodes: dict[str, JSON]) -> None:
    words = command.split()
    if words[:2] == ["kubectl", "uncordon"]:
        spec = nodes[words[2]]["spec"]
        spec["unschedulable"] = False
        key = "node.kubernetes.io/unschedulable"
        spec["taints"] = [
            t for t in spec["taints"] if t["key"] != key or t["effect"] == "PreferNoSchedule"
        ]
    else:
        assert words[:3] == ["kubectl", "label", "node"]
        key, _, value = words[4].partition("=")
        nodes[words[3]]["metadata"]["labels"][key] = value


def merged(old: Any, patch: Any) -> Any:
    """As kubectl patch does, for the fields that fixes touch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if key == "volumes":
            result[key] = by_name(result.get(key, []), value, "name")
        elif key == "topologySpreadConstraints":
            result[key] = by_name(result.get(key, []), value, "topologyKey")
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def by_name(old: list[JSON], changed: list[JSON], key: str) -> list[JSON]:
    """A list that is merged by a key of its items."""
    new = {each[key]: each for each in changed}
    return [merged(each, new.get(each[key], {})) for each in old]
