"""What the stories of the whole controller do not reach: faults, priorities, the fence."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from extender.cluster.api import ApiServer
from extender.control.events import EventRecorder
from extender.control.planner import INLINE_CHARACTERS, Planner
from extender.control.pod_writer import PodWriter, Written
from extender.control.pods import RuledPods
from extender.control.reconciler import MAX_PORTIONS, NO_ROOM, Reconciler
from extender.framework.interface import Settings
from extender.metrics import ControllerMetrics
from extender.model.core_v1 import LivePod, Node, Taint
from extender.native.patches import Operation
from extender.native.planning import Plan
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.verbs.cel_budget import CelBudget
from tests.builders import PREFIX
from tests.cluster.apiserver import ScriptedServer, anonymous, eventually
from tests.control.building import GOLD, live, node_of, pod_of


class Writer(PodWriter):
    """Keeps what it is to write, and answers as it is told."""

    def __init__(self) -> None:
        super().__init__(ApiServer(anonymous(ScriptedServer())))
        self.written: list[str] = []
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.breaks = 0
        self.answer = Written("gone", 404)

    async def write(self, key: str, operations: Sequence[Operation]) -> Written:
        self.written.append(key)
        await self.go_on.wait()
        if self.breaks:
            self.breaks -= 1
            raise RuntimeError("told to")
        return self.answer


class Rig:
    """A reconciler without an API server."""

    def __init__(self, per_second: int = 1000) -> None:
        settings = Settings()
        self.taints = TaintUniverse()
        self.pods = RuledPods(PREFIX)
        self.writer = Writer()
        self.leads = True
        self.cel = CelBudget(settings)
        self.recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
        planner = Planner(settings, CompileSettings(), self.taints, self.cel)
        self.reconciler = Reconciler(
            self.pods,
            planner,
            self.writer,
            self.recorder,
            ControllerMetrics(CollectorRegistry()),
            leads=lambda: self.leads,
            per_second=per_second,
        )

    def node(self, name: str, *values: str, effect: str = "NoSchedule") -> None:
        made = msgspec.convert(node_of(name, *values, effect=effect), Node)
        self.reconciler.node_changed(name, self.taints.put(name, made))

    def pod(self, name: str, pod: LivePod) -> None:
        self.pods.put(name, pod)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Rig"]:
        task = asyncio.create_task(self.reconciler.run())
        with self.cel.running():
            try:
                yield self
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


async def test_who_waits_or_would_be_evicted_comes_before_guards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All are looked at before the first patch, also on a slow machine.
    monkeypatch.setattr("extender.control.reconciler.TURN_SECONDS", 60.0)
    rig = Rig()
    rig.node("a", "950", effect="NoExecute")
    for number in range(4):
        rig.pod(f"guard-{number}", live(pod_of(GOLD, node="b", uid=f"g{number}")))
    rig.pod("evicted", live(pod_of(GOLD, node="a", uid="e")))
    rig.pod("pending", live(pod_of(GOLD, uid="p")))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: len(rig.writer.written) == 6, 5)

    assert set(rig.writer.written[:2]) == {"evicted", "pending"}


async def test_one_patch_of_a_pod_is_under_way() -> None:
    rig = Rig()
    rig.node("a", "950")
    rig.writer.go_on.clear()
    rig.reconciler.leader_changed(True)
    async with rig.running():
        rig.pod("p", live(pod_of(GOLD)))
        await eventually(lambda: rig.writer.written, 5)
        for value in ("951", "952", "953"):
            rig.node(value, value)
            await asyncio.sleep(0.01)
        under_way = list(rig.writer.written)
        rig.writer.go_on.set()
        await eventually(lambda: len(rig.writer.written) > 1, 5)

    assert under_way == ["p"]


async def test_nothing_is_written_before_this_process_leads_and_after() -> None:
    rig = Rig()
    rig.leads = False
    rig.node("a", "950")
    rig.pod("p", live(pod_of(GOLD)))
    async with rig.running():
        await asyncio.sleep(0.02)
        assert rig.writer.written == []
        assert set(rig.reconciler.states().values()) == {0}

        rig.leads = True
        rig.reconciler.leader_changed(True)
        await eventually(lambda: rig.writer.written, 5)
        rig.leads = False
        rig.reconciler.leader_changed(False)
        before = len(rig.writer.written)
        rig.pod("q", live(pod_of(GOLD, uid="2")))
        await asyncio.sleep(0.02)

    assert rig.writer.written[0] == "p"
    assert "q" not in rig.writer.written[before:]


async def test_a_fence_that_closes_meanwhile_keeps_what_is_wanted_from_being_written() -> None:
    rig = Rig()
    rig.node("a", "950")
    rig.pod("p", live(pod_of(GOLD)))
    rig.reconciler.leader_changed(True)
    rig.leads = False  # nobody has told it yet
    async with rig.running():
        await asyncio.sleep(0.05)

    assert rig.writer.written == []


async def test_an_internal_fault_with_one_pod_holds_nobody_up() -> None:
    rig = Rig()
    rig.node("a", "950")
    rig.writer.breaks = 1
    rig.reconciler.leader_changed(True)
    async with rig.running():
        rig.pod("broken", live(pod_of(GOLD)))
        await eventually(lambda: rig.writer.written, 5)
        rig.pod("other", live(pod_of(GOLD, uid="2")))
        await eventually(lambda: "other" in rig.writer.written, 5)
        await eventually(lambda: rig.writer.written.count("broken") == 2, 5)

    assert rig.writer.written.count("broken") >= 2


async def test_what_is_gone_is_forgotten() -> None:
    rig = Rig()
    rig.node("a", "950")
    rig.pod("p", live(pod_of(GOLD)))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: rig.writer.written, 5)
        rig.pods.remove("p")

    assert sum(rig.reconciler.states().values()) == 0


async def test_a_resync_makes_up_for_what_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    monkeypatch.setattr("extender.control.reconciler.RESYNC_SECONDS", 0.01)
    rig.pod("p", live(pod_of(GOLD)))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await asyncio.sleep(0.03)
        rig.taints.put("a", msgspec.convert(node_of("a", "950"), Node))  # and nobody is told
        await eventually(lambda: rig.writer.written, 5)

    assert rig.writer.written[0] == "p"


async def test_a_pod_that_breaks_every_plan_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig, plan = Rig(), Planner.plan

    def breaks(self: Planner, pod: LivePod, *args: Any, **more: Any) -> Plan | None:
        if pod.metadata.uid == "broken":
            raise RuntimeError("told to")
        return plan(self, pod, *args, **more)

    monkeypatch.setattr(Planner, "plan", breaks)
    rig.node("a", "950")
    for number in range(3):
        rig.pod(f"broken/{number}", live(pod_of(GOLD, uid="broken")))
    rig.pod("default/other", live(pod_of(GOLD, uid="2")))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: rig.writer.written, 5)

    assert rig.writer.written[0] == "default/other"
    assert {each.getMessage() for each in caplog.records if each.exc_info} == {
        f"pod broken/{number}: an internal fault" for number in range(3)
    }


async def test_a_plan_that_breaks_when_its_turn_comes_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig, plan = Rig(), Planner.plan

    def breaks(self: Planner, pod: LivePod, *args: Any, **more: Any) -> Plan | None:
        if pod.metadata.uid == "broken" and more.get("prepared"):
            raise RuntimeError("told to")
        return plan(self, pod, *args, **more)

    monkeypatch.setattr(Planner, "plan", breaks)
    rig.node("a", "950")
    rig.pod("broken/0", live(pod_of(GOLD, uid="broken")))
    rig.pod("default/other", live(pod_of(GOLD, uid="2")))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: rig.writer.written, 5)

    assert rig.writer.written[0] == "default/other"
    assert [each.getMessage() for each in caplog.records if each.exc_info] == [
        "pod broken/0: an internal fault"
    ]


async def test_an_answer_about_a_pod_whose_name_came_to_another_one_is_not_taken_for_it() -> None:
    """A StatefulSet uses a name again. The watch may tell of the new pod before the answer."""
    rig = Rig()
    rig.node("a", "950")
    old = live(pod_of(GOLD, uid="old"))
    rig.writer.go_on.clear()
    rig.writer.answer = Written("written", 200, old)
    rig.reconciler.leader_changed(True)
    async with rig.running():
        rig.pod("default/web-0", old)
        await eventually(lambda: rig.writer.written, 5)
        rig.pods.remove("default/web-0")
        rig.pod("default/web-0", live(pod_of(GOLD, uid="new")))
        rig.writer.go_on.set()
        await eventually(lambda: len(rig.writer.written) > 1, 5)

    found = rig.pods.get("default/web-0")
    assert found is not None
    assert found.metadata.uid == "new"


async def test_a_crowd_of_one_namespace_does_not_keep_others_waiting() -> None:
    """Who may create pods could otherwise have the pods of others evicted."""
    rig = Rig()
    rig.node("a", "950", effect="NoExecute")
    for number in range(200):
        rig.pod(f"crowd/{number}", live(pod_of(GOLD, uid=f"c{number}", node="a")))
    rig.pod("default/web-0", live(pod_of(GOLD, node="a")))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: "default/web-0" in rig.writer.written, 5)

    assert rig.writer.written.index("default/web-0") < 8


async def test_costly_rules_of_one_namespace_do_not_keep_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig, prepared, prepare = Rig(), [], Planner.prepare

    async def noted(self: Planner, pod: LivePod) -> None:
        prepared.append(pod.metadata.uid)
        await prepare(self, pod)

    monkeypatch.setattr(Planner, "prepare", noted)
    rules = msgspec.json.encode([GOLD]).decode()
    for number in range(50):
        text = rules + " " * (INLINE_CHARACTERS + number)
        rig.pod(f"crowd/{number}", live(pod_of(text, uid=f"c{number}")))
    rig.pod("default/web-0", live(pod_of(rules + " " * INLINE_CHARACTERS + "\n", uid="mine")))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: "mine" in prepared, 5)

    assert prepared.index("mine") <= 2


async def test_pods_that_wait_are_asked_in_turns_whether_a_new_value_concerns_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The change of a node is taken in at once, however many pods wait with whatever rules."""
    rig, asked, concerns = Rig(), [], Planner.concerns

    def noted(self: Planner, pod: LivePod, appeared: Iterable[Taint]) -> bool:
        asked.append(sorted(each.value for each in appeared))
        return concerns(self, pod, appeared)

    monkeypatch.setattr(Planner, "concerns", noted)
    rig.reconciler.leader_changed(True)
    rig.pod("default/web-0", live(pod_of(GOLD)))
    async with rig.running():
        await asyncio.sleep(0.02)
        rig.node("a", "700")
        rig.node("b", "950")
        assert asked == []
        await eventually(lambda: rig.writer.written, 5)

    assert asked == [["700", "950"]]


