"""`leeway compile` on a real control plane: a DaemonSet, which its own controller places."""

import asyncio
from pathlib import Path

import pytest
import yaml

from tests.builders import JSON, PREFIX, taint
from tests.cli import process
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import ADMIN
from tests.e2e.kubectl import kubectl
from tests.e2e.objects import DEFAULT, node

pytestmark = pytest.mark.usefixtures("default_scheduler")

STAGE = "env.example.com/stage"
KERNEL = "node.example.com/kernel-version"
# KEP-5500, story 1: one toleration for every environment, and kernels that are new enough.
AGENT = f"""\
# One on every node of ours.
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata:
      labels: {{app: agent}}
      annotations:
        {PREFIX}tolerations: |
          - expression: taint.key.startsWith('env.example.com/')
        {PREFIX}node-affinity: |
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {{key: {KERNEL}, operator: SemverGt, values: ["6.0"]}}
    spec:
      schedulerName: {DEFAULT}
      terminationGracePeriodSeconds: 0
      containers: [{{name: agent, image: registry.example.com/agent}}]   # unchanged
"""


def a_node(name: str, kernel: str, *taints: JSON) -> JSON:
    return node(name, *taints, labels={KERNEL: kernel})


class Manifest:
    """The file of the story, which is compiled and applied."""

    def __init__(self, cluster: Cluster, plane: ControlPlane, folder: Path) -> None:
        self._cluster, self._plane = cluster, plane
        self.file = folder / "agent.yaml"
        self.file.write_text(AGENT, encoding="utf-8")

    async def leeway(self, command: str, *arguments: str) -> process.Ended:
        kubeconfig = f"--kubeconfig={self._plane.kubeconfig(ADMIN)}"
        return await asyncio.to_thread(process.run, command, *arguments, kubeconfig)

    async def check(self) -> int:
        return (await self.leeway("compile", str(self.file), "--check")).code

    async def apply(self) -> None:
        arguments = ("apply", "-n", self._cluster.namespace, "-f", self.file)
        await asyncio.to_thread(kubectl, self._plane, *arguments)

    async def runs_on(self, *names: str) -> bool:
        """Whether each of these nodes comes to have a pod, and no other."""

        async def nodes() -> bool | None:
            items = (await self._cluster.api.get(self._cluster.pods_path))["items"]
            living = [each for each in items if "deletionTimestamp" not in each["metadata"]]
            found = sorted(each["spec"].get("nodeName", "") for each in living)
            return True if found == sorted(names) else None

        return await eventually(nodes, PATIENCE) is True

    async def stale(self) -> list[str]:
        """The tolerations that scan says are missing in the template."""
        scanned = await self.leeway("scan", "-o", "yaml")
        (found,) = yaml.safe_load(scanned.out)["daemonSets"]
        return [each["value"] for each in found["plainTolerations"]]


async def test_a_daemon_set_follows_its_rules(
    cluster: Cluster, plane: ControlPlane, tmp_path: Path
) -> None:
    await cluster.add(
        a_node("free", "6.8.0"),
        a_node("staging", "6.8.0", taint(STAGE, "staging")),
        a_node("leaving", "6.1.0", taint(STAGE, "canary", "NoExecute")),
        a_node("old", "5.15.0"),
        a_node("foreign", "6.8.0", taint("other.example.com/team", "a")),
    )
    agent = Manifest(cluster, plane, tmp_path)
    path = f"/apis/apps/v1/namespaces/{cluster.namespace}/daemonsets"
    try:
        # As it is written, its pods do not even come to be on tainted nodes.
        await agent.apply()
        assert await agent.runs_on("free", "old")
        assert await agent.stale() == ["canary", "staging"]
        assert await agent.check() == 1

        written = await agent.leeway("compile", str(agent.file), "--write")
        assert written.code == 0
        await agent.apply()

        assert await agent.runs_on("free", "staging", "leaving")
        assert await agent.check() == 0
        assert await agent.stale() == []
        added = agent.file.read_text(encoding="utf-8").splitlines()
        assert [line for line in AGENT.splitlines() if line not in added] == []

        # A value and a version that the cluster did not have.
        await cluster.add(a_node("next", "6.12.0", taint(STAGE, "next")))
        assert await agent.check() == 1
        assert await agent.stale() == ["next"]
        await agent.leeway("compile", str(agent.file), "--write")
        await agent.apply()

        assert await agent.runs_on("free", "staging", "leaving", "next")
        assert await agent.check() == 0
    finally:
        await cluster.api.delete(path)
