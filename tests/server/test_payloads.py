"""Answers leave as they are, large ones without being copied."""

import json

import pytest
from aiohttp import payload

from extender.server import payloads
from tests.builders import node_json, pod_json
from tests.serving import connected, nodes_request, served, whole


def test_only_large_bodies_go_by_themselves() -> None:
    small, large = b"{}", b" " * payloads.LARGE

    assert payloads.response(small).body == small
    body = payloads.response(large).body
    assert isinstance(body, payload.Payload)
    assert body.size == len(large)
    assert body.decode() == large.decode()


@pytest.mark.parametrize("images", [0, 20_000])
async def test_an_answer_of_any_size_says_how_long_it_is(images: int) -> None:
    nodes = [{**node_json(f"n{i}"), "status": {"images": ["x" * images]}} for i in range(100)]
    body = json.dumps(nodes_request(pod_json(), *nodes), separators=(",", ":")).encode()
    names = []
    async with served() as client, connected(client.scheduler) as connection:
        for _ in range(3):
            await connection.send(whole("filter", body))
            reply = await connection.reply()
            names.append([n["metadata"]["name"] for n in json.loads(reply.body)["Nodes"]["items"]])
            assert reply.headers["content-type"] == "application/json"
            assert (len(reply.body) > payloads.LARGE) == bool(images)
    assert names == [[f"n{i}" for i in range(100)]] * 3
