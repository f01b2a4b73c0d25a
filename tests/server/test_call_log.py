"""Whoever asks after an answer finds it counted, although counting comes after answering."""

import asyncio
import logging

import pytest

from extender.server.call_log import Peer
from tests.builders import node_json, pod_json
from tests.serving import FixedSource, names_request, nodes_request, served

NAMES = [f"n{i}" for i in range(2_000)]


@pytest.mark.parametrize("mode", ["names", "nodes"])
async def test_an_answer_is_counted_before_the_next_request_is_read(mode: str) -> None:
    nodes = [node_json(name) for name in NAMES]
    request = (
        names_request(pod_json(), *NAMES) if mode == "names" else nodes_request(pod_json(), *nodes)
    )
    series = f'leeway_requests_total{{code="200",mode="{mode}",verb="filter"}}'
    async with served(source=FixedSource(*nodes)) as client:
        for number in range(1, 11):
            await client.ask("filter", request)
            _, text = await client.get("/metrics")
            assert f"{series} {number}.0" in text


async def test_every_call_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "leeway.scheduler")
    async with served(source=FixedSource(node_json("a"))) as client:
        request = names_request(pod_json(), "a")
        await asyncio.gather(*(client.ask("filter", request) for _ in range(3)))

    lines = [record for record in caplog.records if record.message == "filter"]
    assert [line.fields["passed"] for line in lines] == [1, 1, 1]  # type: ignore[attr-defined]


async def test_without_v_no_call_has_a_line_unless_something_is_wrong(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "leeway.scheduler")
    async with served(source=FixedSource(node_json("a"))) as client:
        await client.ask("filter", names_request(pod_json(), "a"))
        await client.ask("prioritize", names_request(pod_json(), "a"))
        assert caplog.messages == []
        await client.ask("filter", names_request(pod_json(), "stranger"))
        await client.post("prioritize", b"{")

    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "filter"),
        ("WARNING", "prioritize"),
    ]


async def test_the_peer_of_a_connection_that_has_no_address_has_no_name() -> None:
    assert Peer.of(asyncio.Transport()) == Peer("", None, is_encrypted=False)
