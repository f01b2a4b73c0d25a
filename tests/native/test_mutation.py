"""What the mutating webhook does to pods, applied as the API server does."""

from collections.abc import Collection
from typing import Any

import pytest

from extender.framework.interface import Settings
from extender.native.mutation import NODE_AFFINITY_REFUSED, Mutation, Mutator
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from tests.builders import JSON, PREFIX, required, requirement, taint, toleration
from tests.native.building import (
    DEFAULTS,
    NO_EXECUTE,
    RECORD,
    applied,
    cluster_of,
    compact,
    equal,
    evicting,
    guard,
    keeps_all,
    live,
    live_json,
    planned,
    record_in,
    tolerations_in,
)

GT_900 = toleration("sla", "Gt", "900")
CLUSTER = cluster_of(taint("sla", "950"), evicting("sla", "960"))
E950 = equal("sla", "950")
E960 = equal("sla", "960", NO_EXECUTE)
OWN = equal("own", "1")
NOT_READY = guard("node.kubernetes.io/not-ready", 300)
AFFINITY = PREFIX + "node-affinity"
NARROWING = {AFFINITY: compact(required([requirement("zone", "In", "a")]))}


def mutator(
    compile_settings: CompileSettings = DEFAULTS,
    extended_schedulers: Collection[str] = (),
    **settings: Any,
) -> Mutator:
    return Mutator(Settings(**settings), compile_settings, extended_schedulers)


def create(document: JSON, cluster: TaintUniverse = CLUSTER) -> tuple[JSON, Mutation]:
    """A new pod as the API server stores it, and what was done to it."""
    mutation = mutator().created(live(document), cluster)
    return applied(document, mutation.operations), mutation


def update(new: JSON, old: JSON) -> tuple[JSON, Mutation]:
    """An update as the API server judges it, and what was done to it."""
    mutation = mutator().updated(live(new), live(old))
    return applied(new, mutation.operations), mutation


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(live_json(OWN, rules=[GT_900]), [OWN, E950, E960], id="appended"),
        pytest.param(live_json(rules=[GT_900]), [E950, E960], id="to a pod without tolerations"),
        pytest.param(live_json(E950, rules=[GT_900]), [E950, E960], id="what is not there yet"),
        pytest.param(live_json(GT_900), [GT_900, E950, E960], id="by a native rule"),
        pytest.param(
            live_json(rules=[GT_900], node="n1"), [E960], id="with a node: what evicts there"
        ),
    ],
)
def test_a_new_pod_gets_what_its_rules_come_to(document: JSON, expected: list[JSON]) -> None:
    created, mutation = create(document)

    assert mutation.result == "compiled"
    assert tolerations_in(created) == expected
    assert record_in(created) is None


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(live_json(OWN), id="no rules"),
        pytest.param(live_json(guard("sla"), rules=[]), id="an Exists of its own"),
        pytest.param(live_json(rules=[toleration("sla", "Gt", "999")]), id="no taint matches"),
        pytest.param(live_json(rules="["), id="rules that cannot be read"),
        pytest.param(live_json(rules=[GT_900], spec={"schedulerName": "x"}), id="not compiled"),
    ],
)
def test_a_new_pod_that_nothing_is_done_to(document: JSON) -> None:
    created, mutation = create(document)

    assert created == document
    assert mutation == Mutation("unchanged")


@pytest.mark.parametrize(
    ("tolerations", "record", "expected"),
    [
        pytest.param([guard("sla")], ["sla"], [], id="a copied guard"),
        pytest.param([guard("sla", 5)], ["sla"], [], id="whatever its seconds"),
        pytest.param([guard("sla", 0)], ["sla"], [], id="even none"),
        pytest.param(
            [OWN, guard("a"), E950, guard("b")], ["a", "b"], [OWN, E950], id="several of them"
        ),
        pytest.param([guard("sla"), guard("sla", 5)], ["sla"], [], id="the same twice"),
        pytest.param([guard("x")], ["sla"], [guard("x")], id="not an Exists of its own"),
        pytest.param(
            [toleration("sla", "Exists", effect=NO_EXECUTE)],
            ["sla"],
            [toleration("sla", "Exists", effect=NO_EXECUTE)],
            id="not one without seconds",
        ),
        pytest.param([E960], ["sla"], [E960], id="not an Equal"),
        pytest.param([OWN], [], [OWN], id="an empty record"),
        pytest.param(
            [guard("a"), NOT_READY, guard("b")],
            "[",
            [NOT_READY],
            id="an unreadable record: all that look so, but not the system's",
        ),
        pytest.param(
            [guard("node.kubernetes.io/out-of-service"), NOT_READY],
            ["node.kubernetes.io/out-of-service"],
            [NOT_READY],
            id="of a condition of the node, if it is recorded",
        ),
        pytest.param([guard("a")], "x" * 262_144, [], id="a record of 256 KiB"),
        pytest.param([guard("a")], "[" * 60_000, [], id="a deep record"),
    ],
)
def test_a_copied_guard_is_removed_with_its_record(
    tolerations: list[JSON], record: list[str] | str, expected: list[JSON]
) -> None:
    created, mutation = create(live_json(*tolerations, record=record))

    assert mutation.result == "compiled"
    assert tolerations_in(created) == expected
    assert RECORD not in created["metadata"]["annotations"]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"spec": {"schedulerName": "x"}}, id="another scheduler"),
        pytest.param({"node": "n1"}, id="a pod with a node"),
        pytest.param(
            {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}, id="a DaemonSet"
        ),
        pytest.param({"rules": "["}, id="rules that cannot be read"),
    ],
)
def test_a_copied_guard_is_removed_whoever_brings_it(more: JSON) -> None:
    created, _ = create(live_json(OWN, guard("sla"), record=["sla"], **more))

    assert tolerations_in(created) == [OWN]
    assert record_in(created) is None


