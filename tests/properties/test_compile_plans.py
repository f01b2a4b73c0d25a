"""Whatever pods carry and whatever happens to nodes: plans, carried out as patches, keep the rules.

One writer applies each patch as the API server would, and plans again over the result.
"""

import json
from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.match.taints import NO_EXECUTE
from extender.model.core_v1 import Taint, Toleration
from extender.native import notes, patches, planning
from extender.native.carried import Carried, looks_like_guard, tolerations_of
from extender.native.planning import Plan
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.review import tolerations as validation
from tests import json_patch
from tests.builders import JSON, PREFIX, node_json, taint, toleration
from tests.native.building import (
    GRACE,
    RECORD,
    RULES,
    a_cluster,
    compact,
    guard,
    keeps_all,
    live,
    live_json,
    tolerates,
    tolerations_in,
)

EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
KEYS = ["sla", "a", "example.com/k", "node-role.kubernetes.io/x", "node.kubernetes.io/not-ready"]
VALUES = ["", "800", "950", "960", "1.2.3", "1.10", "x"]
OPERATORS = ["", "Equal", "Exists", "Gt", "Lt", "SemverGt", "SemverLt", "SemverEq", "Nonsense"]
EXPRESSIONS = ["true", "taint.value == '950'", "taint.key.startsWith('a')", "1 / 0 == 1", "(", "x"]
LIMITS = [0, 1, 3, 64]


def seconds() -> st.SearchStrategy[JSON]:
    numbers = st.sampled_from([-5, 0, 30, 1 << 70])
    return st.just({}) | numbers.map(lambda number: {"tolerationSeconds": number})


@st.composite
def rule(draw: st.DrawFn) -> JSON:
    """Any toleration that an annotation can carry, sensible or not."""
    if draw(st.integers(0, 4)) == 0:
        return {"expression": draw(st.sampled_from(EXPRESSIONS)), **draw(seconds())}
    key = draw(st.sampled_from([*KEYS, "", "no key!"]))
    operator, value = draw(st.sampled_from(OPERATORS)), draw(st.sampled_from(VALUES))
    effect = draw(st.sampled_from(["", *EFFECTS, "Nonsense"]))
    return toleration(key, operator, value, effect, **draw(seconds()))


@st.composite
def native(draw: st.DrawFn) -> JSON:
    """A toleration that the API server accepts in a spec, a guard that somebody copied included."""
    key = draw(st.sampled_from(KEYS))
    if draw(st.booleans()):
        return guard(key, draw(st.sampled_from([0, 4, 300])))
    if draw(st.booleans()):
        return toleration(draw(st.sampled_from([key, ""])), "Exists")
    operator = draw(st.sampled_from(["", "Equal", "Gt"]))
    value = "900" if operator == "Gt" else draw(st.sampled_from(VALUES))
    return toleration(key, operator, value, draw(st.sampled_from(["", *EFFECTS])))


def rules() -> st.SearchStrategy[list[JSON]]:
    return st.lists(rule(), max_size=4)


