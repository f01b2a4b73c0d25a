"""Where the workload of a pod is found."""

import asyncio
from pathlib import Path

import pytest

from extender.cli import explain_owners
from extender.cluster.api import ApiServer
from tests.cluster.apiserver import anonymous, scripted

ADVICE = str(Path(__file__).parents[1] / "golden/explain/advice.yaml")


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "found"),
    [
        ("Deployment", "batch", "fixed", True),
        ("Deployment", "shop", "fixed", False),
        ("StatefulSet", "batch", "fixed", False),
        ("Rollout", "batch", "fixed", False),
    ],
)
def test_a_workload_in_files(kind: str, namespace: str, name: str, found: bool) -> None:
    item = explain_owners.in_files([ADVICE], kind, namespace, name)

    assert (item is not None and item["kind"] == kind) is found


async def test_a_workload_of_a_live_cluster() -> None:
    """One that is not there, or that the user may not read, is no error."""
    made = {"kind": "Deployment", "metadata": {"name": "report", "namespace": "batch"}}
    async with scripted() as server:
        server.put("deployments", made)
        api = ApiServer(anonymous(server))
        found, missing = [
            await asyncio.to_thread(explain_owners.in_cluster, api, "Deployment", "batch", name)
            for name in ("report", "gone")
        ]

    assert found is not None
    assert found["kind"] == "Deployment"
    assert missing is None
    assert explain_owners.in_cluster(api, "Rollout", "batch", "report") is None