def test_a_copied_guard_does_not_count_as_tolerating() -> None:
    created, _ = create(live_json(OWN, guard("sla"), rules=[GT_900], record=["sla"]))

    assert tolerations_in(created) == [OWN, E950, E960]


def test_a_new_pod_is_left_with_nothing_to_write() -> None:
    created, _ = create(live_json(OWN, guard("sla"), rules=[GT_900], record=["sla"]))

    assert not planned(created, CLUSTER).writes


def test_expressions_that_take_too_much_work_are_left_to_the_controller() -> None:
    settings = Settings()
    settings.programs.allowance = 0
    document = live_json(guard("sla"), rules=[{"expression": "true"}], record=["sla"])
    mutation = Mutator(settings, DEFAULTS).created(live(document), CLUSTER)

    assert tolerations_in(applied(document, mutation.operations)) == []


@pytest.mark.parametrize(
    ("names", "extended", "scheduler", "more", "refused"),
    [
        pytest.param(["default-scheduler"], [], "", {}, True, id="nobody enforces it"),
        pytest.param([], [], "anybody", {}, True, id="all schedulers are compiled"),
        pytest.param(["default-scheduler"], [], "x", {}, False, id="a scheduler of their own"),
        pytest.param([], ["x"], "x", {}, False, id="an extended scheduler"),
        pytest.param([], ["x"], "y", {}, True, id="another one is extended"),
        pytest.param(
            [], ["default-scheduler"], "", {}, False, id="the default scheduler is extended"
        ),
        pytest.param([], [], "", {"node": "n1"}, False, id="it has a node"),
        pytest.param(
            [],
            [],
            "",
            {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]},
            False,
            id="of a DaemonSet",
        ),
    ],
)
def test_node_affinity_that_nobody_enforces_is_refused(
    names: list[str], extended: list[str], scheduler: str, more: JSON, refused: bool
) -> None:
    compile_settings = CompileSettings(scheduler_names=frozenset(names))
    pod = live(live_json(annotations=NARROWING, spec={"schedulerName": scheduler}, **more))
    answers = mutator(compile_settings, extended)
    expected = Mutation("refused", refusal=NODE_AFFINITY_REFUSED)

    assert (answers.created(pod, CLUSTER) == expected) is refused
    assert (answers.updated(pod, live(live_json())) == expected) is refused


@pytest.mark.parametrize(
    ("new", "old", "refused"),
    [
        pytest.param(NARROWING, NARROWING, False, id="an old pod may keep it"),
        pytest.param({}, NARROWING, False, id="or lose it"),
        pytest.param({AFFINITY: "{}"}, NARROWING, True, id="but not change it"),
        pytest.param(NARROWING, {}, True, id="nor get it"),
        pytest.param({AFFINITY: ""}, {}, True, id="whatever it says"),
    ],
)
def test_node_affinity_at_an_update(
    new: dict[str, str], old: dict[str, str], refused: bool
) -> None:
    pod, before = live(live_json(annotations=new)), live(live_json(annotations=old))

    assert (mutator().updated(pod, before).result == "refused") is refused


def test_node_affinity_that_was_compiled_into_the_spec_is_enforced() -> None:
    record = '{"nodeAffinity":{"own":null,"digest":"abc"}}'
    pod = live(live_json(annotations={**NARROWING, PREFIX + "compiled": record}))

    assert mutator().created(pod, CLUSTER).result == "unchanged"


def test_node_affinity_under_another_prefix() -> None:
    pod = live(live_json(annotations={"example.org/node-affinity": "{}"}))

    assert mutator(annotation_prefix="example.org/").created(pod, CLUSTER).result == "refused"
    assert mutator().created(pod, CLUSTER).result == "unchanged"


