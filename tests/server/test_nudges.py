"""Who is woken, how often at most, and what happens when it fails: on a clock of its own."""

import asyncio
import logging

import msgspec
import pytest

from extender.config.schema import Config
from extender.errors import ApiError, ApiForbiddenError, NotSyncedError, PodGoneError
from extender.server import nudges
from extender.server.nudges import FIRST_BACKOFF, LONGEST_BACKOFF
from extender.verbs import filter as filter_verb
from extender.verbs.waiting import CHECK_SECONDS, GRACE, GRACE_OF_OTHERS
from tests.builders import JSON, PREFIX, node_json, requirement, taint, toleration
from tests.cluster.apiserver import a_placed_pod, eventually
from tests.waiting import World, a_waiting_pod, refused, schedulable, spread

HOPELESS = taint("sla", "950")
POD = a_waiting_pod(scheduler="ours")
KEY = "default/web-0"


def refusing(pods: int = 1, config: Config | None = None) -> World:
    """A world in which so many pods were refused by its one node."""
    world = World(config or Config())
    world.show(node_json("a", HOPELESS))
    for number in range(pods):
        pod = a_waiting_pod(name=f"web-{number}", scheduler="ours")
        world.show_pod(pod)
        world.ask(pod)
    return world


async def test_a_pod_that_fits_by_now_is_woken_once() -> None:
    world = refusing()
    world.show(node_json("a"))
    await world.look(GRACE)
    await world.send()
    await world.look(60)
    await world.send()

    ((key, uid, condition),) = world.written
    assert (key, uid) == (KEY, "uid-of-web-0")
    assert condition.type == f"{PREFIX}Schedulable"
    assert (condition.status, condition.reason) == ("True", "ClusterChanged")
    assert condition.message == "the cluster has changed: node a passes now"
    assert condition.last_transition_time == "1970-01-01T00:16:40Z"
    assert world.counted("sent") == 1


async def test_a_pod_that_does_not_fit_is_left_alone() -> None:
    world = refusing()
    world.show(node_json("a", taint("sla", "960")), node_json("b", HOPELESS))
    await world.look(GRACE)
    await world.send()

    assert world.written == []
    assert not await world.look()


async def test_a_pod_that_is_asked_about_meanwhile_is_not_woken() -> None:
    world = refusing()
    world.show(node_json("a"))
    await world.look(GRACE)
    world.ask(POD)
    await world.send()

    assert world.written == []
    assert world.counted("unneeded") == 1


async def test_a_pod_that_fits_no_longer_is_not_woken() -> None:
    world = refusing()
    world.show(node_json("a"))
    await world.look(GRACE)
    world.show(node_json("a", HOPELESS))
    await world.send()

    assert world.written == []
    assert world.counted("unneeded") == 1


async def test_a_pod_that_is_gone_when_the_patch_arrives_is_no_fault() -> None:
    world = refusing()
    world.show(node_json("a"))
    await world.look(GRACE)
    world.fault = PodGoneError("gone")
    await world.send()

    assert (world.counted("unneeded"), world.counted("failed")) == (1, 0)
    assert world.nudges.remark() == "1 pods wait"


async def test_a_rate_holds_for_all_pods_together() -> None:
    world = refusing(20, Config(nudges_per_second=4))
    world.show(node_json("a"))
    await world.look(GRACE)
    begun = world.now
    await world.send()

    assert len(world.woken()) == 20
    assert world.now - begun == pytest.approx(19 / 4)
    assert world.counted("limited") == 19


async def test_those_that_we_refused_go_first() -> None:
    world = World()
    world.show(node_json("a", HOPELESS))
    world.show_pod(a_waiting_pod(name="other", scheduler="ours"), **refused())
    await world.look()
    world.show_pod(POD)
    world.ask(POD)
    world.show(node_json("a"))
    await world.look(GRACE_OF_OTHERS)
    await world.send()

    assert world.woken() == [KEY, "default/other"]


async def test_a_restarted_leeway_takes_over() -> None:
    world = World()
    world.show(node_json("a"))
    world.show_pod(POD, **refused())
    await world.look()
    await world.look(GRACE_OF_OTHERS)
    await world.send()

    assert world.woken() == [KEY]


