"""Who waits from which view, who is judged again, and when."""

import pytest

from extender.config.schema import Config, ProfileConfig
from extender.framework.snapshot import Snapshot
from extender.plugins import DEFAULT_WEIGHTS
from extender.verbs import waiting
from extender.verbs.waiting import (
    CHECK_SECONDS,
    FIRST_PAUSE,
    GRACE,
    GRACE_OF_OTHERS,
    LONGEST_PAUSE,
    SELF_WAKE_SECONDS,
    SUSPECT_SECONDS,
    UNJUDGED_PAUSE,
    UNKNOWN,
    UNSEEN_SECONDS,
    View,
)
from tests.builders import JSON, node_json, required, requirement, taint
from tests.waiting import World, a_waiting_pod, decoded, refused, schedulable

HOPELESS = taint("sla", "950")
POD = a_waiting_pod(scheduler="ours")
KEY = "default/web-0"
UNMET = required([requirement("zone", "In", "nowhere")])


def a_world(config: Config | None = None) -> World:
    """One node, which refuses the pod that waits."""
    world = World(config or Config())
    world.show(node_json("a", HOPELESS))
    world.show_pod(POD)
    return world


def due(world: World) -> list[str]:
    """The pods that are judged again now."""
    found, _ = world.waiting.due(world.snapshot())
    return [pod.key for each in found for pod in each.pods]


def looks_again(world: World) -> bool:
    return world.waiting.due(world.snapshot())[1]


def test_a_refused_pod_is_not_judged_again_while_nothing_changes() -> None:
    world = a_world()
    world.ask(POD)
    world.now += 60

    assert due(world) == []
    assert not looks_again(world)
    assert len(world.waiting) == 1


def test_a_refused_pod_is_judged_again_after_a_change_and_a_grace() -> None:
    world = a_world()
    world.ask(POD)
    world.show(node_json("a", taint("sla", "960")))

    assert (due(world), looks_again(world)) == ([], True)
    world.now += GRACE
    assert due(world) == [KEY]


def test_a_pod_that_was_asked_about_since_the_change_is_not() -> None:
    world = a_world()
    world.ask(POD)
    world.show(node_json("a", taint("sla", "960")))
    world.ask(POD)
    world.now += 60

    assert due(world) == []


def test_a_pod_that_passes_is_not_judged_while_it_is_being_bound() -> None:
    world = a_world()
    world.ask(POD)
    world.show_pod(POD, **refused())
    world.show(node_json("b"))
    world.ask(POD)
    world.now += 60

    assert due(world) == []
    world.show_pod(POD | {"spec": {"nodeName": "b"}})
    assert due(world) == []
    assert len(world.waiting) == 0


def test_a_pod_that_passed_and_was_not_bound_waits_for_the_next_change() -> None:
    world = a_world()
    world.ask(POD)
    world.show(node_json("b"))
    world.ask(POD)
    world.show(node_json("c"))
    world.now += GRACE

    assert due(world) == [KEY]
    assert not world.ask(POD, "a").expects_news


def test_a_pod_that_got_an_error_is_forgotten_because_it_is_retried() -> None:
    world = a_world()
    world.ask(POD)
    world.current = False
    answer = world.ask(POD)

    assert answer.error
    assert len(world.waiting) == 0


def test_who_only_asks_what_would_be_does_not_wait() -> None:
    world = a_world()
    pod = a_waiting_pod()
    del pod["metadata"]["uid"]
    world.ask(pod)

    assert len(world.waiting) == 0


def test_a_pod_whose_annotation_is_unreadable_waits_for_no_change() -> None:
    world = a_world()
    world.ask(a_waiting_pod(annotated_tolerations="{"))

    assert len(world.waiting) == 0


