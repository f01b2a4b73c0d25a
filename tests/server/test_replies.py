"""Answers leave as they are, whatever their size, over any connection."""

import json
from email.utils import parsedate_to_datetime
from unittest.mock import Mock

import pytest
from aiohttp.test_utils import make_mocked_request

from extender.server.replies import Reply
from tests.builders import node_json, pod_json
from tests.serving import FixedSource, connected, names_request, nodes_request, served, whole

NAMES = json.dumps(names_request(pod_json(), "plain")).encode()


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
            assert len(reply.body) > 100 * images
    assert names == [[f"n{i}" for i in range(100)]] * 3


async def test_an_answer_is_dated_and_says_nothing_of_a_connection_that_is_kept() -> None:
    async with (
        served(source=FixedSource(node_json("plain"))) as client,
        connected(client.scheduler) as connection,
    ):
        await connection.send(whole("filter", NAMES))
        reply = await connection.reply()

    assert parsedate_to_datetime(reply.headers["date"]).year > 2000
    assert set(reply.headers) == {"content-type", "content-length", "date"}


@pytest.mark.parametrize(
    ("version", "asked", "told"),
    [
        ("1.1", "close", "close"),
        ("1.0", "keep-alive", "keep-alive"),
        ("1.0", "close", "close"),
    ],
)
async def test_a_connection_is_kept_or_closed_as_the_client_asks(
    version: str, asked: str, told: str
) -> None:
    request = whole("filter", NAMES).replace(b"HTTP/1.1", f"HTTP/{version}".encode())
    request = request.replace(b"\r\n\r\n", f"\r\nConnection: {asked}\r\n\r\n".encode(), 1)
    async with (
        served(source=FixedSource(node_json("plain"))) as client,
        connected(client.scheduler) as connection,
    ):
        await connection.send(request)
        assert (await connection.reply()).headers["connection"] == told
        if told == "close":
            assert await connection.closed()
        else:
            await connection.send(request)
            assert (await connection.reply()).status == 200


async def test_nothing_is_written_to_who_has_hung_up() -> None:
    transport = Mock()
    transport.is_closing.return_value = True
    reply = Reply(b"{}")
    await reply.prepare(make_mocked_request("POST", "/filter", transport=transport))

    with pytest.raises(ConnectionResetError):
        await reply.write_eof()
    transport.writelines.assert_not_called()
