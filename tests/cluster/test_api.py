"""Credentials that rotate, and answers and streams as raw bytes."""

import asyncio
import contextlib
import os
import ssl
import stat
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from kubernetes.aio import client
from kubernetes.aio.config import incluster_config

from extender.cluster import api
from extender.cluster.api import CREDENTIALS_SECONDS, ApiServer, Connection
from extender.errors import (
    ApiError,
    ApiForbiddenError,
    ApiGoneError,
    ApiUnsupportedError,
    ConfigError,
)
from tests.builders import node_json
from tests.cluster.apiserver import (
    Answer,
    Broken,
    Clock,
    CutOff,
    End,
    Held,
    ScriptedServer,
    anonymous,
    eventually,
    scripted,
)

NODES = "/api/v1/nodes"
WATCH = {"watch": "1", "sendInitialEvents": "true"}

FIRST, SECOND = "first-one", "second-one"


def kubeconfig(
    folder: Path,
    server: ScriptedServer,
    user: Mapping[str, object] | None = None,
    **cluster: object,
) -> str:
    """A kubeconfig of one context."""
    file = folder / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "there", "user": "me"}}],
        "clusters": [{"name": "there", "cluster": {"server": server.url, **cluster}}],
        "users": [{"name": "me", "user": dict(user or {})}],
    }
    file.write_text(yaml.safe_dump(document))
    return str(file)


def plugin(folder: Path, body: str) -> dict[str, object]:
    """An exec plugin that is a shell script; each of its runs leaves a line in a file."""
    script = folder / "plugin.sh"
    script.write_text(f"#!/bin/sh\necho run >> {folder}/runs\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": str(script), "interactiveMode": "Never"}}


def says(folder: Path) -> str:
    """The body of a plugin that tells what stands in a file."""
    head = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":'
    return f"echo '{head}{{\"token\":\"'$(cat {folder}/bearer)'\"}}}}'"


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


async def ask(server: ApiServer) -> bytes:
    async with server.connect() as connection:
        return await connection.get(NODES, {})


@contextlib.asynccontextmanager
async def connected(server: ScriptedServer, silence: float = 30) -> AsyncIterator[Connection]:
    async with ApiServer(anonymous(server), watch_read_seconds=silence).connect() as connection:
        yield connection


def bearers(server: ScriptedServer) -> list[str]:
    return [asked.headers.get("Authorization", "") for asked in server.asked]


async def test_a_token_file_is_read_again_after_a_minute(tmp_path: Path) -> None:
    clock = Clock()
    file = tmp_path / "bearer"
    async with scripted() as server:
        load = api.from_kubeconfig(kubeconfig(tmp_path, server, {"tokenFile": "bearer"}))
        client = ApiServer(load, clock=clock)
        file.write_text(FIRST)
        await ask(client)
        file.write_text(SECOND)
        await ask(client)
        clock.now += CREDENTIALS_SECONDS + 1
        await ask(client)

    assert bearers(server) == [f"Bearer {FIRST}", f"Bearer {FIRST}", f"Bearer {SECOND}"]