async def test_a_condition_that_no_longer_holds_is_withdrawn() -> None:
    world = refusing()
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    await world.look()
    assert await world.look(1.0)
    await world.look(CHECK_SECONDS)
    await world.send()

    ((key, _, condition),) = world.written
    assert (key, condition.status, condition.reason) == (KEY, "False", "NoNodePasses")
    assert world.counted("sent") == 0


async def test_a_condition_that_holds_stays() -> None:
    world = refusing()
    world.show(node_json("full"))  # it is not offered, because in-tree filters refuse it
    world.ask(POD, "a")
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    for _ in range(5):
        await world.look(CHECK_SECONDS)
    await world.send()

    assert world.written == []


async def test_a_withdrawal_that_fails_is_counted() -> None:
    world = refusing()
    world.show_pod(POD, **refused(conditions=[schedulable()]))
    world.fault = ApiError("no")
    await world.look()
    await world.look(CHECK_SECONDS)
    await world.send()

    assert world.counted("failed") == 1


async def test_a_missing_right_is_logged_once_and_retried_seldom(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = refusing()
    world.show(node_json("a"))
    world.fault = ApiForbiddenError("PATCH: HTTP 403: may not patch pods/status", 403)
    waits = []
    for _ in range(10):
        while not world.nudges.has_work:
            await world.look(GRACE)
        waits.append(world.nudges.next_at - world.now)
        await world.send()

    assert world.counted("failed") == 10
    assert len(caplog.records) == 1
    assert "failing: PATCH: HTTP 403" in world.nudges.remark()
    assert world.nudges.next_at - world.now == LONGEST_BACKOFF
    world.fault = None
    while not world.nudges.has_work:
        await world.look(GRACE)
    await world.send()
    assert world.woken() == [KEY]
    assert world.nudges.remark() == "1 pods wait"


async def test_a_pod_that_the_server_refuses_does_not_hold_up_others() -> None:
    world = refusing(2)
    world.show(node_json("a"))
    world.fault = ApiError("PATCH: HTTP 400: this pod is odd", 400)
    await world.look(GRACE)
    await world.nudges.send()
    world.fault = None

    assert world.nudges.next_at - world.now < FIRST_BACKOFF
    await world.send()
    assert world.woken() == ["default/web-1"]


async def test_expressions_that_take_long_are_evaluated_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("extender.verbs.cel_budget.LOOP_ALLOWANCE", 0)
    world = World()
    pod = a_waiting_pod(annotated_tolerations=[{"expression": "int(taint.value) > 900"}])
    world.show(node_json("a", taint("sla", "1")))
    world.show_pod(pod, **refused())
    with world.context.cel.running():
        await world.look()
        world.show(node_json("a", taint("sla", "901")))
        await world.look(GRACE_OF_OTHERS)
        await world.send()

    assert world.woken() == [KEY]


async def test_expressions_that_take_too_long_are_left_for_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("extender.verbs.cel_budget.LOOP_ALLOWANCE", 0)
    monkeypatch.setattr("extender.verbs.cel_budget.CALL_ALLOWANCE", 0)
    world = World()
    pod = a_waiting_pod(annotated_tolerations=[{"expression": "int(taint.value) > 900"}])
    world.show(node_json("a", taint("sla", "901")))
    world.show_pod(pod, **refused(conditions=[schedulable()]))
    with world.context.cel.running():
        await world.look()
        assert await world.look(GRACE_OF_OTHERS)
        await world.look(CHECK_SECONDS)
        await world.send()

    assert world.written == []


async def test_what_breaks_while_a_pod_is_about_to_be_woken_is_left_for_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    pod = a_waiting_pod(toleration("sla", "Gt", "950"))
    world.show(node_json("a", HOPELESS))
    world.show_pod(pod)
    world.ask(pod)
    world.show(node_json("a", taint("sla", "960")))
    await world.look(GRACE)
    with monkeypatch.context() as broken:
        broken.setattr("extender.verbs.cel_budget.CALL_BUDGET", -1)
        world.context.runner = type(world.context.runner)(clock=lambda: 0.0)
        await world.nudges.send()
    assert world.written == []
    await world.look()
    await world.send()

    assert world.woken() == [KEY]


@pytest.mark.parametrize("state", ["not listed", "cut off"])
async def test_without_a_view_nobody_is_judged(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = refusing()
    world.show(node_json("a"))
    if state == "cut off":
        world.current = False
    else:

        def not_synced() -> None:
            raise NotSyncedError("not yet")

        monkeypatch.setattr(world, "snapshot", not_synced)

    assert await world.look(GRACE)
    assert not world.nudges.has_work


async def test_it_can_be_switched_off() -> None:
    world = refusing(config=Config(nudges_per_second=0))
    await world.nudges.run()

    assert world.nudges.remark() == "off: nudge.perSecond is 0"


async def test_it_runs_by_itself_and_goes_on_after_a_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(nudges, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(nudges, "GRACE", 0.0)
    caplog.set_level(logging.ERROR)
    world = refusing()
    with monkeypatch.context() as broken:
        broken.setattr(world.waiting, "due", lambda _snapshot: 1 / 0)
        task = asyncio.create_task(world.nudges.run())
        await eventually(lambda: caplog.records)
    world.show(node_json("a"))
    world.now += GRACE
    await eventually(lambda: world.written)
    task.cancel()

    assert world.woken() == [KEY]
    assert caplog.records[0].exc_info is not None


# --- What else lets a pod in -------------------------------------------------------------------


async def woken_by(world: World, pod: JSON) -> list[str]:
    """Who is woken now, without anybody asking."""
    await world.look(GRACE)
    await world.send()
    assert not world.ask(pod).error
    return world.woken()


async def test_a_pod_that_leaves_makes_room_under_a_spread_constraint() -> None:
    world = World()
    pod = spread(a_waiting_pod())
    world.show(node_json("a", labels={"zone": "x"}), node_json("b", HOPELESS, labels={"zone": "y"}))
    world.show_pod(a_placed_pod("there", "a", labels={"app": "web"}))
    world.show_pod(pod)
    world.ask(pod)
    world.show_pod(a_placed_pod("elsewhere", "b", labels={"app": "other"}))
    assert await woken_by(world, pod) == []
    world.cache.pods.remove("default/there")

    assert await woken_by(world, pod) == [KEY]


async def test_a_volume_that_moves_lets_its_pod_in() -> None:
    world = World()
    pod = a_waiting_pod()
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    world.show(node_json("a", labels={"zone": "x"}))
    world.show_claim(
        {
            "metadata": {"name": "c", "namespace": "default", "annotations": bound},
            "spec": {"volumeName": "pv"},
        }
    )
    world.show_volume(a_volume("y"))
    world.show_pod(pod)
    world.ask(pod)
    assert await woken_by(world, pod) == []
    world.show_volume(a_volume("x"))

    assert await woken_by(world, pod) == [KEY]


def a_volume(zone: str) -> JSON:
    """A volume that only nodes of a zone reach."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement("zone", "In", zone)]}]}
    return {"metadata": {"name": "pv"}, "spec": {"nodeAffinity": {"required": terms}}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([], [node_json("new")], id="a new node"),
        pytest.param(
            [node_json("b", unschedulable=True)], [node_json("b")], id="a node that is uncordoned"
        ),
    ],
)
async def test_a_node_that_becomes_usable_lets_a_pod_in(
    before: list[JSON], after: list[JSON]
) -> None:
    world = World()
    world.show(node_json("a", HOPELESS), *before)
    world.show_pod(POD)
    world.ask(POD)
    world.show(*after)

    assert await woken_by(world, POD) == [KEY]


async def test_where_nodes_come_with_the_request_only_other_changes_are_news() -> None:
    world = World()
    node = node_json("a", HOPELESS)
    world.show(node)
    world.show_pod(POD)
    body = {"Pod": POD, "Nodes": {"items": [node]}, "NodeNames": None}
    filter_verb.answer(world.context, msgspec.json.encode(body))
    world.show(node_json("a"))
    await world.look(GRACE)

    assert len(world.waiting) == 0
    assert not world.nudges.has_work