async def test_a_pod_over_which_the_api_server_fails_holds_nobody_up() -> None:
    """A webhook that fails for one namespace, or a pod that is too large, is a 500."""
    rig = Rig()
    rig.node("a", "950")
    rig.writer.answer = Written("failed", 500, message="failed calling webhook")
    rig.reconciler.leader_changed(True)
    async with rig.running():
        rig.pod("crowd/0", live(pod_of(GOLD, uid="c")))
        await eventually(lambda: rig.writer.written.count("crowd/0") == 3, 5)
        rig.pod("default/web-0", live(pod_of(GOLD)))
        await eventually(lambda: "default/web-0" in rig.writer.written, 5)

    assert rig.reconciler._paused_until == 0.0
    assert rig.reconciler.states()["refused"] == 2


async def test_a_clock_that_was_set_back_leaves_nobody_behind() -> None:
    """A pod whose patch was refused is tried again, whatever the time is by then."""
    rig = Rig()
    times = [5_000.0]
    rig.reconciler._clock = lambda: times[0]
    rig.node("a", "950")
    rig.writer.answer = Written("failed", 500, message="no")
    rig.reconciler.leader_changed(True)
    async with rig.running():
        rig.pod("default/web-0", live(pod_of(GOLD)))
        await eventually(lambda: rig.writer.written, 5)
        times[0] = 0.0
        rig.pod("default/late", live(pod_of(GOLD, uid="2")))
        await eventually(lambda: len(rig.writer.written) >= 4, 5)

    assert set(rig.writer.written[1:]) == {"default/web-0", "default/late"}


