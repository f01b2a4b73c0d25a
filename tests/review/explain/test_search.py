"""The fix with the least to do, over all nodes: it is legal, it works, and nothing beats it."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.framework.interface import Code
from extender.framework.runner import Runner
from extender.model.core_v1 import Pod
from extender.model.workloads import RuledPod
from extender.review import validation
from extender.review.explain import search, targets
from extender.review.explain.explaining import explain
from extender.review.explain.fixes import Planner
from extender.review.explain.inquiry import Inquiry, no_clock
from extender.review.explain.proposals import Case
from extender.review.explain.schema import Explanation, Fix
from extender.review.explain.search import NEW_POD, nearest
from extender.review.explain.templates import Owner, Subject, subjects
from tests.builders import JSON, a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain import worlds
from tests.review.explain.asking import SETTINGS, an_inquiry, explained
from tests.review.explain.worlds import World


def asked(world: World, *, living: bool) -> Inquiry:
    """The question about a new pod, or about one that lives and has an owner."""
    document = {"kind": "Pod", **(world.living() if living else world.pod)}
    (subject,) = subjects("test", document)
    if living:
        template = msgspec.convert(world.pod, Pod)
        owner = Owner("Deployment", "default", "report", ("spec", "template"), template)
        subject = replace(subject, controller=owner)
    return replace(an_inquiry(subject.pod, *world.nodes), subject=subject)


def told(explanation: Explanation) -> Iterator[Fix]:
    for fix in (explanation.fix, *(group.fix for group in explanation.groups)):
        if fix is not None:
            yield fix


def pod_with(world: World, fix: Fix, *, living: bool) -> tuple[JSON, JSON]:
    """The pod that the fix is written into, before and after it."""
    assert fix.target is not None
    assert fix.patch is not None
    if fix.target.kind == "Deployment":
        before = {"spec": {"template": world.pod}}
        return world.pod, worlds.patched(before, fix.patch)["spec"]["template"]
    before = world.living() if living else world.pod
    return before, worlds.patched(before, fix.patch)


def check_legal(world: World, fix: Fix, *, living: bool) -> None:
    if fix.patch is None:
        assert not fix.needs_new_pod
        return
    before, after = pod_with(world, fix, living=living)
    new, old = msgspec.convert(after, RuledPod), msgspec.convert(before, RuledPod)
    assert validation.check(new, old, SETTINGS).errors == ()
    if living and not fix.needs_new_pod:
        assert fix.target is not None
        assert fix.target.kind == "Pod"
        assert worlds.may_be_updated(before, after)
    assert fix.needs_new_pod == (living and fix.target is not None and fix.target.kind != "Pod")


def check_works(world: World, fix: Fix, *, living: bool) -> None:
    if not fix.complete:
        return
    pod = world.living() if living else world.pod
    if fix.patch is not None:
        _, pod = pod_with(world, fix, living=living)
    nodes = {node["metadata"]["name"]: node for node in world.nodes}
    for change in fix.changes:
        if change.command:
            nodes[fix.node] = worlds.commanded(nodes[fix.node], change.command)
    result = explained(msgspec.convert(pod, Pod), *nodes.values())
    passing = [each.node for each in result.verdicts if each.code == "Success"]
    assert fix.node in passing
    assert fix.passing == len(passing)


def brute_force(inquiry: Inquiry, nodes: list[str]) -> list[tuple[float, int]]:
    """Every single change that the search knows and that works: its cost and what it opens."""
    found = []
    for target in targets.of(inquiry.subject):
        planner = Planner(inquiry.profile, inquiry.settings, inquiry.snapshot, living=target.living)
        for name in nodes:
            case = Case(target.pod, inquiry.snapshot.nodes[name], inquiry.snapshot)
            for plugin in inquiry.profile.filters:
                cure = planner.cure(plugin, case)
                for proposal in cure.proposals(case) if cure else ():
                    edit = planner.made(case, proposal)
                    if edit is None or not passes(inquiry, edit.pod, edit.node):
                        continue
                    cluster = {**inquiry.snapshot.nodes, name: edit.node}
                    opened = sum(passes(inquiry, edit.pod, node) for node in cluster.values())
                    new_pod = target.needs_new_pod and edit.pod is not target.pod
                    found.append((round(proposal.cost + NEW_POD * new_pod, 6), -opened))
    return found


def passes(inquiry: Inquiry, pod: Pod, node: object) -> bool:
    statuses = Runner(clock=no_clock).explain(inquiry.profile, pod, inquiry.snapshot, node)  # type: ignore[arg-type] # a node of the snapshot
    return all(status.code in (Code.SUCCESS, Code.SKIP) for status in statuses)


@given(random=st.randoms(use_true_random=False), living=st.booleans())
@settings(max_examples=40)
def test_every_fix_is_legal_works_and_is_the_nearest(random: Random, living: bool) -> None:
    world = worlds.a_world(random)
    inquiry = asked(world, living=living)
    explanation = explain(inquiry)
    for fix in told(explanation):
        check_legal(world, fix, living=living)
        check_works(world, fix, living=living)
    if explanation.passing:
        assert explanation.fix is None
        return
    pinned = list(explanation.pin.nodes) if explanation.pin else []
    alone = min(brute_force(inquiry, pinned or [*inquiry.snapshot.nodes]), default=None)
    best = explanation.fix
    if alone is not None:
        assert best is not None
        assert best.complete
        assert len(best.changes) == 1
        step = round(best.cost + NEW_POD * best.needs_new_pod, 6)
        assert (step, -best.passing) <= alone


def affine(*terms: JSON) -> Pod:
    return a_pod(annotated_affinity=required(list(terms)))


def fixed(pod: Pod, *nodes: JSON) -> Fix:
    fix = explained(pod, *nodes).fix
    assert fix is not None
    assert fix.complete
    return fix


def test_quotes_alone_free_three_nodes() -> None:
    """Though the first node of the cluster needs more than that."""
    pod = a_pod(annotated_tolerations="- {key: sla, operator: Gt, value: 900}")
    nodes = [node_json(f"n{i}", taint("sla", "950")) for i in range(3)]
    first = node_json("first", taint("sla", "950"), taint("gpu"))
    fix = fixed(pod, first, node_json("cordoned", unschedulable=True), *nodes)

    assert [change.summary for change in fix.changes] == [
        "value: 900 is not text: put it in quotes"
    ]
    assert (fix.node, fix.passing) == ("n0", 3)


def test_the_nearest_version_of_all_nodes() -> None:
    pod = affine(requirement("kernel", "SemverGt", "6.9"))
    nodes = [node_json(v, labels={"kernel": v}) for v in ("5.10.0", "6.8.0")]
    fix = fixed(pod, *nodes)

    assert fix.node == "6.8.0"
    assert fix.changes[0].after == "{key: kernel, operator: SemverGt, values: [6.8.0-0]}"


def test_of_equal_steps_the_one_that_opens_the_most_nodes() -> None:
    nodes = [node_json("a", taint("x")), *(node_json(f"b{i}", taint("y")) for i in range(2))]
    fix = fixed(a_pod(), *nodes)

    assert (fix.node, fix.passing) == ("b0", 2)
    assert fixed(a_pod(), *reversed(nodes)).passing == 2


def test_a_larger_group_is_not_what_opens_the_most_nodes() -> None:
    behind = [node_json(f"a{i}", taint("x"), taint(f"z{i}")) for i in range(2)]
    nodes = [node_json("a2", taint("x")), *behind]
    fix = fixed(a_pod(), *nodes, *(node_json(f"b{i}", taint("y")) for i in range(2)))

    assert (fix.node, fix.passing) == ("b0", 2)


def test_one_label_of_a_node_may_cure_two_rules() -> None:
    pod = a_pod(node_selector={"gpu": "yes"}, affinity=required([requirement("gpu", "Exists")]))
    fix = fixed(pod, node_json("n", labels={"zone": "a"}))

    assert [change.command for change in fix.changes] == ["kubectl label node n gpu=yes"]


def test_a_pod_with_many_rules_is_compared_with_fewer_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pod = a_pod(toleration("sla", "Gt", "5"), annotations={"scheduling.leeway/x": "." * 500})
    monkeypatch.setattr(search, "MAX_COMPARED", 24)
    nodes = [node_json(f"n{i}", taint("sla", str(i))) for i in range(4)]

    assert search.rule_count(pod, SETTINGS) == 12
    assert fixed(pod, *nodes).complete


def test_the_reasons_that_are_rare_are_looked_at_too() -> None:
    pod = a_pod(toleration("rare", "Gt", "5"))
    many = [node_json(f"m{i}{j}", taint(f"k{i}")) for i in range(13) for j in range(2)]

    assert fixed(pod, *many, node_json("rare", taint("rare", "5"))).node == "rare"


def test_a_pod_that_names_its_node_is_helped_there_first() -> None:
    host = {"kubernetes.io/hostname": "far"}
    pod = a_pod(node_selector=host)
    far = node_json("far", taint("x"), taint("y"), labels=host)
    near = node_json("near", labels={"kubernetes.io/hostname": "near"})
    fix = fixed(pod, near, far)

    assert (fix.node, len(fix.changes)) == ("far", 2)


@pytest.mark.parametrize(
    ("fixes", "expected"),
    [([], None), ([None], None), (["a"], "a"), (["b", "a"], "a"), (["part", "b"], "b")],
)
def test_the_nearest_fix(fixes: list[str | None], expected: str | None) -> None:
    made = {
        "a": Fix("a", True, (), (), 1, cost=1.0),
        "b": Fix("b", True, (), (), 1, cost=2.0),
        "part": Fix("part", False, (), ("do",), 0, cost=0.0),
    }
    found = nearest(None if name is None else made[name] for name in fixes)

    assert (found and found.node) == expected


def test_a_change_in_place_is_preferred_to_a_new_pod() -> None:
    pod = a_pod(toleration("sla", "Gt", "950"), name="report")
    subject = Subject(pod, is_living=True)
    inquiry = replace(an_inquiry(pod, node_json("n", taint("sla", "950"))), subject=subject)
    fix = explain(inquiry).fix

    assert fix is not None
    assert (fix.needs_new_pod, fix.passing) == (False, 1)
    assert fix.patch == {
        "spec": {
            "tolerations": [
                {"key": "sla", "operator": "Gt", "value": "950"},
                {"key": "sla", "operator": "Gt", "value": "949"},
            ]
        }
    }
