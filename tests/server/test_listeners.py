"""How the listeners start, stand and go down."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import replace

import aiohttp
import msgspec
import pytest
from prometheus_client import CollectorRegistry

from extender.config.schema import Address, Config, Limits, Listen
from extender.errors import ConfigError
from extender.metrics import Metrics
from extender.server import connection
from extender.server.entrances import Listening
from extender.server.listeners import Server
from tests.builders import node_json, pod_json
from tests.serving import (
    ANYWHERE,
    EXPECTING,
    Client,
    FixedSource,
    connected,
    eventually,
    head,
    names_request,
    served,
    whole,
)

PLAIN = node_json("plain")
BODY = msgspec.json.encode(names_request(pod_json(), "plain"))


@contextlib.asynccontextmanager
async def stoppable(config: Config) -> AsyncIterator[tuple[Client, contextlib.AsyncExitStack]]:
    """A server that goes down when the stack is closed, and a client that outlives it."""
    server = Server(
        replace(config, listen=ANYWHERE), FixedSource(PLAIN), Metrics(CollectorRegistry())
    )
    async with aiohttp.ClientSession() as session, contextlib.AsyncExitStack() as stack:
        listening = await stack.enter_async_context(server.running())
        scheduler, ops = (f"{each.scheme}://{each.address}" for each in listening)
        yield Client(session, scheduler, ops), stack


def test_a_listener_tells_its_name_address_and_scheme() -> None:
    listener = Listening("scheduler", Address("::1", 8888), "https")

    assert str(listener) == "scheduler listening on [::1]:8888 (https)"


async def test_port_0_picks_a_free_port_for_each_listener() -> None:
    server = Server(replace(Config(), listen=ANYWHERE), FixedSource(), Metrics(CollectorRegistry()))
    async with server.running() as listening:
        pass

    assert [(each.name, each.address.host, each.scheme) for each in listening] == [
        ("scheduler", "127.0.0.1", "http"),
        ("ops", "127.0.0.1", "http"),
    ]
    assert listening[0].address.port != listening[1].address.port
    assert all(each.address.port > 0 for each in listening)


@pytest.mark.parametrize("name", ["scheduler", "ops"])
async def test_a_port_in_use_is_one_sentence(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("127.0.0.1", taken.getsockname()[1])
        listen = Listen(
            scheduler=address if name == "scheduler" else ANYWHERE.scheduler,
            ops=address if name == "ops" else ANYWHERE.ops,
        )
        with pytest.raises(ConfigError) as caught:
            async with Server(
                Config(listen=listen), FixedSource(), Metrics(CollectorRegistry())
            ).running():
                pass

    (problem,) = caught.value.problems
    assert problem.startswith(f"listen.{name}: cannot listen on {address}: ")
    assert "in use" in problem


async def test_an_address_of_another_machine_is_one_sentence() -> None:
    listen = Listen(scheduler=Address("192.0.2.1", 0), ops=ANYWHERE.ops)
    with pytest.raises(ConfigError, match=r"cannot listen on 192\.0\.2\.1:0: ") as caught:
        async with Server(
            Config(listen=listen), FixedSource(), Metrics(CollectorRegistry())
        ).running():
            pass

    assert len(caught.value.problems) == 1


def test_idle_connections_outlive_those_of_kube_schedulers_client() -> None:
    assert connection.KEEP_ALIVE_SECONDS > 90


async def test_the_keep_alive_time_is_the_one_that_the_listener_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "KEEP_ALIVE_SECONDS", 0.05)
    async with (
        served(source=FixedSource(PLAIN)) as client,
        connected(client.scheduler) as standing,
    ):
        await standing.send(whole("filter", BODY))
        reply = await standing.reply()
        closed = await standing.closed()

    assert reply.status == 200
    assert closed


async def test_going_down_finishes_what_has_begun_and_closes_what_is_idle() -> None:
    async with stoppable(Config()) as (client, stack):
        async with connected(client.scheduler) as idle, connected(client.scheduler) as busy:
            await idle.send(whole("filter", BODY))
            await idle.reply()
            await busy.send(head("filter", f"Content-Length: {len(BODY)}", EXPECTING) + BODY[:9])
            await busy.begun()
            down = asyncio.create_task(stack.aclose())

            async def unready() -> bool:
                return (await client.get("/readyz"))[0] == 503

            await eventually(unready)
            _, report = await client.get("/readyz")
            live, _ = await client.get("/livez")
            with pytest.raises(OSError, match="Connect call failed"):
                async with connected(client.scheduler):
                    pass
            await busy.send(BODY[9:])
            reply = await busy.reply()
            closed = [await busy.closed(), await idle.closed()]
            await down

        assert "[-]shutdown failed: draining\n" in report
        assert live == 200
        assert reply.status == 200
        assert reply.headers["connection"] == "close"
        assert msgspec.json.decode(reply.body)["NodeNames"] == ["plain"]
        assert closed == [True, True]


async def test_a_request_whose_head_is_there_is_answered_while_draining() -> None:
    async with stoppable(Config()) as (client, stack):
        async with connected(client.scheduler) as standing, connected(client.scheduler) as busy:
            await standing.send(whole("filter", BODY))
            await standing.reply()
            await standing.send(head("filter", f"Content-Length: {len(BODY)}", EXPECTING))
            await standing.begun()
            await busy.send(head("filter", f"Content-Length: {len(BODY)}", EXPECTING))
            await busy.begun()
            down = asyncio.create_task(stack.aclose())

            async def unready() -> bool:
                return (await client.get("/readyz"))[0] == 503

            await eventually(unready)
            await standing.send(BODY)
            reply = await standing.reply()
            await busy.send(BODY)
            await busy.reply()
            await down

        assert reply.status == 200
        assert reply.headers["connection"] == "close"


async def test_a_request_that_never_ends_is_given_up_after_the_drain_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    config = Config(limits=Limits(drain_timeout=0.05))
    async with stoppable(config) as (client, stack), connected(client.scheduler) as busy:
        await busy.send(head("filter", "Content-Length: 100", EXPECTING))
        await busy.begun()
        await stack.aclose()

        assert "gave up on 1 request(s) after 0.05 s of draining" in caplog.text


async def test_the_ports_are_free_again_afterwards() -> None:
    async with stoppable(Config()) as (client, stack):
        await client.ask("filter", names_request(pod_json(), "plain"))
        await stack.aclose()
        for url in (client.scheduler, client.ops):
            with pytest.raises(OSError, match="Connect call failed"):
                async with connected(url):
                    pass
