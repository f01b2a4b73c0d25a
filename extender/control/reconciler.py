"""Keeps the tolerations of every pod with rules equal to what the rules come to.

Level-triggered: whatever happens to a pod or a node, the pod is looked at as it is now, and one
patch makes up the difference. At most one patch of a pod is under way. Who would be evicted, and
who waits for a node, comes first. Namespaces take turns with everything that takes time.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, Final

from extender.cluster.reflector import Backoff
from extender.cluster.resources import Key
from extender.control.events import EventRecorder
from extender.control.memory import Memory, State
from extender.control.planner import Planner
from extender.control.pod_writer import PodWriter, Written
from extender.control.pods import RuledPods
from extender.control.rate import TokenBucket
from extender.control.turns import Turns
from extender.control.wanted import Rank, Wanted
from extender.metrics import ControllerMetrics
from extender.model.core_v1 import LivePod, Taint
from extender.native import notes, patches
from extender.native.notes import Note
from extender.native.planning import Plan
from extender.native.universe import Difference

log = logging.getLogger("leeway.control")

STATES: Final[tuple[State, ...]] = ("current", "behind", "cut", "refused")
# Patches under way at the same time; one takes some milliseconds.
IN_FLIGHT: Final = 8
# Nothing should be missed; if it is, it is made up for after this many seconds.
RESYNC_SECONDS: Final = 300.0
# So long pods are looked at before others have their turn on the event loop.
TURN_SECONDS: Final = 0.005
# Portions of work for the expressions of one pod before it waits as if it were refused.
MAX_PORTIONS: Final = 8
# Seconds to write nothing when the API server is away or overloaded.
UNAVAILABLE: Final = (0.2, 10.0)
NO_ROOM: Final = Note(
    notes.RULE_INVALID,
    "the annotations and tolerations of the pods with rules in this namespace take more memory than"
    " the controller has for them, so this pod is not compiled: use shorter or equal rules",
)
_ANYWAY: Final[frozenset[Taint]] = frozenset()

# Refusals of one pod, by status, until it is told of. An API server that has just started forbids
# everything until it knows the roles, and one that has lost etcd fails over every pod. Either lasts
# a second or two, and so many attempts take 1.5 to 3 seconds.
TOLD_AFTER: Final[Mapping[int, int]] = {403: 3, 500: 6}


class Reconciler:
    """Looks at pods and patches them, while this process leads."""

    def __init__(
        self,
        pods: RuledPods,
        planner: Planner,
        writer: PodWriter,
        recorder: EventRecorder,
        metrics: ControllerMetrics,
        *,
        leads: Callable[[], bool],
        per_second: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pods = pods
        self._planner = planner
        self._writer = writer
        self._recorder = recorder
        self._metrics = metrics
        self._leads = leads
        self._clock = clock
        self._rate = TokenBucket(per_second, clock=clock)
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._wanted = Wanted()
        # Pods to look at: if these taints concern them, or anyway.
        self._dirty: Turns[frozenset[Taint]] = Turns()
        self._unprepared: Turns[None] = Turns()
        self._preparing: Key | None = None
        self._leading = asyncio.Event()
        self._memories: dict[Key, Memory] = {}
        self._under_way: set[Key] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._backoff = Backoff(*UNAVAILABLE)
        self._paused_until = 0.0
        pods.listener = self

    def pod_changed(self, key: Key) -> None:
        """Look at a pod, soon."""
        self._dirty.put(key, _ANYWAY)

    def pod_gone(self, key: Key) -> None:
        """Forget a pod."""
        self._dirty.discard(key)
        self._unprepared.discard(key)
        self._wanted.discard(key)
        self._memories.pop(key, None)

    def pod_freed(self, old: LivePod) -> None:
        """A pod has no rules any more: what they came to stays."""
        note = self._planner.narrowed(old, old, None) if self._leads() else None
        if note is not None:
            self._recorder.record(old, note)

    def pod_dropped(self, pod: LivePod) -> None:
        """There is no room for a pod."""
        if self._leads():
            self._recorder.record(pod, NO_ROOM)

    def node_changed(self, name: str, difference: Difference) -> None:
        """Look at the pods that a changed node means something to."""
        if difference.evicting:
            for key in self._pods.on(name):
                self.pod_changed(key)
        if difference.appeared and self._leads():
            for key in self._pods.pending:
                known = self._dirty.get(key)
                if known != _ANYWAY:
                    self._dirty.put(key, difference.appeared | (known or frozenset()))

    def leader_changed(self, leads: bool) -> None:
        """Look at everything when this process begins to lead, and at nothing when it ends."""
        if leads:
            self._leading.set()
            self._look_at_all()
        else:
            self._leading.clear()
            self._wanted.clear()

    def states(self) -> Mapping[str, int]:
        """How many pods are in which state; none while another one leads."""
        counts = Counter(each.state for each in self._memories.values() if self._leads())
        counts["refused"] += self._pods.dropped if self._leads() else 0
        return {state: counts[state] for state in STATES}

    async def run(self) -> None:
        """Keep pods up to date until cancelled."""
        try:
            await asyncio.gather(
                _repeated(self._look_around),
                _repeated(self._prepare_next),
                _repeated(self._write_next),
                self._resync(),
            )
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._writer.close()

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(RESYNC_SECONDS)
            if self._leads():
                self._look_at_all()

    def _look_at_all(self) -> None:
        for key in list(self._pods.keys()):
            self.pod_changed(key)

    async def _look_around(self) -> None:
        """Look at every pod that something happened to."""
        await self._dirty.some()
        await self._leading.wait()
        until = self._clock() + TURN_SECONDS
        while (found := self._dirty.pop()) is not None:
            with self._contained(found[0]):
                self._look(*found)
            if self._clock() > until:
                await asyncio.sleep(0)
                until = self._clock() + TURN_SECONDS

    def _look(self, key: Key, appeared: frozenset[Taint]) -> None:
        pod = self._pods.get(key)
        if pod is None or key in self._under_way or self._is_prepared(key):
            return  # the end of that brings it here again
        if appeared and not self._planner.concerns(pod, appeared):
            return
        memory = self._memory(key, pod)
        plan = self._planner.plan(pod, memory.guarded, prepared=bool(memory.portions))
        if plan is not None:
            memory.portions = 0
            self._judge(key, pod, memory, plan)
        elif memory.portions < MAX_PORTIONS:
            memory.state = "behind"
            memory.portions += 1
            self._unprepared.put(key, None)
        else:
            memory.state = "refused"
            memory.portions = 0
            self._try_later(key, memory, memory.refused.seconds())

    def _is_prepared(self, key: Key) -> bool:
        """Whether the rules of a pod are worked on, or wait for their turn."""
        return key == self._preparing or key in self._unprepared

    async def _prepare_next(self) -> None:
        """Do a portion of the work for the rules of one pod, while others go on."""
        await self._unprepared.some()
        await self._leading.wait()
        found = self._unprepared.pop()
        pod = self._pods.get(found[0]) if found else None
        if found is None or pod is None:
            return
        self._preparing = key = found[0]
        with self._contained(key):
            try:
                await self._planner.prepare(pod)
            finally:
                self._preparing = None
            self.pod_changed(key)

    def _memory(self, key: Key, pod: LivePod) -> Memory:
        memory = self._memories.get(key)
        if memory is None or memory.uid != pod.metadata.uid:
            memory = self._memories[key] = Memory(pod)
        return memory

    def _judge(self, key: Key, pod: LivePod, memory: Memory, plan: Plan) -> None:
        """Say what is to be said of a pod, and want a patch if it needs one."""
        self._say(pod, memory, [*plan.notes, *self._narrowed(pod, memory, plan)])
        if plan.carried is not None:
            memory.guarded |= plan.carried.guards.keys()
        if not plan.writes:
            self._wanted.discard(key)
            memory.settled()
            memory.state = _state(plan)
            return
        if memory.tried != bytes(pod.spec.tolerations):
            memory.not_before = 0.0  # it is another pod than the one that was refused
        if memory.not_before <= self._clock():
            if memory.state != "refused":
                memory.state = "behind"
            self._wanted.put(key, self._clock(), _rank(pod, plan))

    def _narrowed(self, pod: LivePod, memory: Memory, plan: Plan) -> Iterable[Note]:
        if plan.carried is None:
            return ()
        seen, memory.seen = memory.seen, pod
        if seen is None or self._planner.has_same_rules(seen, pod):
            return ()
        note = self._planner.narrowed(pod, seen, plan.carried.extended)
        return () if note is None else (note,)

    def _say(self, pod: LivePod, memory: Memory, said: Iterable[Note]) -> None:
        for note in said:
            if memory.unsaid(note):
                self._recorder.record(pod, note)

    async def _write_next(self) -> None:
        """Patch the pod whose turn it is, as soon as one may be patched."""
        await self._wanted.some()
        await self._leading.wait()
        if (pause := self._paused_until - self._clock()) > 0:
            await asyncio.sleep(pause)
        await self._slots.acquire()
        await self._rate.take()
        found = self._wanted.pop()
        if found is None or not self._start(*found):
            self._slots.release()
            self._rate.give_back()

    def _start(self, key: Key, since: float) -> bool:
        """Begin a patch of a pod as it is now; False if it needs none any more."""
        with self._contained(key):
            return self._begin(key, since)
        return False

    def _begin(self, key: Key, since: float) -> bool:
        pod = self._pods.get(key)
        if pod is None or key in self._under_way or not self._leads():
            return False
        memory = self._memory(key, pod)
        plan = self._planner.plan(pod, memory.guarded, prepared=True)
        if plan is None or not plan.writes:
            self.pod_changed(key)
            return False
        self._under_way.add(key)
        self._aside(key, self._write(key, pod, memory, plan, since))
        return True

    async def _write(
        self, key: Key, pod: LivePod, memory: Memory, plan: Plan, since: float
    ) -> None:
        kind = "guard" if plan.guards else "tolerations"
        operations = patches.patch(pod, plan, self._planner.settings.annotation_prefix)
        try:
            written = await self._writer.write(key, operations)
        finally:
            self._under_way.discard(key)
            self._slots.release()
        self._metrics.count_write(kind, written.code)
        self._after(key, pod, memory, written)
        if written.outcome == "written":
            self._metrics.observe_delay(kind, self._clock() - since)
            memory.guarded |= {each.key for each in plan.guards}

    def _after(self, key: Key, pod: LivePod, memory: Memory, written: Written) -> None:
        """Draw the consequences of a patch."""
        match written.outcome:
            case "written":
                self._backoff.reset()
                memory.settled()
                self._take_in(key, written.pod)
            case "lost":
                memory.tried = bytes(pod.spec.tolerations)
                self._try_later(key, memory, memory.lost.seconds())
            case "refused" | "failed":
                memory.state, memory.tried = "refused", bytes(pod.spec.tolerations)
                memory.refusals += 1
                if memory.refusals >= TOLD_AFTER.get(written.code, 1):
                    self._say(pod, memory, [Note(notes.PATCH_REFUSED, written.message)])
                # What failed may be over in a moment, and a pod may have no more than its grace.
                wait = memory.refused if written.outcome == "refused" else memory.lost
                self._try_later(key, memory, wait.seconds())
            case "unavailable":
                log.warning("pods cannot be patched: %s", written.message)
                self._paused_until = self._clock() + self._backoff.seconds()
                self.pod_changed(key)
            case "gone":
                pass  # the watch says so, too

    def _take_in(self, key: Key, written: LivePod | None) -> None:
        """Go on from the pod as it was written, unless its name has come to another one."""
        known = self._pods.get(key)
        if written is not None and known is not None and known.metadata.uid == written.metadata.uid:
            self._pods.put_patched(key, written)

    def _try_later(self, key: Key, memory: Memory, seconds: float) -> None:
        memory.not_before = self._clock() + seconds
        asyncio.get_running_loop().call_later(seconds, self._try_now, key, memory)

    def _try_now(self, key: Key, memory: Memory) -> None:
        memory.not_before = 0.0
        self.pod_changed(key)

    @contextlib.contextmanager
    def _contained(self, key: Key) -> Iterator[None]:
        """What breaks over one pod holds nobody else up. The pod is tried again, ever later."""
        try:
            yield
        except Exception:
            log.exception("pod %s: an internal fault", key)
            memory = self._memories.get(key)
            if memory is not None:
                self._wanted.discard(key)
                self._try_later(key, memory, memory.refused.seconds())

    def _aside(self, key: Key, work: Coroutine[Any, Any, None]) -> None:
        """Do something for one pod while others go on, then look at it again."""

        async def done() -> None:
            with self._contained(key):
                await work
                self.pod_changed(key)

        task = asyncio.create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _rank(pod: LivePod, plan: Plan) -> Rank:
    if not pod.spec.node_name:
        return Rank.WAITING
    return Rank.EVICTED if plan.added or plan.moved else Rank.GUARD


def _state(plan: Plan) -> State | None:
    if plan.invalid:
        return "refused"
    if plan.carried is None:
        return None
    return "cut" if plan.cut else "current"


async def _repeated(step: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        try:
            await step()
        except Exception:
            log.exception("an internal fault; it goes on")
            await asyncio.sleep(1)