WAITING = live_json(OWN, E950, E960, rules=[GT_900])
BOUND = live_json(OWN, E960, guard("sla"), rules=[GT_900], node="n1", record=["sla"])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            WAITING,
            live_json(OWN, rules=[GT_900]),
            [OWN, E950, E960],
            id="a manifest without what was added",
        ),
        pytest.param(
            WAITING, live_json(rules=[GT_900]), [E950, E960], id="not what the user owned"
        ),
        pytest.param(
            WAITING,
            live_json(OWN, E950, E960),
            None,
            id="nothing was dropped but the rules: it is the user's to narrow",
        ),
        pytest.param(WAITING, live_json(OWN), [OWN, E950, E960], id="the rules are gone as well"),
        pytest.param(
            WAITING, live_json(OWN, rules="["), [OWN, E950, E960], id="the new rules are unreadable"
        ),
        pytest.param(
            live_json(OWN, E950, rules="["),
            live_json(OWN, rules=[GT_900]),
            [OWN, E950],
            id="the old rules are unreadable",
        ),
        pytest.param(
            live_json(OWN, E950, rules="["), live_json(OWN, rules="["), None, id="both are"
        ),
        pytest.param(WAITING, WAITING, None, id="nothing was dropped"),
        pytest.param(
            WAITING,
            live_json(OWN, {**E960, "tolerationSeconds": 5}, E950, rules=[GT_900]),
            None,
            id="other seconds, in another order",
        ),
        pytest.param(
            BOUND,
            live_json(OWN, rules=[GT_900], node="n1", record=["sla"]),
            [OWN, E960, guard("sla")],
            id="a guard is put back, as the last",
        ),
        pytest.param(
            BOUND,
            live_json(OWN, guard("sla"), rules=[GT_900], node="n1", record=["sla"]),
            [OWN, E960, guard("sla")],
            id="an Equal is put back before the guard",
        ),
        pytest.param(
            BOUND,
            live_json(OWN, guard("sla", 5), rules=[GT_900], node="n1", record=["sla"]),
            [OWN, E960, guard("sla", 5)],
            id="a guard with other seconds is still the guard",
        ),
        pytest.param(
            BOUND,
            live_json(rules=[GT_900], node="n1", record=["sla"]),
            [E960, guard("sla")],
            id="to an absent list",
        ),
        pytest.param(
            live_json(guard("x"), rules=[GT_900], node="n1"),
            live_json(rules=[GT_900], node="n1"),
            None,
            id="an Exists of its own is the user's",
        ),
        pytest.param(
            live_json(guard("x"), node="n1", record="["),
            live_json(node="n1", record=["x"]),
            [guard("x")],
            id="the old record is unreadable",
        ),
    ],
)
def test_an_update_gets_back_what_it_dropped(
    old: JSON, new: JSON, expected: list[JSON] | None
) -> None:
    updated, mutation = update(new, old)

    assert mutation.result == ("unchanged" if expected is None else "restored")
    assert tolerations_in(updated) == (tolerations_in(new) if expected is None else expected)


def test_an_applied_manifest_is_accepted_by_the_api_server() -> None:
    updated, _ = update(live_json(OWN, rules=[GT_900], node="n1"), BOUND)

    assert keeps_all(BOUND, updated)
    assert record_in(updated) == ["sla"]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param({"record": ["sla"]}, '["sla"]', id="it stays as it is"),
        pytest.param({"record": ["x", "sla"]}, '["x","sla"]', id="so does a longer one"),
        pytest.param({}, '["sla"]', id="it was dropped"),
        pytest.param({"record": []}, '["sla"]', id="it was emptied"),
        pytest.param({"record": ["x"]}, '["sla","x"]', id="it was edited"),
        pytest.param({"record": "["}, '["sla"]', id="it was broken"),
        pytest.param({"record": "x" * 262_144}, '["sla"]', id="it was made huge"),
        pytest.param({"rules": None}, '["sla"]', id="all annotations were dropped"),
    ],
)
def test_a_record_is_kept_while_there_are_guards(new: JSON, expected: str) -> None:
    parts: JSON = {"rules": [GT_900], "node": "n1", **new}
    updated, _ = update(live_json(OWN, E960, guard("sla"), **parts), BOUND)

    assert updated["metadata"]["annotations"][RECORD] == expected


def test_a_record_without_guards_may_go() -> None:
    old = live_json(OWN, rules=[GT_900], node="n1", record=["sla"])
    _, mutation = update(live_json(OWN, rules=[GT_900], node="n1"), old)

    assert mutation == Mutation("unchanged")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"spec": {"schedulerName": "x"}}, id="another scheduler"),
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, id="terminating"),
        pytest.param(
            {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}, id="a DaemonSet"
        ),
    ],
)
def test_an_update_of_a_pod_that_is_not_compiled(more: JSON) -> None:
    _, mutation = update(live_json(OWN, rules=[GT_900], **more), WAITING)

    assert mutation == Mutation("unchanged")


def test_rules_that_take_too_much_work_put_nothing_back() -> None:
    settings = Settings()
    settings.programs.allowance = 0
    rules = [{"expression": "taint.key == 'sla'"}]
    old, new = live_json(OWN, E950, rules=rules), live_json(OWN, rules=rules)

    assert Mutator(settings, DEFAULTS).updated(live(new), live(old)) == Mutation("unchanged")
