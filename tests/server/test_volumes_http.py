"""Volumes through real HTTP over a watched cluster: claims that come, are bound, and change."""

import asyncio

import pytest

from extender.plugins import volume_binding
from tests.builders import JSON, node_json
from tests.cluster.apiserver import eventually
from tests.plugins.test_volume_binding import (
    EPHEMERAL,
    KERNEL,
    NEWER,
    OWNED,
    claim,
    claimed,
    volume,
)
from tests.server.test_spread_http import PATIENT, Run, running
from tests.serving import names_request, nodes_request

NODES = [node_json("old", labels={KERNEL: "5.4.0"}), node_json("new", labels={KERNEL: "6.1.0"})]
UNBOUND = claim(volume_name="", phase="Pending", annotations=None)


@pytest.fixture(autouse=True)
def _nobody_wakes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who is asked about twice in a row is asked about because something has happened.
    monkeypatch.setattr("extender.verbs.waiting.SELF_WAKE_SECONDS", 0.0)


def pod_with(*volumes: JSON) -> JSON:
    metadata = {"name": "db-0", "namespace": "default", "uid": "uid-db-0"}
    return {"metadata": metadata, "spec": {"volumes": list(volumes)}}


async def asked(run: Run, pod: JSON, mode: str = "names") -> tuple[list[str], JSON]:
    """Who passes, and why the others do not."""
    if mode == "names":
        answer = await run.filter(pod)
        return answer["NodeNames"], answer["FailedAndUnresolvableNodes"]
    answer = await run.client.ask("filter", nodes_request(pod, *NODES))
    passing = [node["metadata"]["name"] for node in answer["Nodes"]["items"]]
    return passing, answer["FailedAndUnresolvableNodes"]


async def known(run: Run, **objects: JSON) -> None:
    """The API server has these objects, and the extender has seen them."""
    for resource, obj in objects.items():
        run.api.put(resource, obj)
    cache = run.source.cache
    await eventually(
        lambda: (
            len(cache.claims) == len(run.api.objects["persistentvolumeclaims"])
            and len(cache.volumes) == len(run.api.objects["persistentvolumes"])
        )
    )


@pytest.mark.parametrize("mode", ["names", "nodes"])
async def test_a_claim_that_is_not_bound_refuses_every_node(mode: str) -> None:
    async with running(*NODES) as run:
        await known(run, persistentvolumeclaims=UNBOUND)
        answer = await asked(run, pod_with(claimed("c1")), mode)

    assert answer == ([], dict.fromkeys(["old", "new"], volume_binding.REASON_UNBOUND))


@pytest.mark.parametrize("mode", ["names", "nodes"])
async def test_a_claim_that_is_bound_while_its_pod_waits_is_seen(mode: str) -> None:
    """The answer is held for it, so that no refusal is left behind."""
    async with running(*NODES, config=PATIENT) as run:
        await known(run, persistentvolumeclaims=UNBOUND)
        assert (await asked(run, pod_with(claimed("c1")), mode))[0] == []
        waiting = asyncio.create_task(asked(run, pod_with(claimed("c1")), mode))
        await asyncio.sleep(0.005)
        run.api.put("persistentvolumes", volume(annotation=NEWER))
        run.api.put("persistentvolumeclaims", claim())
        bound = await waiting

    assert bound == (["new"], {"old": volume_binding.REASON_CONFLICT})


async def test_a_claim_that_is_made_for_the_pod_is_waited_for() -> None:
    name = "db-0-scratch"
    async with running(*NODES) as run:
        missing = await asked(run, pod_with(EPHEMERAL))
    async with running(*NODES, config=PATIENT) as run:
        assert await asked(run, pod_with(EPHEMERAL)) == missing
        waiting = asyncio.create_task(asked(run, pod_with(EPHEMERAL)))
        await asyncio.sleep(0.005)
        run.api.put("persistentvolumes", volume())
        run.api.put("persistentvolumeclaims", claim(name, **OWNED))
        made = await waiting

    reason = volume_binding.REASON_NO_EPHEMERAL_CLAIM.format(claim=name)
    assert missing == ([], dict.fromkeys(["old", "new"], reason))
    assert made == (["old", "new"], {})


async def test_a_volume_whose_annotation_changes_is_judged_anew() -> None:
    async with running(*NODES, config=PATIENT) as run:
        await known(run, persistentvolumes=volume(annotation=NEWER), persistentvolumeclaims=claim())
        assert (await run.filter(pod_with(claimed("c1")), ["old"]))["NodeNames"] == []
        waiting = asyncio.create_task(run.filter(pod_with(claimed("c1")), ["old"]))
        await asyncio.sleep(0.005)
        run.api.put("persistentvolumes", volume())
        answer = await waiting

    assert answer["NodeNames"] == ["old"]


async def test_no_eviction_brings_a_node_within_reach_of_a_volume() -> None:
    victims = {name: {"Pods": [{"UID": "u"}], "NumPDBViolations": 0} for name in ("old", "new")}
    async with running(*NODES) as run:
        await known(run, persistentvolumes=volume(annotation=NEWER), persistentvolumeclaims=claim())
        body = names_request(pod_with(claimed("c1"))) | {"NodeNameToMetaVictims": victims}
        answer = await run.client.ask("preempt", body)

    assert list(answer["NodeNameToMetaVictims"]) == ["new"]
