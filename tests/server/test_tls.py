"""TLS and mTLS on the scheduler listener, with real certificates and real clients."""

import asyncio
import json
import logging
import os
import socket
import ssl
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import trustme
import uvloop

from extender.config.schema import Config, TLSFiles
from extender.errors import ConfigError
from extender.server import listeners
from extender.server.tls import ReloadingTLS
from tests.builders import JSON, node_json, pod_json
from tests.serving import (
    FixedSource,
    connected,
    eventually,
    names_request,
    nodes_request,
    served,
    served_in_thread,
    whole,
)

REQUEST = whole("filter", msgspec.json.encode(names_request(pod_json(), "plain")))
SOURCE = FixedSource(node_json("plain"))

Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a coroutine on one of the two loops; changed files are looked for often."""
    monkeypatch.setattr(listeners, "TLS_CHECK_SECONDS", 0.02)
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def run(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(main)

    return run


@dataclass(frozen=True, slots=True)
class Disk:
    """The files of a listener, as an operator or a controller keeps them."""

    folder: Path

    @property
    def cert(self) -> Path:
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        return self.folder / "tls.key"

    @property
    def client_ca(self) -> Path:
        return self.folder / "ca.crt"

    def put(self, authority: trustme.CA) -> None:
        """A new certificate and its key."""
        leaf = authority.issue_cert("127.0.0.1", "localhost")
        replace(self.cert, b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
        replace(self.key, leaf.private_key_pem.bytes())

    def put_client_ca(self, authority: trustme.CA) -> None:
        replace(self.client_ca, authority.cert_pem.bytes())

    def config(self, *, mutual: bool = False) -> Config:
        ca = str(self.client_ca) if mutual else None
        return Config(scheduler_tls=TLSFiles(str(self.cert), str(self.key), ca))


def replace(path: Path, content: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def stranger() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def disk(tmp_path: Path, authority: trustme.CA) -> Disk:
    disk = Disk(tmp_path)
    disk.put(authority)
    disk.put_client_ca(authority)
    return disk


def trusting(*authorities: trustme.CA, signed_by: trustme.CA | None = None) -> ssl.SSLContext:
    """A client that trusts these, with a certificate of its own if somebody signed one."""
    context = ssl.create_default_context()
    for authority in authorities:
        authority.configure_trust(context)
    if signed_by is not None:
        signed_by.issue_cert("scheduler@example.org").configure_cert(context)
    return context


async def serial(url: str, tls: ssl.SSLContext) -> str:
    """The serial number of the certificate that a new connection is shown."""
    async with connected(url, tls) as connection:
        return str(connection.writer.get_extra_info("peercert")["serialNumber"])


async def answered(url: str, tls: ssl.SSLContext) -> bool:
    """Whether a new connection gets an answer to a request."""
    try:
        async with connected(url, tls) as connection:
            await connection.send(REQUEST)
            return (await connection.reply()).status == 200
    except (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError):
        return False


def test_a_client_that_trusts_the_certificate_is_answered(
    run: Run, disk: Disk, authority: trustme.CA, stranger: trustme.CA
) -> None:
    async def main() -> None:
        async with served(disk.config(), SOURCE) as client:
            assert client.scheduler.startswith("https://")
            assert client.ops.startswith("http://")
            assert await answered(client.scheduler, trusting(authority))
            assert not await answered(client.scheduler, trusting(stranger))
            url = f"{client.scheduler}/filter"
            body = names_request(pod_json(), "plain")
            async with client.session.post(url, json=body, ssl=trusting(authority)) as response:
                assert response.status == 200
            assert await client.get("/readyz") == (200, "ok")

    run(main())


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_megabytes_of_whole_nodes_come_back_as_they_were_sent(
    run: Run, disk: Disk, authority: trustme.CA, *, tls: bool
) -> None:
    nodes = [{**node_json(f"n{i}"), "status": {"images": ["x" * 10_000]}} for i in range(300)]
    changed: JSON = {**nodes[7], "status": {"images": ["y" * 10_000]}}
    asked = [nodes, nodes, nodes[::-1], [*nodes[:7], changed, *nodes[8:]], nodes]

    async def main() -> None:
        config, trust = (disk.config(), trusting(authority)) if tls else (Config(), None)
        async with served(config) as client, connected(client.scheduler, trust) as connection:
            for each in asked:
                body = json.dumps(nodes_request(pod_json(), *each), separators=(",", ":"))
                await connection.send(whole("filter", body.encode()))
                reply = await connection.reply()
                assert json.loads(reply.body)["Nodes"]["items"] == each

    run(main())


def test_a_client_that_speaks_plain_http_is_not_answered(run: Run, disk: Disk) -> None:
    async def main() -> None:
        async with (
            served(disk.config(), SOURCE) as client,
            connected(client.scheduler.replace("https:", "http:")) as connection,
        ):
            await connection.send(REQUEST)
            assert not (await connection.reader.read()).startswith(b"HTTP/1.1 200")

    run(main())


def test_under_mtls_only_a_client_of_the_right_authority_is_answered(
    run: Run, disk: Disk, authority: trustme.CA, stranger: trustme.CA
) -> None:
    async def main() -> None:
        async with served(disk.config(mutual=True), SOURCE) as client:
            url = client.scheduler
            assert await answered(url, trusting(authority, signed_by=authority))
            assert not await answered(url, trusting(authority))
            assert not await answered(url, trusting(authority, signed_by=stranger))
            assert await answered(url, trusting(authority, signed_by=authority))

    run(main())


def test_under_mtls_status_tells_whom_the_certificate_names(
    run: Run, disk: Disk, authority: trustme.CA
) -> None:
    tls = trusting(authority)
    leaf = authority.issue_cert("scheduler@example.org", common_name="system:kube-scheduler")
    leaf.configure_cert(tls)

    async def main() -> None:
        async with served(disk.config(mutual=True), SOURCE) as client:
            assert await answered(client.scheduler, tls)
            _, text = await client.get("/status")
            assert msgspec.json.decode(text)["callers"][0]["certificate"] == "system:kube-scheduler"

    run(main())


def test_tls_1_1_is_not_spoken(run: Run, disk: Disk, authority: trustme.CA) -> None:
    old = trusting(authority)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1

    async def main() -> None:
        async with served(disk.config(), SOURCE) as client:
            assert not await answered(client.scheduler, old)

    run(main())


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("127.0.0.1", id="by address, so without a server name"),
        pytest.param("localhost", id="by name"),
    ],
)
def test_a_rotated_certificate_is_shown_to_new_connections(
    run: Run, disk: Disk, authority: trustme.CA, host: str
) -> None:
    async def main() -> None:
        async with served(disk.config(), SOURCE) as client:
            url = client.scheduler.replace("127.0.0.1", host)
            tls = trusting(authority)
            before = await serial(url, tls)
            async with connected(url, tls) as standing:
                await standing.send(REQUEST)
                first = await standing.reply()
                disk.put(authority)

                async def rotated() -> bool:
                    return await serial(url, tls) != before

                await eventually(rotated)
                await standing.send(REQUEST)
                second = await standing.reply()
            assert (first.status, second.status) == (200, 200)
            assert await answered(url, tls)

    run(main())


def test_a_rotated_authority_of_the_certificate_is_shown_whole(
    run: Run, disk: Disk, authority: trustme.CA, stranger: trustme.CA
) -> None:
    async def main() -> None:
        async with served(disk.config(), SOURCE) as client:
            assert not await answered(client.scheduler, trusting(stranger))
            disk.put(stranger)

            async def rotated() -> bool:
                return await answered(client.scheduler, trusting(stranger))

            await eventually(rotated)
            assert not await answered(client.scheduler, trusting(authority))

    run(main())


def test_a_rotated_client_authority_admits_the_new_and_forgets_the_old(
    run: Run, disk: Disk, authority: trustme.CA, stranger: trustme.CA
) -> None:
    async def main() -> None:
        async with served(disk.config(mutual=True), SOURCE) as client:
            url = client.scheduler
            old = trusting(authority, signed_by=authority)
            new = trusting(authority, signed_by=stranger)
            assert not await answered(url, new)
            async with connected(url, old) as standing:
                await standing.send(REQUEST)
                await standing.reply()
                disk.put_client_ca(stranger)

                async def rotated() -> bool:
                    return await answered(url, new)

                await eventually(rotated)
                await standing.send(REQUEST)
                assert (await standing.reply()).status == 200
            assert not await answered(url, old)
            assert not await answered(url, trusting(authority))

    run(main())


def broken_certificate(disk: Disk) -> None:
    replace(disk.cert, b"-----BEGIN CERTIFICATE-----\nhalf")


def missing_key(disk: Disk) -> None:
    disk.key.unlink()


def foreign_key(disk: Disk) -> None:
    leaf = trustme.CA().issue_cert("127.0.0.1")
    replace(disk.key, leaf.private_key_pem.bytes())


def empty_client_ca(disk: Disk) -> None:
    replace(disk.client_ca, b"")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(broken_certificate, id="a certificate that was half written"),
        pytest.param(missing_key, id="a key that is gone"),
        pytest.param(foreign_key, id="a key of another certificate"),
        pytest.param(empty_client_ca, id="a client authority that is empty"),
    ],
)
def test_files_that_cannot_be_loaded_keep_the_old_ones_until_they_are_mended(
    run: Run,
    disk: Disk,
    authority: trustme.CA,
    spoil: Callable[[Disk], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with served(disk.config(mutual=True), SOURCE) as client:
            tls = trusting(authority, signed_by=authority)
            before = await serial(client.scheduler, tls)
            spoil(disk)

            async def warned() -> bool:
                return "TLS files cannot be loaded, the old ones stay" in caplog.text

            await eventually(warned)
            assert await serial(client.scheduler, tls) == before
            assert await answered(client.scheduler, tls)
            disk.put(authority)
            disk.put_client_ca(authority)

            async def mended() -> bool:
                return await serial(client.scheduler, tls) != before

            await eventually(mended)

    run(main())


def test_a_certificate_rotated_as_kubernetes_does_it_is_found(
    tmp_path: Path, authority: trustme.CA
) -> None:
    """A secret in a volume: files are links into a folder which is itself a link that moves."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        Disk(tmp_path / name).put(authority)
    data = tmp_path / "..data"
    data.symlink_to("first")
    disk = Disk(tmp_path)
    disk.cert.symlink_to("..data/tls.crt")
    disk.key.symlink_to("..data/tls.key")
    tls = ReloadingTLS(TLSFiles(str(disk.cert), str(disk.key)))
    unchanged = tls.reload_if_changed()
    moved = tmp_path / "..data_tmp"
    moved.symlink_to("second")
    os.replace(moved, data)

    assert not unchanged
    assert tls.reload_if_changed()
    assert not tls.reload_if_changed()