def damaged(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts that were cut off, doubled or replaced."""
    cut = st.builds(lambda text, end: text[:end], texts, st.integers(0, 60))
    return texts | cut | texts.map(lambda text: text * 2) | st.text(max_size=20)


def annotations() -> st.SearchStrategy[str | None]:
    return st.none() | rules().map(compact) | damaged(rules().map(compact))


def records() -> st.SearchStrategy[str | None]:
    kept = st.lists(st.sampled_from([*KEYS, "gone", "no key!"]), max_size=4).map(compact)
    huge = st.just(compact([f"k{number}" for number in range(9_000)]))
    return st.none() | kept | damaged(kept) | huge


@st.composite
def pods(draw: st.DrawFn, *, bound: bool | None = None) -> JSON:
    on = draw(st.booleans()) if bound is None else bound
    graces = st.sampled_from([None, "0", "7", "-1", "soon", "9" * 500])
    grace = draw(graces)
    return live_json(
        *draw(st.lists(native(), max_size=6)),
        rules=draw(annotations()),
        record=draw(records()),
        node="n0" if on else "",
        annotations={} if grace is None else {GRACE: grace},
    )


def nodes() -> st.SearchStrategy[list[JSON]]:
    some = st.lists(
        st.builds(taint, st.sampled_from(KEYS), st.sampled_from(VALUES), st.sampled_from(EFFECTS)),
        max_size=4,
    )
    return st.lists(st.tuples(some, st.booleans()), min_size=1, max_size=4).map(
        lambda given: [
            node_json(f"n{i}", *taints, unschedulable=cordoned)
            for i, (taints, cordoned) in enumerate(given)
        ]
    )


class Writer:
    """The controller and the API server in one: plans, patches, and remembers its guards."""

    def __init__(self, pod: JSON, limit: int = 64, grace: int = 30) -> None:
        self.pod = pod
        self.settings = Settings()
        self.compile = CompileSettings(max_tolerations=limit, no_execute_grace=grace)
        self.guarded: frozenset[str] = frozenset()

    def plan(self, cluster: TaintUniverse) -> Plan:
        read = live(self.pod)
        return planning.plan(read, cluster, self.settings, self.compile, self.guarded)

    def write(self, cluster: TaintUniverse) -> Plan:
        """One patch, if one is needed; what it must never do is looked for here."""
        plan = self.plan(cluster)
        before = self.pod
        operations = patches.patch(live(before), plan, PREFIX)
        self.pod = json_patch.applied(before, [dict(each) for each in operations])
        if plan.carried is not None:
            self.guarded |= plan.carried.guards.keys() | {each.key for each in plan.guards}
            self.check(plan, plan.carried, cluster)
        assert keeps_all(before, self.pod)
        assert all(len(note.message.encode()) < 500 for note in plan.notes)
        return plan

    def check(self, plan: Plan, carried: Carried, cluster: TaintUniverse) -> None:
        node = live(self.pod).spec.node_name
        there = cluster.on(node) if node else frozenset(cluster.counts)
        for each in plan.added:
            said = Taint(each.key, each.value, each.effect)
            assert said in there
            assert carried.extended.tolerates(said)
            assert not carried.own.tolerates(said, set())
        named = {each.key for each in carried.extended.evicting()}
        for each in plan.guards:
            evicting = {t for t in there if t.effect == NO_EXECUTE and t.key == each.key}
            assert node
            assert looks_like_guard(each)
            assert each.key in named or any(map(carried.extended.tolerates, evicting))
        assert not [*map(str, problems([*plan.added, *plan.guards]))]
        guarded = carried.guards.keys() | {each.key for each in plan.guards}
        listed = tolerations_of(live(self.pod))
        for each in plan.added:
            if each.key in guarded:  # taint-eviction takes the first that matches
                last = max(
                    n for n, t in enumerate(listed) if t.key == each.key and looks_like_guard(t)
                )
                assert listed.index(each) < last

    def settle(self, cluster: TaintUniverse) -> Plan:
        """Write until nothing is left to write, which takes two patches at most."""
        for _ in range(2):
            if not self.write(cluster).writes:
                break
        last = self.plan(cluster)
        assert not last.writes
        return last


def problems(added: Sequence[Toleration]) -> list[object]:
    """What the API server's validation has against tolerations."""
    gates = FeatureGates()
    found: list[object] = []
    for each in added:
        found += validation.check(each, "spec.tolerations", gates, lambda _expression: None)
    return found


def covers(pod: JSON, one: Taint) -> bool:
    return any(tolerates(each, one) for each in tolerations_in(pod))


@given(pods(bound=False), nodes(), st.sampled_from(LIMITS))
def test_a_pod_that_waits_comes_to_tolerate_what_its_rules_match(
    pod: JSON, cluster: list[JSON], limit: int
) -> None:
    writer, there = Writer(pod, limit), a_cluster(*cluster)
    before = [each for each in tolerations_in(pod) if each.get("operator") == "Exists"]
    plan = writer.settle(there)
    exists = [each for each in tolerations_in(writer.pod) if each.get("operator") == "Exists"]

    assert exists == before  # and never a guard
    if plan.carried is None:
        assert plan.invalid
        assert [each.reason for each in plan.notes] == [notes.RULE_INVALID]
        assert writer.pod == pod
        return
    grown = len(tolerations_in(writer.pod)) - len(tolerations_in(pod))
    assert grown <= limit
    missing = [
        each
        for each in there.counts
        if plan.carried.extended.tolerates(each) and not covers(writer.pod, each)
    ]
    assert not missing or plan.cut
    assert plan.cut == any(note.reason == notes.CUT for note in plan.notes)


@given(pods(bound=True), nodes(), st.sampled_from(LIMITS), st.sampled_from([0, 30]))
def test_a_pod_that_runs_comes_to_tolerate_what_would_evict_it(
    pod: JSON, cluster: list[JSON], limit: int, grace: int
) -> None:
    writer, there = Writer(pod, limit, grace), a_cluster(*cluster)
    plan = writer.settle(there)
    if plan.carried is None:
        assert writer.pod == pod
        return
    evicting = [each for each in there.on("n0") if each.effect == NO_EXECUTE]
    tolerated = [each for each in evicting if plan.carried.extended.tolerates(each)]

    assert all(covers(writer.pod, each) for each in tolerated)
    places = dict(enumerate(tolerations_in(writer.pod)))
    for key, place in plan.carried.guards.items():
        behind = [each for n, each in places.items() if n > place and looks_evicting(each, key)]
        assert [each for each in behind if each.get("key") != key or not is_guard(each)] == []
    if plan.carried.guards:  # else a record that cannot be read stays
        record = writer.pod["metadata"]["annotations"][RECORD]
        assert plan.carried.guards.keys() <= set(json.loads(record))


def looks_evicting(each: JSON, key: str) -> bool:
    """Whether taint-eviction finds it for a taint of a key. Another guard is none of its key."""
    return each.get("key", "") in ("", key) and each.get("effect", "") in ("", NO_EXECUTE)


def is_guard(each: JSON) -> bool:
    return each.get("operator") == "Exists" and "tolerationSeconds" in each


@st.composite
def edits(draw: st.DrawFn) -> JSON:
    """What somebody does to a pod or to the nodes between two looks."""
    kind = draw(st.sampled_from(["nodes", "rules", "record", "bind", "add", "shuffle", "nothing"]))
    what = {
        "nodes": nodes(),
        "rules": annotations(),
        "record": records(),
        "add": native(),
        "shuffle": st.integers(0, 9),
    }.get(kind, st.none())
    return {"kind": kind, "what": draw(what)}


def edited(pod: JSON, edit: JSON) -> JSON:
    made: JSON = json.loads(json.dumps(pod))
    kind, what = edit["kind"], edit["what"]
    written = made["metadata"].setdefault("annotations", {})
    if kind in ("rules", "record"):
        name = RULES if kind == "rules" else RECORD
        written.pop(name, None)
        if what is not None:
            written[name] = what
    elif kind == "bind":
        made["spec"]["nodeName"] = "n0"
    elif kind == "add":
        made["spec"].setdefault("tolerations", []).append(what)
    elif kind == "shuffle" and made["spec"].get("tolerations"):
        listed = made["spec"]["tolerations"]
        made["spec"]["tolerations"] = listed[what % len(listed) :] + listed[: what % len(listed)]
    return made


@given(pods(), nodes(), st.lists(edits(), max_size=5), st.sampled_from(LIMITS))
def test_whatever_is_edited_meanwhile_a_pod_settles_and_only_grows(
    pod: JSON, cluster: list[JSON], steps: list[JSON], limit: int
) -> None:
    writer, there = Writer(pod, limit), a_cluster(*cluster)
    for each in [{"kind": "nothing", "what": None}, *steps]:
        if each["kind"] == "nodes":
            there = a_cluster(*each["what"])
        writer.pod = edited(writer.pod, each)
        writer.settle(there)


def shape(plan: Plan) -> object:
    """What is written, whatever the seconds: those are of the first rule that matches."""
    added = [(each.key, each.value, each.effect) for each in plan.added]
    return added, [each.key for each in plan.guards], plan.moved, plan.record, plan.cut


@given(pods(), nodes(), rules(), st.sampled_from(LIMITS), st.randoms(use_true_random=False))
def test_the_order_of_nodes_and_rules_does_not_matter(
    pod: JSON, cluster: list[JSON], written: list[JSON], limit: int, random: Random
) -> None:
    # Without seconds, of which the first rule's decide whether there is a guard at all.
    plain = [{k: v for k, v in each.items() if k != "tolerationSeconds"} for each in written]
    shuffled, other = list(plain), list(cluster)
    random.shuffle(shuffled)
    random.shuffle(other)
    pod["metadata"].setdefault("annotations", {})[RULES] = compact(plain)
    first = Writer(pod, limit).plan(a_cluster(*cluster))
    pod["metadata"]["annotations"][RULES] = compact(shuffled)

    assert shape(Writer(pod, limit).plan(a_cluster(*other))) == shape(first)
