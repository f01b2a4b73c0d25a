"""Pods and nodes of compile mode, and a controller that runs against a scripted API server."""

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry

from extender.cluster.api import ApiServer
from extender.config.schema import Config, LeaderElection
from extender.control.controller import Controller
from extender.metrics import ControllerMetrics
from extender.model.core_v1 import LivePod
from extender.native.settings import CompileSettings
from tests.builders import JSON, PREFIX, node_json, taint
from tests.cluster.apiserver import ScriptedServer, anonymous, eventually, scripted

GOLD = {"key": "sla", "operator": "Gt", "value": "900"}
RECORD = PREFIX + "guarded-keys"
ALONE = Config(leader_election=LeaderElection(leader_elect=False))
SYSTEM = {
    "key": "node.kubernetes.io/not-ready",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 300,
}


def equal(value: str, effect: str = "NoSchedule", key: str = "sla") -> JSON:
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}


def guard(seconds: int = 30, key: str = "sla") -> JSON:
    return {
        "key": key,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": seconds,
    }


def pod_of(
    *rules: JSON | str,
    name: str = "web-0",
    uid: str = "uid-1",
    node: str = "",
    native: Sequence[JSON] = (SYSTEM,),
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> JSON:
    """A pod as the API server has it; a rule that is text is the whole annotation."""
    carried = dict(annotations or {})
    if rules:
        first = rules[0]
        carried[PREFIX + "tolerations"] = first if isinstance(first, str) else json.dumps(rules)
    return {
        "metadata": {"name": name, "namespace": "default", "uid": uid, "annotations": carried},
        "spec": {"schedulerName": "default-scheduler", "tolerations": list(native)}
        | ({"nodeName": node} if node else {})
        | spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


def live(pod: JSON) -> LivePod:
    return msgspec.json.decode(msgspec.json.encode(pod), type=LivePod)


def node_of(name: str, *values: str, effect: str = "NoSchedule") -> JSON:
    return node_json(name, *(taint("sla", value, effect) for value in values))


class Cluster:
    """A scripted API server with a controller beside it."""

    def __init__(self, server: ScriptedServer, controller: Controller, registry: Any) -> None:
        self.server = server
        self.controller = controller
        self.registry = registry

    def tolerations(self, name: str = "web-0") -> list[JSON]:
        found: list[JSON] = self.server.objects["pods"][f"default/{name}"]["spec"]["tolerations"]
        return found

    def added(self, name: str = "web-0") -> list[JSON]:
        return [each for each in self.tolerations(name) if each != SYSTEM]

    def record(self, name: str = "web-0") -> str | None:
        pod = self.server.objects["pods"][f"default/{name}"]
        text: str | None = pod["metadata"]["annotations"].get(RECORD)
        return text

    @property
    def events(self) -> list[tuple[str, str]]:
        found = self.server.events.values()
        return [(each["reason"], each["message"]) for each in found]

    def counted(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    async def has(self, added: list[JSON], name: str = "web-0") -> None:
        """Wait until a pod has these tolerations besides the system's, and see that it has."""
        await eventually(lambda: self.added(name) == added, 5)

        assert self.added(name) == added

    async def settle(self) -> None:
        """Until a pod that came last has been seen to."""
        self.server.put("pods", pod_of({"operator": "Exists"}, name="last", uid="last"))
        self.server.put("nodes", node_json("last", taint("last")))
        await eventually(lambda: self.added("last") != [], 5)
        self.server.delete("pods", "last", "default")
        self.server.delete("nodes", "last")


@contextlib.asynccontextmanager
async def controlled(*objects: JSON, config: Config = ALONE) -> AsyncIterator[Cluster]:
    """A controller that has listed these pods and nodes."""
    async with scripted() as server:
        for each in objects:
            server.put("pods" if "status" in each else "nodes", each)
        async with beside(server, config) as cluster:
            yield cluster


@contextlib.asynccontextmanager
async def beside(server: ScriptedServer, config: Config) -> AsyncIterator[Cluster]:
    """A controller of what this server has."""
    registry = CollectorRegistry()
    controller = Controller(
        ApiServer(anonymous(server)),
        config,
        config.settings(),
        ControllerMetrics(registry),
        identity="a",
    )
    async with controller.running():
        await eventually(lambda: controller.state().problem is None)
        yield Cluster(server, controller, registry)


def compiling(**settings: Any) -> Config:
    """A configuration with these settings of compile mode."""
    return Config(
        compile=CompileSettings(**settings), leader_election=LeaderElection(leader_elect=False)
    )