def test_a_reload_is_logged(
    disk: Disk, authority: trustme.CA, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    tls = ReloadingTLS(TLSFiles(str(disk.cert), str(disk.key)))
    disk.put(authority)
    tls.reload_if_changed()

    assert caplog.messages == ["TLS files reloaded"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        pytest.param(broken_certificate, "TLS: {cert} with {key} cannot be used: ", id="half"),
        pytest.param(missing_key, "TLS: {key} does not exist", id="no key"),
        pytest.param(foreign_key, "KEY_VALUES_MISMATCH", id="another key"),
        pytest.param(empty_client_ca, "TLS: ", id="empty client authority"),
    ],
)
def test_files_that_cannot_be_loaded_refuse_to_start(
    disk: Disk, spoil: Callable[[Disk], None], says: str
) -> None:
    spoil(disk)
    files = TLSFiles(str(disk.cert), str(disk.key), str(disk.client_ca))
    with pytest.raises(ConfigError) as caught:
        ReloadingTLS(files)

    (problem,) = caught.value.problems
    assert says.format(cert=disk.cert, key=disk.key) in problem


def test_a_client_authority_that_cannot_be_loaded_is_the_file_that_is_named(disk: Disk) -> None:
    empty_client_ca(disk)
    files = TLSFiles(str(disk.cert), str(disk.key), str(disk.client_ca))
    with pytest.raises(ConfigError) as caught:
        ReloadingTLS(files)

    assert str(disk.client_ca) in caught.value.problems[0]