async def test_a_pod_that_there_is_no_room_for_is_told() -> None:
    rig = Rig()
    rig.pods._max_share = 10
    rig.node("a", "950")
    rig.reconciler.leader_changed(True)
    rig.pod("default/web-0", live(pod_of(GOLD)))

    found = rig.recorder._new.pop()
    assert found is not None
    assert (found[1].event["reason"], found[1].event["message"]) == (
        "LeewayRuleInvalid",
        NO_ROOM.message,
    )
    assert rig.reconciler.states()["refused"] == 1
    rig.leads = False
    rig.pod("default/web-0", live(pod_of(GOLD)))
    assert rig.recorder._new.pop() is None


async def test_rules_that_take_work_without_end_are_put_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig, prepared = Rig(), []

    async def noted(_self: Planner, pod: LivePod) -> None:
        prepared.append(pod.metadata.uid)

    monkeypatch.setattr(Planner, "plan", lambda *_args, **_more: None)
    monkeypatch.setattr(Planner, "prepare", noted)
    rig.pod("default/web-0", live(pod_of(GOLD)))
    rig.reconciler.leader_changed(True)
    async with rig.running():
        await eventually(lambda: rig.reconciler.states()["refused"] == 1, 5)

    assert len(prepared) == MAX_PORTIONS


async def test_a_pod_that_is_edited_while_its_rules_wait_is_not_read_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading takes up to 50 ms, and somebody may edit all the time."""
    rig, asked, go_on = Rig(), [], asyncio.Event()

    def noted(_self: Planner, pod: LivePod, *_args: object, prepared: bool = False) -> None:
        asked.append((pod.metadata.name, prepared))

    async def held(_self: Planner, _pod: LivePod) -> None:
        await go_on.wait()

    monkeypatch.setattr(Planner, "plan", noted)
    monkeypatch.setattr(Planner, "prepare", held)
    rig.reconciler.leader_changed(True)
    async with rig.running():
        rig.pod("default/first", live(pod_of(GOLD, name="first")))
        rig.pod("default/second", live(pod_of(GOLD, name="second", uid="2")))
        await eventually(lambda: len(asked) == 2, 5)
        for number in range(5):
            rig.pod("default/second", live(pod_of({**GOLD, "value": str(number)}, name="second")))
            await asyncio.sleep(0.01)

        assert asked == [("first", False), ("second", False)]
