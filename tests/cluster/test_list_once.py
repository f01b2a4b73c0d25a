"""A cluster listed once."""

import pytest

from extender.cluster import list_once
from extender.cluster.api import ApiServer
from extender.errors import ApiError
from tests.builders import node_json, taint
from tests.cluster.apiserver import Answer, ScriptedServer, a_placed_pod, anonymous, scripted


def api(server: ScriptedServer) -> ApiServer:
    return ApiServer(anonymous(server))


async def test_only_what_is_asked_for_is_listed() -> None:
    async with scripted() as server:
        server.put("nodes", *(node_json(f"n{i}", taint("x")) for i in range(501)))
        server.put("pods", a_placed_pod("p", "n1"))
        alone = await list_once.snapshot(api(server), {"nodes"})
        assert server.kinds("pods") == []
        whole = await list_once.snapshot(api(server), {"nodes", "pods", "persistentvolumes"})

    assert len(alone.nodes) == len(whole.nodes) == 501
    assert (alone.pods, alone.volumes) == (None, None)
    assert whole.pods is not None
    assert whole.volumes is not None
    assert server.kinds("nodes") == ["list"] * 4


async def test_a_list_that_is_refused_is_a_fault() -> None:
    async with scripted() as server:
        server.on_list("nodes", Answer(403, "nodes is forbidden"))
        with pytest.raises(ApiError, match=r"HTTP 403: .*nodes is forbidden"):
            await list_once.snapshot(api(server), {"nodes"})