@pytest.mark.parametrize("leaves", ["bound", "gone", "replaced", "gated", "terminating", "ended"])
def test_a_pod_that_waits_no_longer_is_forgotten(leaves: str) -> None:
    world = a_world()
    world.ask(POD)
    due(world)
    if leaves == "bound":
        world.show_pod(POD | {"spec": {"nodeName": "a"}})
    elif leaves == "gone":
        world.cache.pods.remove(KEY)
    elif leaves == "replaced":
        world.show_pod(POD | {"metadata": POD["metadata"] | {"uid": "another"}})
    elif leaves == "gated":
        world.show_pod(POD | {"spec": {"schedulingGates": [{"name": "g"}]}})
    elif leaves == "terminating":
        world.show_pod(POD | {"metadata": POD["metadata"] | {"deletionTimestamp": "now"}})
    else:
        world.show_pod(POD, phase="Failed")
    world.show(node_json("b", HOPELESS))
    world.now += 60

    assert due(world) == []
    assert len(world.waiting) == 0


def test_a_pod_that_the_watch_has_not_shown_yet_is_looked_for_a_while() -> None:
    world = World()
    world.show(node_json("a", HOPELESS))
    world.ask(POD)
    world.show(node_json("a", taint("sla", "960")))
    world.now += GRACE

    assert (due(world), looks_again(world)) == ([], True)
    world.show_pod(POD)
    assert due(world) == [KEY]


def test_a_pod_that_the_watch_never_shows_is_forgotten() -> None:
    world = World()
    world.show(node_json("a", HOPELESS))
    world.ask(POD)
    world.now += UNSEEN_SECONDS + 1

    assert not looks_again(world)
    assert len(world.waiting) == 0


def test_so_many_refusals_are_remembered_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MAX_REFUSALS", 2)
    world = a_world()
    for name in ("x", "y", "z"):
        world.ask(a_waiting_pod(name=name))

    assert len(world.waiting) == 2


def test_pods_with_equal_rules_are_judged_together() -> None:
    world = a_world()
    pods = [a_waiting_pod(name=f"web-{number}") for number in range(3)]
    for pod in pods:
        world.show_pod(pod)
        world.ask(pod)
    world.show(node_json("a", taint("sla", "960")))
    world.now += GRACE
    found, _ = world.waiting.due(world.snapshot())

    assert [len(each.pods) for each in found] == [3]


# --- News that is on its way -------------------------------------------------------------------


def test_news_is_expected_when_a_refused_pod_is_asked_about_and_nothing_was_seen() -> None:
    world = a_world()

    assert not world.ask(POD).expects_news
    assert not world.ask(POD).expects_news  # its own status has woken it
    world.now += SELF_WAKE_SECONDS
    assert world.ask(POD).expects_news


@pytest.mark.parametrize("happens", ["a node changes", "a pod comes", "a pod goes"])
def test_no_news_is_expected_when_something_was_seen_to_happen(happens: str) -> None:
    world = a_world()
    placed = {"metadata": {"name": "x", "namespace": "default"}, "spec": {"nodeName": "a"}}
    if happens == "a pod goes":
        world.show_pod(placed)
    world.ask(POD)
    if happens == "a node changes":
        world.show(node_json("b", HOPELESS))
    elif happens == "a pod comes":
        world.show_pod(placed)
    else:
        world.cache.pods.remove("default/x")
    world.now += SELF_WAKE_SECONDS

    assert not world.ask(POD).expects_news


def test_what_kube_scheduler_does_not_react_to_is_no_sign() -> None:
    world = a_world()
    placed = {"metadata": {"name": "x", "namespace": "default"}, "spec": {"nodeName": "a"}}
    world.show_pod(placed)
    world.ask(POD)
    world.show(node_json("a", HOPELESS))  # a heartbeat
    world.show_pod(placed, phase="Running")
    world.show_pod(POD, **refused())
    world.now += SELF_WAKE_SECONDS

    assert world.ask(POD).expects_news


# --- Others' refusals --------------------------------------------------------------------------


def test_after_a_start_every_refused_pod_is_judged_over_all_nodes() -> None:
    world = a_world()
    world.show_pod(POD, **refused())

    assert (due(world), looks_again(world)) == ([], True)
    world.now += GRACE_OF_OTHERS
    found, _ = world.waiting.due(world.snapshot())
    assert [(each.view, [pod.key for pod in each.pods]) for each in found] == [(UNKNOWN, [KEY])]


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({}, id="nobody has tried to place it"),
        pytest.param(refused("0/1 nodes are available: 1 Insufficient cpu."), id="no CPU"),
        pytest.param(
            {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "X"}]},
            id="refused otherwise",
        ),
    ],
)
def test_who_was_not_refused_for_a_reason_of_ours_is_not_looked_after(
    status: dict[str, object],
) -> None:
    world = a_world()
    world.show_pod(POD, **status)
    looks_again(world)

    assert len(world.waiting) == 0