def test_a_folder_for_a_certificate_is_a_sentence(disk: Disk) -> None:
    with pytest.raises(ConfigError) as caught:
        ReloadingTLS(TLSFiles(str(disk.folder), str(disk.key)))

    (problem,) = caught.value.problems
    assert problem.startswith("TLS: ")


def resumed(url: str, tls: ssl.SSLContext, session: ssl.SSLSession | None) -> ssl.SSLSession | None:
    """One request over a new connection that offers a session; the session it ends with."""
    parts = urlsplit(url)
    with (
        socket.create_connection((str(parts.hostname), parts.port or 0)) as plain,
        tls.wrap_socket(plain, server_hostname=parts.hostname, session=session) as secure,
    ):
        secure.sendall(REQUEST)
        assert secure.recv(12) == b"HTTP/1.1 200"
        return secure.session


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(ssl.TLSVersion.TLSv1_2, id="TLS 1.2"),
        pytest.param(ssl.TLSVersion.TLSv1_3, id="TLS 1.3"),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        pytest.param(asyncio.new_event_loop, id="asyncio"),
        pytest.param(uvloop.new_event_loop, id="uvloop"),
    ],
)
def test_a_session_does_not_outlive_the_authority_that_let_it_in(
    disk: Disk,
    authority: trustme.CA,
    stranger: trustme.CA,
    version: ssl.TLSVersion,
    loop: Callable[[], asyncio.AbstractEventLoop],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listeners, "TLS_CHECK_SECONDS", 0.02)
    old = trusting(authority, signed_by=authority)
    old.maximum_version = version
    new = trusting(authority, signed_by=stranger)
    with served_in_thread(disk.config(mutual=True), SOURCE, loop=loop) as addresses:
        session = resumed(addresses.scheduler, old, None)
        disk.put_client_ca(stranger)

        async def rotated() -> bool:
            return await answered(addresses.scheduler, new)

        asyncio.run(eventually(rotated))
        with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
            resumed(addresses.scheduler, old, session)
