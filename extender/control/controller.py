"""The controller: watches nodes and pods, elects a leader, and writes while it leads."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from extender.cluster import resources
from extender.cluster.api import ApiServer
from extender.cluster.live import DEGRADED_SECONDS
from extender.cluster.reflector import Reflector
from extender.cluster.source import State
from extender.config.schema import Config
from extender.control.election import Elector
from extender.control.events import EventRecorder
from extender.control.mutating import MutatingWebhook
from extender.control.nodes import TaintedNodes
from extender.control.planner import Planner
from extender.control.pod_writer import PodWriter
from extender.control.pods import RuledPods, pods_resource
from extender.control.reconciler import Reconciler
from extender.framework.interface import Settings
from extender.metrics import CachedResource, ControllerMetrics
from extender.native.mutation import Mutator
from extender.native.universe import TaintUniverse
from extender.verbs.cel_budget import CelBudget

log = logging.getLogger("leeway.control")


class Always:
    """The fence of a process that competes with nobody."""

    leads: Final = True

    def state(self) -> str:
        """For a person."""
        return "leading without an election"


class Controller:
    """Everything that compile mode does, over one API server."""

    def __init__(
        self,
        api: ApiServer,
        config: Config,
        settings: Settings,
        metrics: ControllerMetrics,
        *,
        identity: str,
        on_restart: Callable[[str, str], None] = lambda _resource, _reason: None,
    ) -> None:
        self._metrics = metrics
        self._max_staleness = config.max_staleness
        compile_settings = config.compile
        taints = TaintUniverse(compile_settings.extra_taints)
        pods = RuledPods(settings.annotation_prefix)
        # Two threads: what is to be admitted must not wait for what is to be patched.
        self._threads = CelBudget(settings), CelBudget(settings)
        self._recorder = EventRecorder(api)
        self._elector = _elector(api, config, identity, self._leader_changed)
        self._reconciler = Reconciler(
            pods,
            Planner(settings, compile_settings, taints, self._threads[0]),
            PodWriter(api),
            self._recorder,
            metrics,
            leads=lambda: self._elector.leads and self._is_listed(),
            per_second=config.limits.writes_per_second,
        )
        nodes = TaintedNodes(taints, self._reconciler.node_changed)
        pods_seen = pods_resource(settings.annotation_prefix)
        self._reflectors = (
            Reflector(resources.NODES, api, nodes, on_restart=on_restart),
            Reflector(pods_seen, api, pods, on_restart=on_restart),
        )
        self.webhook = MutatingWebhook(
            Mutator(settings, compile_settings, config.extended_schedulers()),
            Planner(settings, compile_settings, taints, self._threads[1]),
            metrics,
        )
        metrics.watch_compiled(self._reconciler.states)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch and write while the context lasts; on the way out let another one lead."""
        with contextlib.ExitStack() as threads:
            for each in self._threads:
                threads.enter_context(each.running())
            work = [*(each.run() for each in self._reflectors), self._led()]
            work += [self._reconciler.run(), self._recorder.run()]
            tasks = [asyncio.create_task(each) for each in work]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                if isinstance(self._elector, Elector):
                    await self._elector.release()

    async def _led(self) -> None:
        """Take part in the election once everything is listed."""
        for each in self._reflectors:
            await each.synced.wait()
        gc.freeze()  # what is listed stays
        log.info("cluster listed: %s", self.state().remark)
        if isinstance(self._elector, Elector):
            await self._elector.run()
        else:
            self._leader_changed(True)

    def _leader_changed(self, leads: bool) -> None:
        self._metrics.set_leader(leads)
        self._reconciler.leader_changed(leads)

    def _is_listed(self) -> bool:
        return all(each.synced.is_set() for each in self._reflectors)

    def state(self) -> State:
        """Not ready until everything is listed; a lost API server is a remark for a while."""
        problems, remarks = [], []
        for each in self._reflectors:
            age = each.age() or 0.0
            silent = f"{each.name}: no contact with the API server for {age:.0f} s"
            if not each.synced.is_set():
                problems.append(f"{each.name} not listed yet")
            elif self._max_staleness and age > self._max_staleness:
                problems.append(silent)
            else:
                counted = f"{each.objects} {each.name}"
                remarks.append(f"degraded, {silent}" if age > DEGRADED_SECONDS else counted)
        return State("; ".join(problems) or None, "; ".join(remarks))

    def leadership(self) -> tuple[str | None, str]:
        """A readiness check that always holds: every replica answers the API server."""
        return None, self._elector.state()

    def cached(self) -> Sequence[CachedResource]:
        """The figures of each resource, for the metrics."""
        return [
            CachedResource(each.name, each.objects, each.synced.is_set(), each.age())
            for each in self._reflectors
        ]


def _elector(
    api: ApiServer, config: Config, identity: str, on_change: Callable[[bool], None]
) -> Elector | Always:
    election = config.leader_election
    if not election.leader_elect:
        return Always()
    return Elector(
        api,
        namespace=election.namespace,
        name=election.name,
        identity=identity,
        on_change=on_change,
    )