async def test_a_token_that_is_refused_is_read_again_at_once(tmp_path: Path) -> None:
    file = tmp_path / "bearer"
    async with scripted() as server:
        server.bearer = SECOND
        load = api.from_kubeconfig(kubeconfig(tmp_path, server, {"tokenFile": "bearer"}))
        client = ApiServer(load, clock=Clock())
        file.write_text(FIRST)
        with pytest.raises(ApiError, match="HTTP 401"):
            await ask(client)
        file.write_text(SECOND)
        await ask(client)

    assert bearers(server) == [f"Bearer {FIRST}", f"Bearer {SECOND}"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", " \n\n"])
async def test_space_around_a_token_is_not_part_of_it(tmp_path: Path, ending: str) -> None:
    (tmp_path / "bearer").write_text(FIRST + ending)
    async with scripted() as server:
        server.bearer = FIRST
        load = api.from_kubeconfig(kubeconfig(tmp_path, server, {"tokenFile": "bearer"}))
        await ask(ApiServer(load))

    assert bearers(server) == [f"Bearer {FIRST}"]


async def test_a_token_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with scripted() as server:
        file = kubeconfig(tmp_path, server, {"tokenFile": "bearer"})
        with pytest.raises(ApiError, match=r"kubeconfig .*No such file.*bearer"):
            await ask(ApiServer(api.from_kubeconfig(file)))

    assert server.asked == []


async def test_an_exec_plugin_is_run_again_after_a_minute(tmp_path: Path) -> None:
    clock = Clock()
    file = tmp_path / "bearer"
    async with scripted() as server:
        user = plugin(tmp_path, says(tmp_path))
        client = ApiServer(api.from_kubeconfig(kubeconfig(tmp_path, server, user)), clock=clock)
        file.write_text(FIRST)
        await ask(client)
        await ask(client)
        file.write_text(SECOND)
        clock.now += CREDENTIALS_SECONDS + 1
        await ask(client)

    assert bearers(server) == [f"Bearer {FIRST}", f"Bearer {FIRST}", f"Bearer {SECOND}"]
    assert runs(tmp_path) == 2


async def test_an_exec_plugin_is_run_again_when_its_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bearer"
    async with scripted() as server:
        server.bearer = SECOND
        user = plugin(tmp_path, says(tmp_path))
        client = ApiServer(api.from_kubeconfig(kubeconfig(tmp_path, server, user)), clock=Clock())
        file.write_text(FIRST)
        with pytest.raises(ApiError, match="HTTP 401"):
            await ask(client)
        file.write_text(SECOND)
        await ask(client)

    assert runs(tmp_path) == 2


async def test_an_exec_plugin_is_run_once_for_all_who_connect_at_once(tmp_path: Path) -> None:
    (tmp_path / "bearer").write_text(FIRST)
    async with scripted() as server:
        user = plugin(tmp_path, says(tmp_path))
        client = ApiServer(api.from_kubeconfig(kubeconfig(tmp_path, server, user)))
        await asyncio.gather(*(ask(client) for _ in range(5)))

    assert bearers(server) == [f"Bearer {FIRST}"] * 5
    assert runs(tmp_path) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("echo no >&2; exit 3", id="it fails"),
        pytest.param("echo '{'", id="it says no JSON"),
        pytest.param("exit 0", id="it says nothing"),
        pytest.param(
            'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"E","status":{}}\'',
            id="it says no token",
        ),
    ],
)
async def test_without_the_credentials_of_its_plugin_nobody_is_asked(
    tmp_path: Path, body: str
) -> None:
    async with scripted() as server:
        file = kubeconfig(tmp_path, server, plugin(tmp_path, body))
        with pytest.raises(ApiError, match=r"kubeconfig .*: its exec plugin gave no credentials"):
            await ask(ApiServer(api.from_kubeconfig(file)))

    assert server.asked == []


async def test_a_plugin_that_is_not_there_is_said(tmp_path: Path) -> None:
    user = plugin(tmp_path, "")
    (tmp_path / "plugin.sh").unlink()
    async with scripted() as server:
        file = kubeconfig(tmp_path, server, user)
        with pytest.raises(ApiError, match="its exec plugin gave no credentials"):
            await ask(ApiServer(api.from_kubeconfig(file)))


async def test_credentials_that_do_not_come_are_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api, "LOAD_SECONDS", 0.01)

    async def hangs() -> Any:
        await asyncio.Event().wait()

    with pytest.raises(ApiError, match=r"credentials: none within 0\.01 s"):
        await ask(ApiServer(hangs))


async def test_a_kubeconfig_that_is_mended_is_read_at_the_next_try(tmp_path: Path) -> None:
    async with scripted() as server:
        client = ApiServer(api.from_kubeconfig(str(tmp_path / "kubeconfig")))
        (tmp_path / "kubeconfig").write_text("current-context: here\nclusters:\n- {")
        with pytest.raises(ApiError, match="kubeconfig"):
            await ask(client)
        kubeconfig(tmp_path, server)

        assert b"resourceVersion" in await ask(client)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("current-context: [", id="no YAML"),
        pytest.param("\x00", id="a control character"),
        pytest.param("- a", id="a list"),
        pytest.param("text", id="text"),
        pytest.param("{clusters: [], contexts: [], users: []}", id="no context"),
        pytest.param(
            "{current-context: a, clusters: [], contexts: [], users: []}", id="unknown context"
        ),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)

    with pytest.raises(ApiError, match=f"kubeconfig {file}: "):
        await ask(ApiServer(api.from_kubeconfig(str(file))))


async def test_a_kubeconfig_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(ApiError, match="kubeconfig"):
        await ask(ApiServer(api.from_kubeconfig(str(tmp_path / "nowhere"))))


