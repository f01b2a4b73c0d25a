"""What is to be written to a pod, whole: the table of compile mode, row by row."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from extender.errors import AllowanceError
from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import LivePod, Toleration
from extender.native import notes, planning
from extender.native.carried import Carried, extended_of
from extender.native.extended import Extended
from extender.native.notes import Note
from extender.native.planning import Plan, is_compiled, narrowed
from extender.native.settings import CompileSettings
from tests.builders import JSON, node_json, taint, toleration
from tests.native.building import (
    DEFAULTS,
    GRACE,
    NO_EXECUTE,
    RECORD,
    RULES,
    a_cluster,
    a_live_pod,
    a_taint,
    as_json,
    cluster_of,
    equal,
    evicting,
    guard,
    live,
    live_json,
    planned,
)

GT_900 = toleration("sla", "Gt", "900")
ANY = {"expression": "true"}
CLUSTER = cluster_of(taint("sla", "950"), evicting("sla", "960"), taint("sla", "850"))
CUT = Note(
    notes.CUT,
    "the rules match more taints of the cluster than compile.maxTolerations of 1 allows: those on"
    " the fewest nodes are left out",
)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({}, True, id="a pod"),
        pytest.param({"node": "n0"}, True, id="a bound pod"),
        pytest.param({"spec": {"schedulerName": "default-scheduler"}}, True, id="named scheduler"),
        pytest.param({"spec": {"schedulerName": "other"}}, False, id="another scheduler"),
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, False, id="terminating"),
        pytest.param({"annotations": {"kubernetes.io/config.mirror": ""}}, False, id="a mirror"),
        pytest.param(
            {"ownerReferences": [{"kind": "DaemonSet", "name": "d", "controller": True}]},
            False,
            id="of a DaemonSet",
        ),
        pytest.param(
            {"ownerReferences": [{"kind": "DaemonSet", "name": "d"}]},
            True,
            id="owned by a DaemonSet that does not control it",
        ),
        pytest.param(
            {"ownerReferences": [{"kind": "ReplicaSet", "name": "r", "controller": True}]},
            True,
            id="of a ReplicaSet",
        ),
        pytest.param({"ownerReferences": None}, True, id="null for owners"),
    ],
)
def test_who_is_compiled(more: JSON, expected: bool) -> None:
    document = live_json(rules=[GT_900], **more)

    assert is_compiled(live(document), DEFAULTS) is expected
    assert planned(document, CLUSTER).writes is expected


@pytest.mark.parametrize(
    ("phase", "expected"),
    [("", True), ("Pending", True), ("Running", True), ("Succeeded", False), ("Failed", False)],
)
def test_finished_pods_are_left_alone(phase: str, expected: bool) -> None:
    document = {**live_json(rules=[GT_900]), "status": {"phase": phase}}

    assert planned(document, CLUSTER).writes is expected


@pytest.mark.parametrize(
    ("names", "scheduler", "expected"),
    [
        pytest.param([], "anybody", True, id="an empty list means all"),
        pytest.param([], "", True, id="and those without a name"),
        pytest.param(["mine"], "", False, id="no name is default-scheduler, which is not listed"),
        pytest.param(["mine", "yours"], "yours", True, id="one of several"),
    ],
)
def test_scheduler_names(names: list[str], scheduler: str, expected: bool) -> None:
    compile_settings = CompileSettings(scheduler_names=frozenset(names))
    pod = a_live_pod(rules=[GT_900], spec={"schedulerName": scheduler})

    assert is_compiled(pod, compile_settings) is expected


def test_a_pod_that_is_not_compiled_is_not_even_read() -> None:
    assert planned(live_json(rules="[", spec={"schedulerName": "x"}), CLUSTER) == Plan()


def test_a_pod_that_waits_gets_what_its_rules_come_to() -> None:
    plan = planned(live_json(rules=[GT_900]), CLUSTER)

    assert as_json(plan.added) == [equal("sla", "950"), equal("sla", "960", NO_EXECUTE)]
    assert (plan.guards, plan.moved, plan.record) == ((), (), None)
    assert (plan.cut, plan.invalid, plan.notes) == (False, False, ())
    assert plan.writes


def test_a_guard_is_never_put_on_a_pod_that_waits() -> None:
    rules = [toleration("sla", "Exists", effect=NO_EXECUTE, tolerationSeconds=9), ANY]
    plan = planned(live_json(rules=rules, record="["), CLUSTER)

    assert plan.added
    assert (plan.guards, plan.moved, plan.record) == ((), (), None)


def test_a_bound_pod_gets_what_its_node_evicts_for_and_guards() -> None:
    plan = planned(live_json(rules=[GT_900], node="n1"), CLUSTER)

    assert as_json(plan.added) == [equal("sla", "960", NO_EXECUTE)]
    assert as_json(plan.guards) == [guard("sla")]
    assert (plan.moved, plan.record, plan.cut) == ((), ("sla",), False)


def test_a_bound_pod_whose_node_has_no_such_taint_gets_guards_alone() -> None:
    plan = planned(live_json(rules=[GT_900], node="n0"), CLUSTER)

    assert plan.added == ()
    assert as_json(plan.guards) == [guard("sla")]


def test_a_bound_pod_whose_node_is_unknown_gets_guards_for_the_keys_it_names() -> None:
    plan = planned(live_json(rules=[GT_900, ANY], node="nobody"), CLUSTER)

    assert plan.added == ()
    assert as_json(plan.guards) == [guard("sla")]


@pytest.mark.parametrize("node", ["", "n1"])
def test_a_pod_without_rules_is_left_alone(node: str) -> None:
    plan = planned(live_json(equal("sla", "1", NO_EXECUTE), node=node), CLUSTER)

    assert not plan.writes


@pytest.mark.parametrize("node", ["", "n1"])
def test_an_annotation_that_does_not_decode_is_told_and_nothing_is_written(node: str) -> None:
    plan = planned(live_json(NATIVE_GT, rules="[", node=node), CLUSTER)

    assert not plan.writes
    assert plan.invalid
    assert plan.carried is None
    (note,) = plan.notes
    assert note.reason == notes.RULE_INVALID
    assert note.message.startswith(f"pod annotation {RULES} is invalid: ")


def test_what_is_told_of_a_long_annotation_fits_an_event() -> None:
    (note,) = planned(live_json(rules='[{"' + "k" * 10_000 + '": 1}]'), CLUSTER).notes

    assert len(note.message.encode()) < 500


NATIVE_GT = toleration("sla", "Gt", "900")


@pytest.mark.parametrize("node", ["", "n1"])
def test_a_gate_that_is_off_adds_nothing_and_what_was_added_stays(node: str) -> None:
    gates = FeatureGates(comparison_operators=False)
    document = live_json(equal("sla", "960", NO_EXECUTE), NATIVE_GT, rules=[GT_900], node=node)

    assert not planned(document, CLUSTER, settings=Settings(gates=gates)).writes


def test_an_annotation_that_is_widened_adds_more() -> None:
    rules = [toleration("sla", "Gt", "800")]
    plan = planned(live_json(equal("sla", "950"), rules=rules), CLUSTER)

    assert as_json(plan.added) == [equal("sla", "850"), equal("sla", "960", NO_EXECUTE)]


def test_an_annotation_that_is_narrowed_takes_nothing_away() -> None:
    rules = [toleration("sla", "Gt", "955")]
    document = live_json(equal("sla", "950"), equal("sla", "960", NO_EXECUTE), rules=rules)

    assert not planned(document, CLUSTER).writes


def test_carriers_are_joined() -> None:
    rules = [toleration("sla", "Lt", "900")]
    plan = planned(live_json(NATIVE_GT, rules=rules), CLUSTER)

    assert as_json(plan.added) == [
        equal("sla", "850"),
        equal("sla", "950"),
        equal("sla", "960", NO_EXECUTE),
    ]


def test_an_annotation_cannot_narrow_a_native_toleration_here() -> None:
    native = toleration("sla", "Exists")
    rules = [toleration("sla", "Gt", "1000")]

    assert not planned(live_json(native, rules=rules), CLUSTER).writes
    assert not planned(live_json(native, rules=rules, node="n1"), CLUSTER).writes


def test_a_rule_with_seconds_over_both_effects() -> None:
    rules = [{**GT_900, "tolerationSeconds": 45}]
    plan = planned(live_json(rules=rules), CLUSTER)

    assert as_json(plan.added) == [equal("sla", "950"), equal("sla", "960", NO_EXECUTE, 45)]


def test_taints_of_node_groups_that_are_scaled_to_zero() -> None:
    extra = [a_taint("sla", "990"), a_taint("sla", "100")]

    assert as_json(planned(live_json(rules=[GT_900]), a_cluster(extra=extra)).added) == [
        equal("sla", "990")
    ]


def test_a_cordoned_node_is_reached_by_a_rule_that_names_the_key() -> None:
    cluster = a_cluster(node_json("n0", unschedulable=True))
    key = "node.kubernetes.io/unschedulable"

    assert as_json(planned(live_json(rules=[toleration(key, "Exists")]), cluster).added) == [
        {"key": key, "operator": "Equal", "effect": "NoSchedule"}
    ]
    assert not planned(live_json(rules=[ANY]), cluster).writes


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param([], ["950"], id="the value on most nodes, or the first"),
        pytest.param([equal("sla", "970")], [], id="one of a node that is gone counts"),
        pytest.param([equal("sla", "999")], [], id="one that the user wrote counts"),
        pytest.param([equal("sla", "850")], ["950"], id="one that no rule matches does not"),
        pytest.param([equal("x", "950")], ["950"], id="one of another key does not"),
        pytest.param([toleration("x", "Exists")], ["950"], id="an Exists does not"),
    ],
)
def test_limit_of_a_pod_that_waits(own: list[JSON], expected: list[str]) -> None:
    cluster = cluster_of(taint("sla", "960"), taint("sla", "950"))
    compile_settings = CompileSettings(max_tolerations=1)
    plan = planned(live_json(*own, rules=[GT_900]), cluster, compile_settings=compile_settings)

    assert as_json(plan.added) == [equal("sla", value) for value in expected]
    assert plan.cut
    assert plan.notes == (CUT,)


def test_nothing_is_cut_where_a_pod_has_more_than_the_limit_and_all_it_needs() -> None:
    own = [equal("sla", str(value)) for value in range(950, 960)]
    cluster = cluster_of(taint("sla", "955"))
    compile_settings = CompileSettings(max_tolerations=1)
    plan = planned(live_json(*own, rules=[GT_900]), cluster, compile_settings=compile_settings)

    assert not plan.cut
    assert plan.notes == ()


def test_200_values_in_steps_do_not_add_up_to_200() -> None:
    document = live_json(rules=[GT_900])
    for step in range(20):
        values = range(1000 + 10 * step, 1010 + 10 * step)
        cluster = cluster_of(*(taint("sla", str(value)) for value in values))
        added = as_json(planned(document, cluster).added)
        document["spec"].setdefault("tolerations", []).extend(added)

    assert len(document["spec"]["tolerations"]) == 64


def test_no_limit_holds_for_the_node_of_a_bound_pod() -> None:
    compile_settings = CompileSettings(max_tolerations=1)
    document = live_json(equal("sla", "950", NO_EXECUTE), rules=[GT_900], node="n1")
    plan = planned(document, CLUSTER, compile_settings=compile_settings)

    assert as_json(plan.added) == [equal("sla", "960", NO_EXECUTE)]
    assert not plan.cut
    assert plan.notes == ()


@pytest.mark.parametrize(
    ("tolerations", "more", "guards", "record"),
    [
        pytest.param([guard("sla")], {"record": ["sla"]}, [], None, id="guarded and recorded"),
        pytest.param([], {"record": ["sla"]}, ["sla"], None, id="recorded, but not there"),
        pytest.param([], {"record": ["x"]}, ["sla"], ("sla", "x"), id="another one is recorded"),
        pytest.param([], {"record": "["}, ["sla"], ("sla",), id="an unreadable record"),
        pytest.param(
            [guard("sla"), guard("x")],
            {"record": "["},
            [],
            ("sla", "x"),
            id="an unreadable record is written anew, from what looks like a guard",
        ),
        pytest.param([guard("sla")], {}, [], None, id="an Exists of its own is not recorded"),
        pytest.param(
            [guard("sla")],
            {"remembered": ["sla"]},
            [],
            ("sla",),
            id="a record that somebody removed is written again",
        ),
        pytest.param(
            [guard("sla")],
            {"remembered": ["sla"], "record": ["x"]},
            [],
            ("sla", "x"),
            id="a record that somebody edited, too",
        ),
    ],
)
def test_record(
    tolerations: list[JSON], more: JSON, guards: list[str], record: Sequence[str] | None
) -> None:
    document = live_json(*tolerations, rules=[GT_900], node="n0", record=more.get("record"))
    plan = planned(document, CLUSTER, remembered=more.get("remembered", ()))

    assert as_json(plan.guards) == [guard(key) for key in guards]
    assert plan.record == record
    assert plan.writes is bool(guards or record)


def test_an_unreadable_record_without_guards_stays_and_is_told() -> None:
    plan = planned(live_json(rules=[ANY], node="n0", record="["), CLUSTER)

    assert not plan.writes
    assert plan.notes == (
        Note(notes.RULE_INVALID, f"pod annotation {RECORD} is invalid: it is not a list of keys"),
    )


@pytest.mark.parametrize(
    ("tolerations", "moved"),
    [
        pytest.param([guard("sla")], [], id="alone"),
        pytest.param([equal("sla", "1", NO_EXECUTE), guard("sla")], [], id="last for its key"),
        pytest.param(
            [guard("sla"), equal("sla", "1", NO_EXECUTE)], ["sla"], id="somebody appended one"
        ),
        pytest.param([guard("sla"), equal("sla", "1", "")], ["sla"], id="one of every effect"),
        pytest.param(
            [guard("sla"), toleration(operator="Exists", effect=NO_EXECUTE)],
            ["sla"],
            id="one of every key",
        ),
        pytest.param([guard("sla"), toleration("sla", "Gt", "1")], ["sla"], id="a native rule"),
        pytest.param([guard("sla"), equal("sla", "1")], [], id="one of another effect"),
        pytest.param([guard("sla"), equal("x", "1", NO_EXECUTE)], [], id="one of another key"),
        pytest.param([guard("sla"), guard("x")], [], id="another guard"),
        pytest.param(
            [guard("x"), guard("sla"), equal("x", "1", ""), equal("sla", "1", "")],
            ["sla", "x"],
            id="several, in order",
        ),
    ],
)
def test_a_guard_is_last_for_its_key(tolerations: list[JSON], moved: list[str]) -> None:
    rules = [toleration("sla", "Exists"), toleration("x", "Exists")]
    compile_settings = CompileSettings(no_execute_grace=0)
    document = live_json(*tolerations, rules=rules, node="n0", record=["sla", "x"])
    plan = planned(document, CLUSTER, compile_settings=compile_settings)

    assert list(plan.moved) == moved
    assert plan.writes is bool(moved)


def test_a_condition_of_the_node_that_a_rule_names_is_guarded_like_any_key() -> None:
    key = "node.kubernetes.io/out-of-service"
    cluster = cluster_of(evicting(key, "nodeshutdown"))
    rules = [toleration(key, "Exists")]
    first = planned(live_json(rules=rules, node="n1"), cluster)
    guarded = live_json(guard(key), rules=rules, node="n0", record=[key])
    later = planned(guarded, cluster)

    assert as_json(first.guards) == [guard(key)]
    assert as_json(later.added) == [equal(key, "nodeshutdown", NO_EXECUTE)]
    assert later.guards == ()


def test_an_invalid_grace_is_told_and_the_default_applies() -> None:
    plan = planned(live_json(rules=[GT_900], node="n0", annotations={GRACE: "30s"}), CLUSTER)

    assert as_json(plan.guards) == [guard("sla")]
    assert [each.reason for each in plan.notes] == [notes.GRACE_INVALID]


def test_everything_that_is_to_be_said_of_a_pod_that_waits() -> None:
    plan = planned(
        live_json(rules=[GT_900], annotations={GRACE: "x"}, record="x"),
        CLUSTER,
        compile_settings=CompileSettings(max_tolerations=1),
    )

    assert [each.reason for each in plan.notes] == [
        notes.GRACE_INVALID,
        notes.RULE_INVALID,
        notes.CUT,
    ]


def test_expressions_that_take_too_much_work_are_left_to_the_caller() -> None:
    settings = Settings()
    settings.programs.allowance = 0
    document = live_json(rules=[ANY])

    with pytest.raises(AllowanceError):
        planned(document, CLUSTER, settings=settings)


def extended(pod: LivePod) -> Extended:
    return extended_of(pod, Settings(), DEFAULTS)


def narrowing(now: Sequence[JSON] | None, *tolerations: JSON, **before: Any) -> Note | None:
    pod = a_live_pod(*tolerations, rules=now)
    old = a_live_pod(*tolerations, rules=before.get("rules", [GT_900]))
    return narrowed(pod, extended(old), None if now is None else extended(pod))


@pytest.mark.parametrize(
    ("now", "tolerations", "shown"),
    [
        pytest.param([GT_900], [equal("sla", "950")], "", id="the same rules"),
        pytest.param([toleration("sla", "Gt", "100")], [equal("sla", "950")], "", id="wider ones"),
        pytest.param(
            [toleration("sla", "Gt", "955")],
            [equal("sla", "950"), equal("sla", "960")],
            "sla=950:NoSchedule",
            id="narrower ones",
        ),
        pytest.param([], [equal("sla", "950")], "sla=950:NoSchedule", id="an empty annotation"),
        pytest.param(None, [equal("sla", "950")], "sla=950:NoSchedule", id="no rules at all"),
        pytest.param([], [equal("sla", "850"), equal("x", "1")], "", id="nobody added these"),
        pytest.param([], [], "", id="nothing was added"),
        pytest.param([], [guard("sla"), toleration("sla", "Exists")], "", id="no Equals"),
        pytest.param(
            [],
            [equal("sla", str(950 + n)) for n in range(3)],
            "sla=950:NoSchedule, sla=951:NoSchedule, sla=952:NoSchedule",
            id="three",
        ),
        pytest.param(
            [],
            [equal("sla", str(950 + n)) for n in range(4)],
            "sla=950:NoSchedule, sla=951:NoSchedule, sla=952:NoSchedule and others",
            id="more than three",
        ),
    ],
)
def test_narrowed(now: Sequence[JSON] | None, tolerations: list[JSON], shown: str) -> None:
    note = narrowing(now, *tolerations)
    message = (
        f"no rule of the pod matches {shown} any more, but tolerations cannot be taken from a pod:"
        " create it anew to narrow them"
    )

    assert note == (Note(notes.RULE_NARROWED, message) if shown else None)


def test_what_is_told_of_long_keys_fits_an_event() -> None:
    keys = [f"{letter * 253}/{'n' * 63}" for letter in "abc"]
    rules = [toleration(key, "Exists") for key in keys]
    note = narrowing([], *(equal(key, "v") for key in keys), rules=rules)

    assert note is not None
    assert len(note.message.encode()) < 500


def test_the_default_scheduler_has_the_name_that_kubernetes_gives_it() -> None:
    assert planning.DEFAULT_SCHEDULER == "default-scheduler"


@pytest.mark.parametrize("guarded", [0, 300])
def test_tolerations_are_looked_at_once_not_for_each_key(
    guarded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pod with 10,000 of either kind would hold the controller up for half a minute."""
    asked: list[int] = []
    unguarded = Carried.unguarded

    def counted(self: Carried) -> Iterator[tuple[int, Toleration]]:
        asked.append(1)
        return unguarded(self)

    monkeypatch.setattr(Carried, "unguarded", counted)
    keys = [f"k{n}" for n in range(300)]
    written = [guard(key) for key in keys[:guarded]] + [equal(key, "1", "") for key in keys]
    rules = [toleration(key, "Exists") for key in keys]
    plan = planned(live_json(*written, rules=rules, node="n0", record=keys[:guarded]), CLUSTER)

    assert len(plan.moved) == guarded
    assert len(asked) <= 2