def test_later_only_recent_changes_count_for_a_pod_that_another_refused() -> None:
    world = World()
    world.show(node_json("a", HOPELESS))
    due(world)
    world.now += 60
    world.show(node_json("old", HOPELESS))
    due(world)
    before = View.of(world.snapshot())
    world.now += SUSPECT_SECONDS
    world.show(node_json("a", taint("sla", "960")))
    due(world)
    world.show_pod(POD, **refused())
    due(world)
    world.now += GRACE_OF_OTHERS
    found, _ = world.waiting.due(world.snapshot())

    assert [each.view for each in found] == [before]


def test_whom_another_replica_has_woken_we_leave_alone() -> None:
    world = a_world()
    world.show_pod(POD, **refused())
    due(world)
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    world.now += GRACE_OF_OTHERS

    assert due(world) == []


def test_our_own_nudge_does_not_hide_a_later_change() -> None:
    world = a_world()
    world.ask(POD)
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    world.show(node_json("a", taint("sla", "960")))
    world.now += GRACE

    assert due(world) == [KEY]


def test_without_profiles_only_schedulers_that_ask_us_are_helped() -> None:
    world = a_world()
    stranger = a_waiting_pod(name="stranger", scheduler="another")
    world.show_pod(stranger, **refused())
    world.ask(POD)
    world.now += GRACE_OF_OTHERS
    due(world)

    assert len(world.waiting) == 1


@pytest.mark.parametrize(
    ("pod", "is_helped"),
    [
        pytest.param(a_waiting_pod(), False, id="the cluster's own scheduler asks no extender"),
        pytest.param(
            a_waiting_pod(annotated_tolerations=[]), True, id="unless the pod counts on one"
        ),
        pytest.param(a_waiting_pod(scheduler="another"), True, id="any other may"),
    ],
)
def test_before_anybody_has_asked_us(pod: JSON, is_helped: bool) -> None:
    world = World()
    world.show_pod(pod, **refused())
    due(world)

    assert len(world.waiting) == is_helped


def test_so_many_schedulers_are_remembered_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MAX_SCHEDULERS", 1)
    world = a_world()
    world.ask(POD)
    world.ask(a_waiting_pod(name="x", scheduler="another"))
    world.show_pod(a_waiting_pod(name="y", scheduler="another"), **refused())
    due(world)

    assert len(world.waiting) == 2


def test_with_profiles_all_pods_of_theirs_are_helped() -> None:
    config = Config(profiles=(ProfileConfig("ours", DEFAULT_WEIGHTS),))
    world = a_world(config)
    world.show_pod(a_waiting_pod(name="x", scheduler="ours"), **refused())
    world.ask(a_waiting_pod(name="y", scheduler="other", annotated_affinity=UNMET))
    due(world)

    assert len(world.waiting) == 2


# --- Pauses and checks -------------------------------------------------------------------------


def wake(world: World) -> None:
    (pod,) = (each for each in world.pending.values() if each.key == KEY)
    world.waiting.woken(pod, View.of(world.snapshot()))


def test_a_pod_that_is_not_placed_is_judged_after_growing_pauses() -> None:
    world = a_world()
    world.show(node_json("full"))  # in-tree filters refuse it, so it is never offered
    pauses = []
    for number in range(14):
        world.ask(POD, "a")
        world.show(node_json("a", taint("sla", str(number))))
        start = world.now
        while not due(world):
            world.now += 0.25
        pauses.append(world.now - start)
        wake(world)

    assert pauses[0] < FIRST_PAUSE
    assert pauses[1:4] == [1.0, 2.0, 4.0]
    assert max(pauses) == LONGEST_PAUSE


def test_after_a_quiet_time_a_pod_is_judged_without_a_pause() -> None:
    world = a_world()
    world.show(node_json("full"))
    for number in range(3):
        world.ask(POD, "a")
        world.show(node_json("a", taint("sla", str(number))))
        world.now += 100
        assert due(world) == [KEY]
        wake(world)


