"""Costly CEL expressions, compiled and evaluated beside the event loop.

A call may do little of that work itself, or it would hold up every other request and the watch.
Where that does not suffice the call is put off (DeferredError carries the work), the work is
done on a thread, and the call is judged again over what is then remembered. All of it is
counted, never timed: the same pod meets the same limits on any machine.
"""

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Final, TypeVar

from extender.errors import AllowanceError
from extender.framework import rules
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.framework.stats import CallStats
from extender.match.cel.cache import ProgramCache
from extender.match.cel.faults import CompileError
from extender.match.cel.program import compile_expression
from extender.match.cel.work import IsOver, Work
from extender.match.lru import CacheBudget
from extender.match.taints import CORDON
from extender.metrics import Metrics
from extender.model.core_v1 import Pod, Taint

# What a call may do on the event loop, in units of CEL cost: 20 to 40 ms of work.
LOOP_ALLOWANCE: Final = 200_000
# What a call may do altogether; past that filter answers with an Error, and the next call
# goes on from what is remembered.
CALL_ALLOWANCE: Final = 10_000_000
# What an object that is validated may do on the thread before others have their turn. It is more
# than one expression can cost.
PORTION: Final = 4_000_000
# What a call may look up and compare altogether, in less than 0.1 s: others wait for it.
CALL_BUDGET: Final = 300_000
# How long a busy thread may keep the event loop waiting. At Python's 5 ms, a loop that waits for
# its turn several times a request is late by 38 to 230 ms; like this, by 6 to 20 ms.
SWITCH_INTERVAL: Final = 0.0005

T = TypeVar("T")


class DeferredError(Exception):
    """A call that waits for work to be done; no fault."""

    def __init__(self, work: Work) -> None:
        super().__init__("CEL expressions are to be worked on first")
        self.work = work


class CelBudget:
    """The work that CEL expressions make: what is done here and now, and what elsewhere."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._programs = settings.programs
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cel")

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Have a thread at hand."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL)
        try:
            yield
        finally:
            self._executor.shutdown(wait=False, cancel_futures=True)
            sys.setswitchinterval(interval)

    def begin_call(self) -> None:
        """A new call may spend anew."""
        self._settings.budget.left = CALL_BUDGET
        self._programs.allowance = LOOP_ALLOWANCE

    def raise_if_deferred(
        self, pod: Pod, table: NodeTable, snapshot: Snapshot, stats: CallStats
    ) -> None:
        """Raise DeferredError if the call ended because its expressions take too much work."""
        if any(isinstance(fault, AllowanceError) for fault in stats.faults):
            nodes = (node for node in table.nodes if node is not None)
            raise DeferredError(self.work_of(pod, nodes, snapshot))

    def work_of(self, pod: Pod, nodes: Iterable[NodeInfo], snapshot: Snapshot) -> Work:
        """What is to be done for the expressions of a pod; AnnotationError if unreadable."""
        expressions = rules.expressions(pod, self._settings)
        # Topology spread asks about every node, whichever the request is about.
        taints = _taints(chain(nodes, snapshot.nodes.values())) if expressions else ()
        return self._programs.work(expressions, taints)

    async def compiled(self, expressions: Iterable[str]) -> Callable[[str], CompileError | None]:
        """What refuses each of these expressions, whatever the cache drops meanwhile."""
        compilation = self._programs.compilation(expressions)
        done = compilation.cost <= LOOP_ALLOWANCE and compilation.go_on(LOOP_ALLOWANCE)
        while not done:
            done = await self._worked(lambda is_over: compilation.go_on(PORTION, is_over))
        self._programs.learn(compilation.finished)
        return compilation.failure

    async def run(self, work: Work) -> None:
        """Do the work on the thread, as far as one call may, and remember what came of it."""
        self._programs.learn(await self._worked(lambda is_over: work.do(CALL_ALLOWANCE, is_over)))

    async def _worked(self, work: Callable[[IsOver], T]) -> T:
        """What comes of work on the thread; it ends with the call that waits for it."""
        over = threading.Event()
        try:
            return await self.in_thread(lambda: work(over.is_set))
        finally:
            over.set()

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do any work on the thread; it must not touch what the event loop changes.

        If the call is cancelled, work that has not begun never will.
        """
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def timed_programs(caches: CacheBudget, metrics: Metrics) -> ProgramCache:
    """ProgramCache whose compilation is measured and whose cache can be watched."""
    programs = ProgramCache(
        caches, compile_with=metrics.cel_compile_seconds.time()(compile_expression)
    )
    metrics.watch_programs(programs)
    return programs


def _taints(nodes: Iterable[NodeInfo]) -> Iterable[Taint]:
    sets = dict.fromkeys(node.taints for node in nodes)
    return dict.fromkeys(chain([CORDON], *((*each.hard, *each.soft) for each in sets)))