def test_a_kubeconfig_must_be_there_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cluster\.kubeconfig: .*nowhere does not exist"):
        api.require_file(str(tmp_path / "nowhere"))

    (tmp_path / "kubeconfig").touch()
    api.require_file(str(tmp_path / "kubeconfig"))


async def test_the_environment_names_no_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scripted() as server, scripted() as other:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, other))
        (tmp_path / "mine").mkdir()
        await ask(ApiServer(api.from_kubeconfig(kubeconfig(tmp_path / "mine", server))))

    assert (len(server.asked), len(other.asked)) == (1, 0)


class Authorities:
    """Who signs for the server, and who for its clients; both can be replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.renew()

    def renew(self) -> None:
        """Other authorities, and files that hold what they signed."""
        self.servers, self.clients = trustme.CA(), trustme.CA()
        certificate = self.clients.issue_cert("leeway")
        self.servers.cert_pem.write_to_path(str(self._folder / "ca.crt"))
        certificate.cert_chain_pems[0].write_to_path(str(self._folder / "tls.crt"))
        certificate.private_key_pem.write_to_path(str(self._folder / "tls.key"))

    def context(self) -> ssl.SSLContext:
        """For the server: it asks for a certificate."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.servers.issue_cert("127.0.0.1").configure_cert(context)
        self.clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


async def test_certificates_and_authorities_are_read_again(tmp_path: Path) -> None:
    authorities = Authorities(tmp_path)
    user = {"client-certificate": "tls.crt", "client-key": "tls.key"}
    async with scripted(authorities.context()) as server:
        file = kubeconfig(tmp_path, server, user, **{"certificate-authority": "ca.crt"})
        client = ApiServer(api.from_kubeconfig(file), clock=Clock())
        await ask(client)
        await server.stop()
        authorities.renew()
        await server.start(authorities.context())
        await ask(client)

    assert len(server.asked) == 2


async def test_a_server_that_another_authority_vouches_for_is_not_told_the_token(
    tmp_path: Path,
) -> None:
    authorities = Authorities(tmp_path)
    context = authorities.context()
    authorities.renew()
    (tmp_path / "bearer").write_text(FIRST)
    async with scripted(context) as server:
        user = {"tokenFile": "bearer"}
        file = kubeconfig(tmp_path, server, user, **{"certificate-authority": "ca.crt"})
        with pytest.raises(
            ApiError,
            match=r"certificate of https://.* cannot be trusted: unable to get local issuer",
        ):
            await ask(ApiServer(api.from_kubeconfig(file)))

    assert server.asked == []


async def test_an_authority_that_cannot_be_read_is_said_and_read_again(tmp_path: Path) -> None:
    authorities = Authorities(tmp_path)
    text = (tmp_path / "ca.crt").read_text()
    (tmp_path / "ca.crt").write_text("no certificate")
    user = {"client-certificate": "tls.crt", "client-key": "tls.key"}
    async with scripted(authorities.context()) as server:
        file = kubeconfig(tmp_path, server, user, **{"certificate-authority": "ca.crt"})
        client = ApiServer(api.from_kubeconfig(file))
        with pytest.raises(ApiError, match="credentials: "):
            await ask(client)
        (tmp_path / "ca.crt").write_text(text)
        await ask(client)

    assert len(server.asked) == 1


