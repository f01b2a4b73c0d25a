"""Wakes a pod that was refused too early.

When something has changed, the pods that we refused before are judged again (`verbs/waiting.py`).
Who would pass now, and is not asked about within a moment, gets a condition in its status: that
makes kube-scheduler ask about this pod and no other. Everything is bounded: one patch for each
pod and change that lets it in, growing pauses for a pod that is not placed all the same, and a
rate for all of them. A patch that fails changes no verdict.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct

from extender import plugins
from extender.cluster.pending import SCHEDULABLE, Rules, WaitingPod
from extender.cluster.pod_status import Condition
from extender.cluster.source import Watching
from extender.errors import ApiError, NotSyncedError, PluginError, PodGoneError
from extender.metrics import Metrics
from extender.verbs.cel_budget import DeferredError
from extender.verbs.context import Context
from extender.verbs.fitting import node_for
from extender.verbs.waiting import GRACE, Due, View, WaitingPods

log = logging.getLogger("leeway.nudges")

# Looking may take this share of the time.
SHARE: Final = 0.1
# Somebody may wait whom no change brings to mind: a pod that another replica refused.
LOOK_SECONDS: Final = 5.0
# After a patch that failed for a reason that all pods share, none is tried for so long.
FIRST_BACKOFF: Final = 1.0
LONGEST_BACKOFF: Final = 60.0

REASON_FITS: Final = "ClusterChanged"
REASON_UNFIT: Final = "NoNodePasses"

_RESOURCES: Final = plugins.resources(plugins.DEFAULT_WEIGHTS)
# Refusals that concern one pod only; anything else will meet the next patch, too.
_OF_ONE_POD: Final = frozenset({400, 413, 422})

Result = Literal["sent", "unneeded", "failed"]


class _Queued(Struct, frozen=True, gc=False):
    pod: WaitingPod
    due: Due
    own: bool


class Nudges:
    """Looks after the waiting pods of one extender."""

    def __init__(
        self,
        context: Context,
        source: Watching,
        waiting: WaitingPods,
        metrics: Metrics,
        *,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._context = context
        self._source = source
        self._waiting = waiting
        self._metrics = metrics
        self._per_second = per_second
        self._clock = clock
        self._now = now
        self._condition = context.profiles.settings.annotation_prefix + SCHEDULABLE
        self._queue: dict[str, _Queued] = {}
        self._withdrawals: dict[str, WaitingPod] = {}
        self._queued = asyncio.Event()
        self.next_at = 0.0  # when the next patch may be sent
        self._backoff = FIRST_BACKOFF
        self._problem = ""

    def remark(self) -> str:
        """The state of nudging, for a person."""
        if not self._per_second:
            return "off: nudge.perSecond is 0"
        waiting = f"{len(self._waiting)} pods wait"
        return f"failing: {self._problem}; {waiting}" if self._problem else waiting

    async def run(self) -> None:
        """Look and wake until cancelled."""
        if self._per_second:
            await asyncio.gather(_repeated(self._look_on), _repeated(self._send_on))

    async def _look_on(self) -> None:
        begun, seen = self._clock(), self._generation()
        again = await self.look()
        took = self._clock() - begun
        if not again:
            await self._source.changed(_RESOURCES, seen, LOOK_SECONDS)
        await asyncio.sleep(max(GRACE, took / SHARE))

    def _generation(self) -> int:
        try:
            return self._source.snapshot().generation_of(_RESOURCES)
        except NotSyncedError:
            return 0

    # Who is to be woken.

    async def look(self) -> bool:
        """Judge again who may fit by now; returns whether to look again soon."""
        try:
            snapshot = self._source.snapshot()
        except NotSyncedError:
            return True
        if not snapshot.current:
            return True
        found, again = self._waiting.due(snapshot)
        for due in found:
            await self._judge(due)
            await asyncio.sleep(0)  # calls go first
        woken, more = self._waiting.to_check(snapshot)
        fits: dict[int, bool] = {}
        for pod in woken:
            if pod.rules is not None and id(pod.rules) not in fits:
                fits[id(pod.rules)] = await self._fits(pod.rules)
                await asyncio.sleep(0)
            if self._waiting.checked(pod, fits=fits[id(pod.rules)]):
                self._withdrawals[pod.key] = pod
                self._queued.set()
        return again or more or bool(found)

    async def _judge(self, due: Due) -> None:
        view = View.of(self._source.snapshot())
        try:
            node = await self._node_for(due.rules, None if due.everywhere else due.view)
        except PluginError:
            self._waiting.postpone(due)
            return
        if node is None:
            self._waiting.unfit(due, view)
            return
        for pod in due.pods:
            if self._waiting.is_due(pod, due):
                self._enqueue(pod, due)

    async def _fits(self, rules: Rules) -> bool:
        """Whether any node lets pods with these rules pass; if nobody can say, it may be."""
        try:
            return await self._node_for(rules) is not None
        except PluginError:
            return True

    async def _node_for(self, rules: Rules, since: View | None = None) -> str | None:
        """A node that lets the pods pass, of those that changed since or of all."""
        try:
            return node_for(self._context, self._source.snapshot(), rules, since)
        except DeferredError as deferred:
            await self._context.cel.run(deferred.work)
        try:
            return node_for(self._context, self._source.snapshot(), rules, since)
        except DeferredError as exc:
            raise PluginError("the expressions take more than one call may do") from exc

    def _enqueue(self, pod: WaitingPod, due: Due) -> None:
        if pod.key not in self._queue and (self._queue or self._clock() < self.next_at):
            self._metrics.count_nudge("limited")
        self._queue[pod.key] = _Queued(pod, due, self._waiting.is_own(pod))
        self._queued.set()

    # How they are woken.

    @property
    def has_work(self) -> bool:
        """Whether something is to be written."""
        return bool(self._queue or self._withdrawals)

    async def _send_on(self) -> None:
        await self._queued.wait()
        await asyncio.sleep(max(0.0, self.next_at - self._clock()))
        await self.send()
        if not self.has_work:
            self._queued.clear()

    async def send(self) -> None:
        """Wake one pod: one that we refused if there is any, then others."""
        if not self._queue:
            for key in tuple(self._withdrawals)[:1]:
                await self._withdraw(self._withdrawals.pop(key))
            return
        queued = self._queue.values()
        first = next((each for each in queued if each.own), next(iter(queued)))
        del self._queue[first.pod.key]
        await self._wake(first.pod, first.due)

    async def _wake(self, pod: WaitingPod, due: Due) -> None:
        """Patch the pod, unless it was asked about meanwhile or fits no longer."""
        view, node = View.of(self._source.snapshot()), None
        if self._waiting.is_due(pod, due):
            try:
                node = await self._node_for(due.rules, None if due.everywhere else due.view)
            except PluginError:
                return  # the next look finds it again
        if node is None or not self._waiting.is_due(pod, due):
            self._metrics.count_nudge("unneeded")
            return
        message = f"the cluster has changed: node {node} passes now"
        result = await self._write(pod, "True", REASON_FITS, message)
        self._metrics.count_nudge(result)
        if result in ("sent", "failed"):
            self._waiting.woken(pod, view, failed=result == "failed")

    async def _withdraw(self, pod: WaitingPod) -> None:
        result = await self._write(pod, "False", REASON_UNFIT, "no node passes any more")
        if result == "failed":
            self._metrics.count_nudge(result)

    async def _write(self, pod: WaitingPod, status: str, reason: str, message: str) -> Result:
        self.next_at = self._clock() + 1 / self._per_second
        since = datetime.fromtimestamp(self._now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = Condition(self._condition, status, reason, message, since)
        try:
            await self._source.write_condition(pod.key, pod.uid, condition)
        except PodGoneError:
            return "unneeded"
        except ApiError as exc:
            self._fail(exc)
            return "failed"
        self._problem, self._backoff = "", FIRST_BACKOFF
        return "sent"

    def _fail(self, exc: ApiError) -> None:
        """Say so once. What all patches would meet is not tried again for a while."""
        if not self._problem:
            log.warning("a waiting pod cannot be woken: %s", exc)
        self._problem = str(exc)
        if exc.status not in _OF_ONE_POD:
            self.next_at = self._clock() + self._backoff
            self._backoff = min(2 * self._backoff, LONGEST_BACKOFF)


async def _repeated(step: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await step()
        except Exception:
            log.exception("waking pods broke; it goes on")
            await asyncio.sleep(LOOK_SECONDS)
