"""The one write: a condition of a pod, over real HTTP."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from extender.cluster import kept_connection
from extender.cluster.api import ApiServer
from extender.cluster.pod_status import Condition, PodStatusWriter
from extender.errors import ApiError, ApiForbiddenError, PodGoneError
from tests.cluster.apiserver import Answer, Clock, ScriptedServer, a_placed_pod, anonymous, scripted

CONDITION = Condition(
    "example/Schedulable", "True", "ClusterChanged", "node a", "2026-01-01T00:00:00Z"
)
KEY, UID = "default/web-0", "uid-of-web-0"


@contextlib.asynccontextmanager
async def writing(
    clock: Clock | None = None,
) -> AsyncIterator[tuple[ScriptedServer, PodStatusWriter]]:
    async with scripted() as server:
        server.put("pods", a_placed_pod("web-0", phase="Pending"))
        writer = PodStatusWriter(ApiServer(anonymous(server)), clock=clock or Clock())
        try:
            yield server, writer
        finally:
            await writer.close()


async def test_a_condition_is_merged_into_the_status_of_the_pod() -> None:
    async with writing() as (server, writer):
        await writer.write(KEY, UID, CONDITION)

        (patch,) = server.patches
        assert patch.path == "/api/v1/namespaces/default/pods/web-0/status"
        assert patch.content_type == "application/strategic-merge-patch+json"
        assert patch.body == {
            "metadata": {"uid": UID},
            "status": {
                "conditions": [
                    {
                        "type": "example/Schedulable",
                        "status": "True",
                        "reason": "ClusterChanged",
                        "message": "node a",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ]
            },
        }


async def test_a_name_cannot_lead_elsewhere() -> None:
    async with writing() as (server, writer):
        with pytest.raises(PodGoneError):
            await writer.write("default/../../x?y", UID, CONDITION)

        (patch,) = server.patches
        assert patch.path == "/api/v1/namespaces/default/pods/..%2F..%2Fx%3Fy/status"


async def test_one_connection_serves_for_a_minute() -> None:
    clock = Clock()
    async with writing(clock) as (server, writer):
        await writer.write(KEY, UID, CONDITION)
        await writer.write(KEY, UID, CONDITION)
        clock.now += kept_connection.CONNECTION_SECONDS + 1
        await writer.write(KEY, UID, CONDITION)

        first, second, third = (patch.peer for patch in server.patches)
        assert first == second != third


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(404), id="deleted"),
        pytest.param(Answer(409), id="changed"),
        pytest.param(Answer(422, "metadata.uid: Invalid value: field is immutable"), id="another"),
    ],
)
async def test_a_pod_that_is_gone_is_told_apart(answer: Answer) -> None:
    async with writing() as (server, writer):
        server.on_patch(answer)
        with pytest.raises(PodGoneError):
            await writer.write(KEY, UID, CONDITION)


async def test_a_missing_right_and_a_lost_server_are_faults_that_pass() -> None:
    async with writing() as (server, writer):
        server.on_patch(Answer(403), Answer(500))
        with pytest.raises(ApiForbiddenError) as forbidden:
            await writer.write(KEY, UID, CONDITION)
        with pytest.raises(ApiError) as broken:
            await writer.write(KEY, UID, CONDITION)
        await writer.write(KEY, UID, CONDITION)

        assert (forbidden.value.status, broken.value.status) == (403, 500)
        assert len(server.patches) == 3
