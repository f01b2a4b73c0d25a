"""What a story does to a cluster and asks of it. Nodes and pods are gone when it is over."""

import asyncio
import time

import aiohttp

from tests.builders import JSON
from tests.e2e.api import Api, eventually
from tests.e2e.controlplane import ControlPlane

PATIENCE = 45.0
_NODES = "/api/v1/nodes"


class Cluster:
    """A namespace of its own and all of the nodes."""

    def __init__(self, api: Api, plane: ControlPlane, namespace: str) -> None:
        self.api = api
        self.plane = plane
        self.namespace = namespace
        self.pods_path = f"/api/v1/namespaces/{namespace}/pods"
        self._nodes: set[str] = set()

    async def add(self, *nodes: JSON) -> None:
        """Add nodes, and wait until Leeway has heard of them."""
        await asyncio.gather(*(self.api.create(_NODES, each) for each in nodes))
        self._nodes |= {each["metadata"]["name"] for each in nodes}
        if self.plane.leeway.running:
            await self.settled()

    async def settled(self) -> None:
        """Leeway knows as many nodes as there are; the schedulers hear of them when it does."""

        async def heard() -> bool | None:
            return True if await self.known_nodes() == len(self._nodes) else None

        assert await eventually(heard, PATIENCE), "Leeway does not know all nodes"
        await asyncio.sleep(0.2)

    async def known_nodes(self, *, port: int | None = None) -> int:
        """How many nodes Leeway, or another one beside it, says that it knows."""
        counted = await self.counted("leeway_cache_objects", port=port)
        return int(counted.get('resource="nodes"', -1))

    async def counted(self, metric: str, *, port: int | None = None) -> dict[str, float]:
        """A metric of Leeway, or of another one beside it, by its labels as text."""
        text = await self.ops("/metrics", port=port)
        lines = (
            line for line in text.splitlines() if line.startswith((metric + "{", metric + " "))
        )
        parts = (line.removeprefix(metric).rsplit(" ", 1) for line in lines)
        return {labels.strip("{}"): float(value) for labels, value in parts}

    async def ops(self, path: str, *, port: int | None = None) -> str:
        """A page of the ops listener, of Leeway or of another one beside it."""
        url = f"http://127.0.0.1:{port or self.plane.leeway.ops_port}{path}"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            return await response.text()

    async def taint(self, name: str, *taints: JSON) -> None:
        """Give a node these taints and no others."""
        await self.api.merge(f"{_NODES}/{name}", {"spec": {"taints": list(taints)}})

    async def label(self, name: str, **labels: str) -> None:
        """Set labels of a node."""
        await self.api.merge(f"{_NODES}/{name}", {"metadata": {"labels": labels}})

    async def cordon(self, name: str, *, on: bool = True) -> None:
        """What kubectl cordon does, without the taint that a controller would add."""
        await self.api.merge(f"{_NODES}/{name}", {"spec": {"unschedulable": on}})

    async def heartbeat(self, name: str) -> None:
        """Change what a kubelet changes again and again and no verdict depends on."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": stamp}
        await self.api.merge(f"{_NODES}/{name}/status", {"status": {"conditions": [ready]}})

    async def create(self, *pods: JSON) -> None:
        """Create pods at the same time."""
        await asyncio.gather(*(self.api.create(self.pods_path, each) for each in pods))

    async def deploy(self, deployment: JSON) -> None:
        """Create a Deployment; its pods carry its name in the label app."""
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments"
        await self.api.create(path, deployment)

    async def pod(self, name: str) -> JSON | None:
        """A pod, if it exists."""
        return await self.api.found(f"{self.pods_path}/{name}")

    async def placed(self, name: str, *, seconds: float = PATIENCE) -> str:
        """The node of a pod, which must come to have one."""

        async def node_name() -> str | None:
            found = await self.pod(name)
            return None if found is None else found["spec"].get("nodeName")

        node = await eventually(node_name, seconds, every=0.05)

        assert node is not None, f"{name} has no node: {await self.why(name)}"
        return node

    async def run(self, pod: JSON) -> str:
        """Create a pod; the node that it comes to have."""
        await self.create(pod)
        return await self.placed(pod["metadata"]["name"])

    async def placements(
        self, count: int, *, seconds: float = PATIENCE, **selector: str
    ) -> dict[str, str]:
        """The nodes of all pods, of which there must come to be so many, all placed."""
        labels = ",".join(f"{key}={value}" for key, value in selector.items())

        async def nodes() -> dict[str, str] | None:
            items = (await self.api.get(self.pods_path, labelSelector=labels))["items"]
            found = {p["metadata"]["name"]: p["spec"].get("nodeName", "") for p in items}
            return found if len(found) == count and all(found.values()) else None

        found = await eventually(nodes, seconds, every=0.25)

        assert found is not None, f"not all of {count} pods have a node within {seconds:g} s"
        return found

    async def refused(self, pod: JSON) -> str:
        """Create a pod; why the scheduler finds no node for it."""
        await self.create(pod)
        return await self.refusal(pod["metadata"]["name"])

    async def refusal(self, name: str) -> str:
        """Why the scheduler, asking about all nodes that there are, finds none for a pod."""
        found = await eventually(lambda: self._unschedulable(name), PATIENCE)

        assert found is not None, f"{name} was not refused: {await self.why(name)}"
        return found

    async def _unschedulable(self, name: str) -> str | None:
        found = await self.pod(name)
        assert found is not None
        assert "nodeName" not in found["spec"], f"{name} is on {found['spec']['nodeName']}"
        for condition in found.get("status", {}).get("conditions", ()):
            message = str(condition.get("message", ""))
            if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
                return message if message.startswith(f"0/{len(self._nodes)} nodes") else None
        return None

    async def why(self, name: str) -> str:
        """What is known of a pod's fate, for a person."""
        found = await self.pod(name)
        conditions = found["status"].get("conditions") if found else "it does not exist"
        return f"{conditions}; events: {await self.events(name)}"

    async def events(self, name: str, *, reason: str = "") -> list[str]:
        """Messages of a pod's events."""
        selector = f"involvedObject.name={name}" + (f",reason={reason}" if reason else "")
        path = f"/api/v1/namespaces/{self.namespace}/events"
        items = (await self.api.get(path, fieldSelector=selector))["items"]
        return [str(item.get("message", "")) for item in items]

    async def event(self, name: str, reason: str) -> str:
        """The message of the first event of a pod with a reason, which must come."""

        async def message() -> str | None:
            messages = await self.events(name, reason=reason)
            return messages[0] if messages else None

        found = await eventually(message, PATIENCE)

        assert found is not None, f"{name} has no event {reason}"
        return found

    async def delete(self, *names: str) -> None:
        """Delete pods at once."""
        await asyncio.gather(*(self.api.delete(f"{self.pods_path}/{name}") for name in names))

    async def clear(self) -> None:
        """Remove every workload and pod."""
        workloads = f"/apis/apps/v1/namespaces/{self.namespace}"
        await self.api.delete(f"{workloads}/deployments")
        await self.api.delete(f"{workloads}/replicasets")

        async def no_pods() -> bool | None:
            # A controller may have been about to make another one.
            await self.api.delete(self.pods_path)
            return None if (await self.api.get(self.pods_path))["items"] else True

        assert await eventually(no_pods, PATIENCE), "pods cannot be deleted"

    async def clean(self) -> None:
        """Remove every workload, pod and node."""
        await self.clear()
        await self.api.delete(_NODES)
        self._nodes.clear()
        await self.settled()
