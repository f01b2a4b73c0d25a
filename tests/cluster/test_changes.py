import asyncio

from extender.cluster.changes import Changes


def test_every_resource_has_a_generation_of_its_own() -> None:
    changes = Changes()
    for resource in ("nodes", "pods", "pods"):
        changes.note(resource)

    assert dict(changes.generations) == {"nodes": 1, "pods": 2}
    assert changes.of(("nodes", "pods", "storageclasses")) == 3


async def test_a_wait_ends_with_a_change_of_what_is_waited_for() -> None:
    changes = Changes()
    pods = asyncio.create_task(changes.wait({"nodes", "pods"}, 0, 60))
    nodes = asyncio.create_task(changes.wait({"nodes"}, 0, 0.02))
    await asyncio.sleep(0)
    changes.note("pods")
    changes.note("pods")

    assert await pods
    assert not await nodes


async def test_a_change_that_came_before_is_not_waited_for() -> None:
    changes = Changes()
    changes.note("pods")

    assert await changes.wait({"pods"}, 0, 60)
    assert not await changes.wait({"pods"}, 1, 0.001)
