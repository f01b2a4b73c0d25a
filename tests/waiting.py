"""A cluster whose changes a test makes itself, on a clock of its own: nodes, and pods that wait."""

import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry

from extender.cluster.cache import ClusterCache
from extender.cluster.pending import PendingPods
from extender.cluster.pod_status import Condition
from extender.cluster.resources import PODS, Event
from extender.cluster.source import State
from extender.config.schema import Config
from extender.framework.snapshot import Snapshot
from extender.metrics import CachedResource, Metrics
from extender.model.core_v1 import Node, Pod
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim
from extender.server.nudges import Nudges
from extender.verbs import filter as filter_verb
from extender.verbs.answer import Answer
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from extender.verbs.waiting import WaitingPods
from tests.builders import JSON, PREFIX, pod_json

UNTOLERATED = "0/1 nodes are available: 1 node(s) had untolerated taint {sla: 950}."


@dataclass
class World:
    """What Leeway sees of a cluster. Nothing happens by itself."""

    config: Config = field(default_factory=Config)
    now: float = 1_000.0
    current: bool = True
    written: list[tuple[str, str, Condition]] = field(default_factory=list)
    fault: Exception | None = None  # what a write meets

    def __post_init__(self) -> None:
        names = {profile.scheduler_name for profile in self.config.profiles}
        self.pending = PendingPods(names, PREFIX)
        self.cache = ClusterCache(reserves=True, pending=self.pending)
        self.metrics = Metrics(CollectorRegistry())
        self.context = Context(self, Profiles(self.config))
        self.waiting = WaitingPods(
            self, is_configured=bool(self.config.profiles), clock=lambda: self.now
        )
        self.context.waiting = self.waiting
        self.nudges = Nudges(
            self.context,
            self,
            self.waiting,
            self.metrics,
            per_second=self.config.nudges_per_second,
            clock=lambda: self.now,
            now=lambda: self.now,
        )

    # What a source does.

    @property
    def activity(self) -> int:
        return self.cache.changes.activity

    def snapshot(self) -> Snapshot:
        self.cache.index.advance(self.now)
        return self.cache.snapshot(current=self.current)

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        return self.cache.changes.of(names) != since

    async def write_condition(self, key: str, uid: str, condition: Condition) -> None:
        if self.fault is not None:
            raise self.fault
        self.written.append((key, uid, condition))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield

    def state(self) -> State:
        return State(None, "a world")

    def cached(self) -> Sequence[CachedResource]:
        return ()

    def reload(self) -> None:
        pass

    # What happens.

    def show(self, *nodes: JSON) -> None:
        """Nodes came, or changed."""
        for node in nodes:
            self.cache.nodes.put(node["metadata"]["name"], msgspec.convert(node, Node))

    def show_pod(self, pod: JSON, **status: Any) -> None:
        """A pod came, or changed."""
        line = msgspec.json.encode({"type": "MODIFIED", "object": pod | {"status": status}})
        event = PODS.decode_event(line)
        assert isinstance(event, Event)
        meta = pod["metadata"]
        self.cache.pods.put(f"{meta['namespace']}/{meta['name']}", event.object)

    def show_volume(self, volume: JSON) -> None:
        """A volume came, or changed."""
        decoded = msgspec.convert(volume, PersistentVolume)
        self.cache.volumes.put(decoded.metadata.name, decoded)

    def show_claim(self, claim: JSON) -> None:
        """A claim came, or changed."""
        decoded = msgspec.convert(claim, PersistentVolumeClaim)
        key = f"{decoded.metadata.namespace}/{decoded.metadata.name}"
        self.cache.claims.put(key, decoded)

    def ask(self, pod: JSON, *names: str) -> Answer:
        """kube-scheduler asks about a pod and nodes, by default about all that there are."""
        offered = list(names or self.cache.nodes.objects)
        body = {"Pod": pod, "Nodes": None, "NodeNames": offered}
        return filter_verb.answer(self.context, msgspec.json.encode(body))

    async def look(self, after: float = 0.0) -> bool:
        """Time passes, and Leeway looks."""
        self.now += after
        return await self.nudges.look()

    async def send(self) -> None:
        """Send whatever is to be sent, each in its time."""
        while self.nudges.has_work:
            self.now = max(self.now, self.nudges.next_at)
            await self.nudges.send()

    def counted(self, result: str) -> float:
        """How many nudges ended so."""
        labels = {"result": result}
        return self.metrics.registry.get_sample_value("leeway_nudges_total", labels) or 0.0

    def woken(self) -> list[str]:
        """The keys of the pods that were told that a node passes."""
        return [key for key, _, condition in self.written if condition.status == "True"]


def a_waiting_pod(*tolerations: JSON, name: str = "web-0", **more: Any) -> JSON:
    """A pod with a UID, as the API server has it and kube-scheduler sends it."""
    pod = pod_json(*tolerations, name=name, **more)
    pod["metadata"]["uid"] = f"uid-of-{name}"
    return pod


def spread(pod: JSON) -> JSON:
    """The same, but its kind must be spread evenly over zones."""
    labels = {"app": "web"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    return pod | {
        "metadata": pod["metadata"] | {"labels": labels},
        "spec": pod["spec"] | {"topologySpreadConstraints": [constraint]},
    }


def refused(message: str = UNTOLERATED, **more: Any) -> JSON:
    """The status of a pod that kube-scheduler could not place."""
    scheduled = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
    }
    return {"phase": "Pending", "conditions": [scheduled, *more.pop("conditions", [])], **more}


def schedulable(at: str = "2026-01-01T00:00:00Z") -> JSON:
    """The condition of a pod that was woken."""
    return {
        "type": f"{PREFIX}Schedulable",
        "status": "True",
        "reason": "ClusterChanged",
        "message": "the cluster has changed: node a passes now",
        "lastTransitionTime": at,
    }


def decoded(pod: JSON) -> Pod:
    """The pod of a request."""
    return msgspec.convert(pod, Pod)
