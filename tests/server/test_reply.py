"""What the doors share, at the admission listener; the scheduler's has its own tests of it."""

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import aiohttp
import msgspec
import pytest
import trustme
from prometheus_client import CollectorRegistry

from extender.cluster.source import NoSource
from extender.config.schema import Config, Limits, TLSFiles
from extender.errors import ConfigError
from extender.metrics import Metrics
from extender.server import listeners
from extender.server.listeners import Server
from tests.admitting import PATH, admitting, certificate, review, trusting
from tests.review.objects import with_tolerations
from tests.serving import ANYWHERE, EXPECTING, connected, eventually, head, whole

BODY = msgspec.json.encode(review(with_tolerations()))
ADMITTING = replace(ANYWHERE, admission=ANYWHERE.scheduler)


def server(config: Config) -> Server:
    return Server(replace(config, listen=ADMITTING), NoSource(), Metrics(CollectorRegistry()))


async def test_going_down_finishes_what_has_begun(tmp_path: Path) -> None:
    authority = trustme.CA()
    tls = trusting(authority)
    going = server(Config(admission_tls=certificate(tmp_path, authority)))
    async with contextlib.AsyncExitStack() as stack:
        listening = await stack.enter_async_context(going.running())
        ops, admission = (f"{each.scheme}://{each.address}" for each in listening[1:])
        async with connected(admission, tls) as busy, aiohttp.ClientSession() as session:
            start = head(PATH[1:], f"Content-Length: {len(BODY)}", EXPECTING)
            await busy.send(start + BODY[:9])
            await busy.begun()
            down = asyncio.create_task(stack.aclose())

            async def unready() -> bool:
                async with session.get(f"{ops}/readyz") as response:
                    return response.status == 503

            await eventually(unready)
            with pytest.raises(OSError, match="Connect call failed"):
                async with connected(admission, tls):
                    pass
            await busy.send(BODY[9:])
            reply = await busy.reply()
            closed = await busy.closed()
            await down

    assert reply.status == 200
    assert reply.headers["connection"] == "close"
    assert msgspec.json.decode(reply.body)["response"]["allowed"] is True
    assert closed


async def test_a_body_that_is_refused_unread_closes_the_connection(tmp_path: Path) -> None:
    config = Config(limits=Limits(request_bytes=10))
    async with admitting(tmp_path, config) as api, connected(api.admission, api.tls) as connection:
        await connection.send(head(PATH[1:], "Content-Length: 11"))
        reply = await connection.reply()

    assert reply.status == 413
    assert reply.headers["connection"] == "close"


async def test_a_connection_is_used_again(tmp_path: Path) -> None:
    async with admitting(tmp_path) as api, connected(api.admission, api.tls) as connection:
        for _ in range(2):
            await connection.send(whole(PATH[1:], BODY))
            assert (await connection.reply()).status == 200


async def test_the_certificate_is_reloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "TLS_CHECK_SECONDS", 0.02)
    old, new = trustme.CA(), trustme.CA()
    config = Config(admission_tls=certificate(tmp_path, old))
    async with server(config).running() as listening:
        url = f"https://{listening[2].address}"
        async with connected(url, trusting(old)):
            pass
        certificate(tmp_path, new)

        async def renewed() -> bool:
            with contextlib.suppress(OSError):
                async with connected(url, trusting(new)):
                    return True
            return False

        await eventually(renewed)


async def test_its_certificate_does_not_switch_the_scheduler_listener(tmp_path: Path) -> None:
    files = certificate(tmp_path, trustme.CA())
    async with server(Config(admission_tls=files)).running() as listening:
        pass

    assert [(each.name, each.scheme) for each in listening] == [
        ("scheduler", "http"),
        ("ops", "http"),
        ("admission", "https"),
    ]


async def test_the_scheduler_listeners_certificate_is_the_default_without_its_client_ca(
    tmp_path: Path,
) -> None:
    authority = trustme.CA()
    ca = tmp_path / "ca.crt"
    authority.cert_pem.write_to_path(ca)
    files = certificate(tmp_path, authority)
    config = Config(scheduler_tls=TLSFiles(files.cert_file, files.key_file, str(ca)))
    async with server(config).running() as listening:
        schemes = [each.scheme for each in listening]
        async with connected(f"https://{listening[2].address}", trusting(authority)) as connection:
            await connection.send(whole(PATH[1:], BODY))
            reply = await connection.reply()

    assert schemes == ["https", "http", "https"]
    assert reply.status == 200


def test_without_a_certificate_it_does_not_start() -> None:
    with pytest.raises(ConfigError) as caught:
        server(Config())

    assert caught.value.problems == [
        "listen.admission: needs a certificate, as the API server calls webhooks over TLS only:"
        " give tls.admission.certFile and tls.admission.keyFile"
    ]