@pytest.fixture
def service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that Kubernetes gives to a pod."""
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    return tmp_path


async def test_the_credentials_of_a_pod_and_their_rotation(
    service_account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(service_account / "ca.crt"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with scripted(context) as server:
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        client = ApiServer(api.in_cluster, clock=clock)
        server.bearer = FIRST
        (service_account / "token").write_text(FIRST)
        await ask(client)
        (service_account / "token").write_text(SECOND + "\n")
        clock.now += CREDENTIALS_SECONDS + 1
        server.bearer = SECOND
        await ask(client)

    assert [text.split()[1] for text in bearers(server)] == [FIRST, SECOND]


async def test_a_pod_without_a_service_account_says_so(
    service_account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    assert not os.listdir(service_account)

    with pytest.raises(ApiError, match=r"in-cluster credentials: .*token file does not exist"):
        await ask(ApiServer(api.in_cluster))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(410, ApiGoneError, id="410"),
        pytest.param(400, ApiUnsupportedError, id="400"),
        pytest.param(422, ApiUnsupportedError, id="422"),
        pytest.param(401, ApiError, id="401"),
        pytest.param(403, ApiForbiddenError, id="403"),
        pytest.param(404, ApiError, id="404"),
        pytest.param(429, ApiError, id="429"),
        pytest.param(500, ApiError, id="500"),
        pytest.param(503, ApiError, id="503"),
    ],
)
async def test_what_a_status_means(status: int, expected: type[ApiError]) -> None:
    async with scripted() as server, connected(server) as connection:
        server.on_list("nodes", Answer(status, "x" * 5_000))
        server.on_watch("nodes", Answer(status, "x" * 5_000))
        with pytest.raises(ApiError, match=rf"^GET {NODES}: HTTP {status}: .*xxx") as got:
            await connection.get(NODES, {})
        with pytest.raises(ApiError, match=rf"^GET {NODES}: HTTP {status}: .*xxx") as streamed:
            _ = [piece async for piece in connection.stream(NODES, WATCH)]

    assert type(got.value) is type(streamed.value) is expected
    assert len(str(got.value)) < 400


async def test_a_body_is_handed_out_whole() -> None:
    async with scripted() as server, connected(server) as connection:
        server.put("nodes", node_json("a"))
        body = await connection.get(NODES, {"limit": "5"})

    assert b'"name":"a"' in body
    assert server.asked[0].params == {"limit": "5"}


async def test_a_stream_says_first_that_it_is_connected() -> None:
    async with scripted() as server, connected(server) as connection:
        server.on_watch("nodes", Broken(after=1, steps=(b"one\ntwo", End.CLOSE)))
        server.put("nodes", node_json("a"))
        pieces = [piece async for piece in connection.stream(NODES, WATCH)]

    assert pieces[0] == b""
    assert b"".join(pieces).endswith(b"one\ntwo")


@pytest.mark.parametrize("end", [End.ABORT, End.HALF_CLOSE, End.SILENT], ids=lambda e: e.value)
async def test_a_stream_that_breaks_off_is_an_error(end: End) -> None:
    async with scripted() as server, connected(server, silence=0.1) as connection:
        server.on_watch("nodes", Broken(after=1, steps=(b"one", end)))
        server.put("nodes", node_json("a"))
        with pytest.raises(ApiError, match=f"^watch {NODES}: ") as caught:
            _ = [piece async for piece in connection.stream(NODES, WATCH)]

    assert type(caught.value) is ApiError


async def test_a_body_that_breaks_off_is_an_error() -> None:
    async with scripted() as server, connected(server) as connection:
        server.on_list("nodes", CutOff())
        with pytest.raises(ApiError, match=f"^GET {NODES}: "):
            await connection.get(NODES, {})


async def test_a_body_that_does_not_come_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LIST_READ_SECONDS", 0.05)
    async with scripted() as server, connected(server) as connection:
        server.on_list("nodes", Held(asyncio.Event()))
        with pytest.raises(ApiError, match=f"^GET {NODES}: no answer from http.* for 0.05 s"):
            await connection.get(NODES, {})


async def test_nobody_there_is_an_error() -> None:
    async with scripted() as server, connected(server) as connection:
        await server.stop()
        with pytest.raises(ApiError, match=f"^GET {NODES}: cannot connect to {server.url}: "):
            await connection.get(NODES, {})
        with pytest.raises(ApiError, match=f"^watch {NODES}: cannot connect to {server.url}: "):
            _ = [piece async for piece in connection.stream(NODES, WATCH)]


async def test_a_stream_that_is_let_go_closes_its_connection() -> None:
    async with scripted() as server, connected(server) as connection:
        stream = connection.stream(NODES, WATCH)
        await anext(stream)
        begun = server.streams()
        await stream.aclose()
        await eventually(lambda: not server.streams())

        assert (begun, server.streams()) == (1, 0)


async def test_making_a_connection_does_not_hold_up_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_in: list[int] = []

    class Noted(client.ApiClient):  # type: ignore[misc]
        """Reading authorities takes 50 ms where the system's are used."""

        def __init__(self, *arguments: Any) -> None:
            made_in.append(threading.get_ident())
            super().__init__(*arguments)

    monkeypatch.setattr(client, "ApiClient", Noted)
    async with scripted() as server:
        await ask(ApiServer(anonymous(server)))

    assert made_in
    assert threading.get_ident() not in made_in