def test_a_pod_that_was_offered_every_node_needs_no_long_pause() -> None:
    world = a_world()
    for number in range(5):
        world.ask(POD)
        world.show(node_json("a", taint("sla", str(number))))
        world.now += FIRST_PAUSE
        assert due(world) == [KEY]
        wake(world)


def test_a_pod_that_cannot_be_judged_is_judged_later() -> None:
    world = a_world()
    world.ask(POD)
    world.show(node_json("a", taint("sla", "960")))
    world.now += GRACE
    (found,), _ = world.waiting.due(world.snapshot())
    world.waiting.postpone(found)

    assert (due(world), looks_again(world)) == ([], True)
    world.now += UNJUDGED_PAUSE
    assert due(world) == [KEY]


def test_who_was_asked_about_meanwhile_keeps_the_newer_view() -> None:
    world = a_world()
    world.ask(POD)
    old = View.of(world.snapshot())
    world.show(node_json("a", taint("sla", "960")))
    world.now += GRACE
    (found,), _ = world.waiting.due(world.snapshot())
    world.ask(POD)
    world.show(node_json("a", taint("sla", "970")))
    world.waiting.unfit(found, old)
    world.waiting.postpone(found)
    world.now += GRACE

    assert not world.waiting.is_due(found.pods[0], found)
    assert due(world) == [KEY]


def test_a_nudge_that_failed_leaves_the_pod_due_after_a_pause() -> None:
    world = a_world()
    world.ask(POD)
    world.show(node_json("a", taint("sla", "960")))
    world.now += GRACE
    (pod,) = world.pending.values()
    world.waiting.woken(pod, View.of(world.snapshot()), failed=True)

    assert due(world) == []
    world.now += FIRST_PAUSE
    assert due(world) == [KEY]


def test_a_pod_that_was_placed_while_it_was_woken_stays_forgotten() -> None:
    world = a_world()
    world.ask(POD)
    (pod,) = world.pending.values()
    world.waiting.forget(decoded(POD))
    world.waiting.woken(pod, UNKNOWN)

    assert len(world.waiting) == 0
    assert not world.waiting.is_own(pod)
    assert not world.waiting.checked(pod, fits=False)


def checks(world: World) -> tuple[list[str], bool]:
    found, again = world.waiting.to_check(world.snapshot())
    return [pod.key for pod in found], again


def test_a_condition_is_withdrawn_when_two_checks_in_a_row_find_no_node() -> None:
    world = a_world()
    world.ask(POD)
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    (pod,) = world.pending.values()

    assert checks(world) == ([KEY], False)
    assert not world.waiting.checked(pod, fits=False)
    assert checks(world) == ([], True)
    world.now += CHECK_SECONDS
    assert checks(world) == ([KEY], False)
    assert world.waiting.checked(pod, fits=False)


def test_a_condition_that_holds_is_checked_only_after_a_change() -> None:
    world = a_world()
    world.ask(POD)
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    (pod,) = world.pending.values()
    checks(world)
    world.waiting.checked(pod, fits=True)
    world.now += CHECK_SECONDS

    assert checks(world) == ([], False)
    world.show(node_json("a", taint("sla", "960")))
    assert checks(world) == ([KEY], False)


# --- Views -------------------------------------------------------------------------------------


def test_a_pod_without_constraints_does_not_depend_on_other_pods() -> None:
    here, nodes = UNKNOWN, frozenset({"nodes"})

    assert not View(-1, 5, 5).differs_everywhere(here, nodes)
    assert View(-1, 5, -1).differs_everywhere(here, nodes | {"pods"})
    assert View(-1, -1, 5).differs_everywhere(here, nodes | {"persistentvolumes"})
    assert View.of(Snapshot()) == View(0, 0, 0)


def test_rules_that_are_too_large_are_not_looked_after(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    monkeypatch.setattr("extender.cluster.pending.MAX_POD_BYTES", 10)
    world.show(node_json("a", HOPELESS))
    world.show_pod(POD, **refused())
    answer = world.ask(POD)
    world.show(node_json("a"))
    world.now += 60

    assert "too large" in answer.error
    assert due(world) == []
