"""Claims for devices: KEP-5471's stories 4 and 5, with the allocator of an unmodified scheduler."""

import asyncio
from pathlib import Path

import pytest

from tests.builders import JSON, PREFIX
from tests.cli import process
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import ADMIN
from tests.e2e.kubectl import kubectl
from tests.e2e.objects import DEFAULT, node, pod

pytestmark = pytest.mark.usefixtures("default_scheduler")

GROUP = "/apis/resource.k8s.io/v1"
DRIVER = "gpu.example.com"
VRAM = "example.com/vram"
# Long enough for device taint eviction to delete a pod that it should not.
SETTLED = 3.0
CLAIM = f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: NAME
  annotations:
    {PREFIX}device-tolerations: |
      - {{key: {VRAM}, operator: Gt, value: "24"}}
spec:
  devices:
    requests: [{{name: gpu, exactly: {{deviceClassName: {DRIVER}}}}}]
"""
TEMPLATE = f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: NAME}}
spec:
  metadata:
    annotations:
      {PREFIX}device-tolerations: '[{{"key": "{VRAM}", "operator": "Gt", "value": "24"}}]'
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: {DRIVER}
"""


def device(name: str, vram: str, effect: str = "NoSchedule") -> JSON:
    return {"name": name, "taints": [{"key": VRAM, "value": vram, "effect": effect}]}


def using(name: str, **source: str) -> JSON:
    """A pod that uses a claim."""
    made = pod(name, scheduler=DEFAULT)
    made["spec"]["resourceClaims"] = [{"name": "gpu", **source}]
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    return made


class Devices:
    """A node with devices, and the files of claims to them."""

    def __init__(self, cluster: Cluster, plane: ControlPlane, folder: Path) -> None:
        self._cluster, self._plane, self._folder = cluster, plane, folder

    async def add(self, *devices: JSON) -> None:
        await self._cluster.add(node("gpu-node"))
        chosen = {"cel": {"expression": f"device.driver == '{DRIVER}'"}}
        kind = {"metadata": {"name": DRIVER}, "spec": {"selectors": [chosen]}}
        await self._cluster.api.create(f"{GROUP}/deviceclasses", kind)
        pool = {"name": "gpus", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": "gpu-node", "pool": pool, "devices": [*devices]}
        made = {"metadata": {"name": "gpus"}, "spec": spec}
        await self._cluster.api.create(f"{GROUP}/resourceslices", made)

    async def remove(self) -> None:
        for kind in ("deviceclasses", "resourceslices"):
            await self._cluster.api.delete(f"{GROUP}/{kind}")
        for kind in ("resourceclaims", "resourceclaimtemplates"):
            await self._cluster.api.delete(f"{GROUP}/namespaces/{self._cluster.namespace}/{kind}")

    async def apply(self, text: str, name: str, *, compiled: bool) -> None:
        file = self._folder / f"{name}.yaml"
        file.write_text(text.replace("NAME", name), encoding="utf-8")
        if compiled:
            assert await self._leeway(str(file), "--check") == 1
            assert await self._leeway(str(file), "--write") == 0
            assert await self._leeway(str(file), "--check") == 0
        arguments = ("apply", "-n", self._cluster.namespace, "-f", file)
        await asyncio.to_thread(kubectl, self._plane, *arguments)

    async def _leeway(self, *arguments: str) -> int:
        kubeconfig = f"--kubeconfig={self._plane.kubeconfig(ADMIN)}"
        ended = await asyncio.to_thread(process.run, "compile", *arguments, kubeconfig)
        return ended.code

    async def allocated(self) -> set[str]:
        """The devices that claims have."""
        path = f"{GROUP}/namespaces/{self._cluster.namespace}/resourceclaims"
        listed = (await self._cluster.api.get(path))["items"]
        given = [
            each["status"]["allocation"] for each in listed if each["status"].get("allocation")
        ]
        return {one["device"] for each in given for one in each["devices"]["results"]}


async def test_a_claim_gets_a_device_that_its_rule_means(
    cluster: Cluster, plane: ControlPlane, tmp_path: Path
) -> None:
    devices = Devices(cluster, plane, tmp_path)
    try:
        await devices.add(
            device("small", "8"), device("big", "30"), device("leaving", "40", "NoExecute")
        )
        await devices.apply(CLAIM, "as-written", compiled=False)
        assert "cannot allocate all claims" in await cluster.refused(
            using("waits", resourceClaimName="as-written")
        )

        for name in ("first", "second"):
            await devices.apply(CLAIM, name, compiled=True)
            await cluster.run(using(name, resourceClaimName=name))
        assert await devices.allocated() == {"big", "leaving"}

        # Nothing is left but the device with 8.
        await devices.apply(TEMPLATE, "third", compiled=True)
        assert "cannot allocate all claims" in await cluster.refused(
            using("third", resourceClaimTemplateName="third")
        )
        await asyncio.sleep(SETTLED)
        assert await cluster.placed("second") == await cluster.placed("first") == "gpu-node"
        assert await devices.allocated() == {"big", "leaving"}
    finally:
        await devices.remove()
