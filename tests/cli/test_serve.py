"""`leeway serve` as a process: how it starts, hears signals and ends."""

import contextlib
import http.client
import json
import re
import signal
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from tests import admitting
from tests.builders import node_json, pod_json, taint
from tests.cli import process
from tests.cli.process import Ended, Serving, serving, until
from tests.serving import EXPECTING, head, names_request, nodes_request, whole

HEAD = "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"
BODY = json.dumps(names_request(pod_json(), "plain-node")).encode()
LISTENING = r"{} listening on 127\.0\.0\.1:[1-9][0-9]* \({}\)"


def cluster(folder: Path, *names: str) -> Path:
    file = folder / "cluster.yaml"
    nodes = ({"kind": "Node", **node_json(name)} for name in names)
    file.write_text("---\n".join(json.dumps(node) + "\n" for node in nodes))
    return file


def names(answer: Any) -> list[str]:
    return list(answer["NodeNames"])


def refused(*arguments: str) -> list[str]:
    """What a `leeway serve` that cannot start says, a problem a line."""
    ended = process.run("serve", *process.ON_FREE_PORTS, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err
    lines = ended.err.splitlines()
    assert all(line.startswith("leeway: ") for line in lines)
    return [line.removeprefix("leeway: ") for line in lines]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param((process.SCRIPT,), id="leeway"),
        pytest.param(process.MODULE, id="python -m extender"),
    ],
)
def test_it_serves_a_cluster_from_files(tmp_path: Path, command: tuple[str, ...]) -> None:
    file = cluster(tmp_path, "plain-node")
    with serving(tmp_path, "--cluster", str(file), command=command) as server:
        answer = server.ask("filter", names_request(pod_json(), "plain-node"))
        scores = server.ask("prioritize", names_request(pod_json(), "plain-node"))
        ready = server.get("/readyz")
        _, status = server.get("/status")
        code = server.stop()

    assert re.fullmatch(LISTENING.format("scheduler", "http"), server.lines[0])
    assert re.fullmatch(LISTENING.format("ops", "http"), server.lines[1])
    assert names(answer) == ["plain-node"]
    assert scores == []  # no node is better than another
    assert ready == (200, "ok")
    assert json.loads(status)["cluster"] == f"1 nodes from {file}"
    assert code == 0


def test_without_a_cluster_only_whole_nodes_are_judged(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        by_name = server.ask("filter", names_request(pod_json(), "plain-node"))
        spot = node_json("spot", taint("sla", "950"))
        whole_node = server.ask("filter", nodes_request(pod_json(), spot))

    assert by_name["Error"].startswith("no cluster source")
    assert list(whole_node["FailedAndUnresolvableNodes"]) == ["spot"]


@pytest.mark.parametrize("name", [".kube/config", "missing"])
def test_kubeconfig_of_the_environment_is_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text(
        "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
    )
    file, home = str(tmp_path / name), str(tmp_path)
    with serving(tmp_path, KUBECONFIG=file, HOME=home) as server:
        assert server.get("/readyz") == (200, "ok")
        assert "no cluster source" in server.get("/readyz?verbose")[1]
    controller = process.run("controller", KUBECONFIG=file, HOME=home)

    assert controller.code == 2
    assert "leeway controller needs the cluster that it writes to" in controller.err


def test_the_configuration_file_is_used(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        HEAD
        + "reasons: redacted\n"
        + f"cluster: {{files: [{cluster(tmp_path, 'plain-node')}]}}\n"
        + "listen: {scheduler: 127.0.0.1:1, ops: 127.0.0.1:1}\n"
    )
    with serving(tmp_path, "--config", str(file)) as server:
        spot = node_json("spot", taint("sla", "950"))
        answer = server.ask("filter", nodes_request(pod_json(), spot))

    assert answer["FailedAndUnresolvableNodes"] == {"spot": "node(s) had untolerated taint(s)"}


def test_gates_and_limits_by_flags(tmp_path: Path) -> None:
    gate = "TaintTolerationComparisonOperators=false"
    with serving(tmp_path, "--feature-gates", gate, "--max-request-bytes", "5000") as server:
        pod = pod_json({"key": "sla", "operator": "Gt", "value": "900"})
        spot = node_json("spot", taint("sla", "950"))
        answer = server.ask("filter", nodes_request(pod, spot))
        with server.connect() as connection:
            connection.sendall(head("filter", "Content-Length: 5001"))
            reply = connection.recv(12)

    assert list(answer["FailedAndUnresolvableNodes"]) == ["spot"]
    assert reply == b"HTTP/1.1 413"


def test_every_problem_is_told_before_anything_listens(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + "color: blue\nprofiles: [{plugins: [{name: Nope}]}]\n")
    problems = refused("--config", str(file), "--catch-up", "soon", "--tls-cert-file", "a")

    assert len(problems) == 5
    for part in (
        f"{file}: color: unknown key",
        f"{file}: profiles[0].schedulerName: is missing",
        f"{file}: profiles[0].plugins[0].name: unknown plugin 'Nope'",
        "--catch-up: must be a duration",
        "keyFile: is missing",
    ):
        assert any(part in problem for problem in problems)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(None, "cannot be read: No such file or directory", id="missing"),
        pytest.param("kind: [", "line ", id="broken YAML"),
        pytest.param("kind: Node", "a Node has no metadata.name", id="a node without a name"),
        pytest.param(
            "kind: Node\nmetadata: {name: a}\nspec: {taints: [{value: 5}]}",
            "Node 'a': spec.taints[0].value must be text",
            id="a wrong type",
        ),
    ],
)
def test_a_cluster_file_that_cannot_be_used(tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "cluster.yaml"
    if content is not None:
        file.write_text(content)

    (problem,) = refused("--cluster", str(file))
    assert problem.startswith(f"{file}: {says}")


@pytest.mark.parametrize("listener", ["scheduler", "ops"])
def test_a_port_in_use_is_one_sentence(listener: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        (problem,) = refused(f"--{listener}-listen", address)

    assert problem.startswith(f"listen.{listener}: cannot listen on {address}: ")
    assert "in use" in problem


def test_a_host_that_is_not_here_is_one_sentence() -> None:
    (problem,) = refused("--scheduler-listen", "192.0.2.1:0")

    assert problem.startswith("listen.scheduler: cannot listen on 192.0.2.1:0: ")
    assert not problem.endswith((": None", ": Success"))


def test_admission_needs_a_certificate() -> None:
    (problem,) = refused("--admission-listen", "127.0.0.1:0")

    assert problem.startswith("listen.admission: needs a certificate")


def test_admission_listens_beside_the_others(tmp_path: Path) -> None:
    authority = trustme.CA()
    files = admitting.certificate(tmp_path, authority)
    with serving(
        tmp_path,
        *("--admission-listen", "127.0.0.1:0"),
        *("--admission-tls-cert-file", files.cert_file),
        *("--admission-tls-private-key-file", files.key_file),
    ) as server:
        assert server.process.stdout is not None
        line = server.process.stdout.readline().rstrip("\n")
        host, port = line.split()[3].rsplit(":", 1)
        with contextlib.closing(
            http.client.HTTPSConnection(host, int(port), context=admitting.trusting(authority))
        ) as connection:
            connection.request("POST", admitting.PATH, json.dumps(admitting.review(pod_json())))
            answer = json.loads(connection.getresponse().read())
        code = server.stop()

    assert re.fullmatch(LISTENING.format("scheduler", "http"), server.lines[0])
    assert re.fullmatch(LISTENING.format("admission", "https"), line)
    assert answer["response"] == {"uid": admitting.UID, "allowed": True}
    assert code == 0


def test_a_kubeconfig_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    (problem,) = refused("--kubeconfig", str(tmp_path / "missing.conf"))

    assert problem.startswith("cluster.kubeconfig")
    assert str(tmp_path / "missing.conf") in problem


def leaf(folder: Path, authority: trustme.CA) -> list[str]:
    """A certificate on disk, and the flags for it."""
    made = authority.issue_cert("127.0.0.1")
    made.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    made.private_key_pem.write_to_path(folder / "tls.key")
    return [
        "--tls-cert-file",
        str(folder / "tls.crt"),
        "--tls-private-key-file",
        str(folder / "tls.key"),
    ]


@pytest.mark.parametrize(
    ("keep", "missing"),
    [
        pytest.param(slice(0, 2), "keyFile", id="a certificate without a key"),
        pytest.param(slice(2, 4), "certFile", id="a key without a certificate"),
    ],
)
def test_half_of_tls_names_the_other_half(tmp_path: Path, keep: slice, missing: str) -> None:
    flags = leaf(tmp_path, trustme.CA())
    (problem,) = refused(*flags[keep])
    spelling = {"keyFile": "--tls-private-key-file", "certFile": "--tls-cert-file"}[missing]

    assert missing in problem or spelling in problem
    assert "is missing" in problem


def test_tls_files_that_cannot_be_loaded(tmp_path: Path) -> None:
    flags = leaf(tmp_path, trustme.CA())
    (tmp_path / "tls.key").unlink()
    (problem,) = refused(*flags)

    assert problem == f"TLS: {tmp_path / 'tls.key'} does not exist"


def test_a_key_behind_a_passphrase_is_refused_and_not_asked_for(tmp_path: Path) -> None:
    flags = leaf(tmp_path, trustme.CA())
    key = load_pem_private_key((tmp_path / "tls.key").read_bytes(), password=None)
    locked = BestAvailableEncryption(b"a passphrase")
    (tmp_path / "tls.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    (problem,) = refused(*flags)

    assert problem.startswith("TLS: ")
    assert str(tmp_path / "tls.key") in problem


def test_it_serves_tls_and_says_so(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.create_default_context()
    authority.configure_trust(context)
    file = cluster(tmp_path, "plain-node")
    flags = leaf(tmp_path, authority)
    with serving(tmp_path, "--cluster", str(file), *flags) as server:
        with (
            server.connect() as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        ):
            connection.sendall(whole("filter", BODY))
            reply = connection.recv(12)
        code = server.stop()

    assert re.fullmatch(LISTENING.format("scheduler", "https"), server.lines[0])
    assert re.fullmatch(LISTENING.format("ops", "http"), server.lines[1])
    assert reply == b"HTTP/1.1 200"
    assert code == 0


def begin(server: Serving) -> socket.socket:
    """A connection on which a request has begun and its body has not yet come."""
    connection = server.connect()
    connection.sendall(head("filter", f"Content-Length: {len(BODY)}", EXPECTING))
    assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
    return connection


def drained(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_finishes_what_has_begun_and_ends_with_0(
    tmp_path: Path, number: signal.Signals
) -> None:
    file = cluster(tmp_path, "plain-node")
    with (
        serving(tmp_path, "--cluster", str(file)) as server,
        server.connect() as idle,
        begin(server) as busy,
    ):
        idle.sendall(whole("filter", BODY))
        assert idle.recv(12) == b"HTTP/1.1 200"
        busy.sendall(BODY[:20])
        server.signal(number)
        until(lambda: server.get("/readyz")[0] == 503)
        _, report = server.get("/readyz?verbose")
        busy.sendall(BODY[20:])
        answer = drained(busy)
        drained(idle)
        code = server.ended()

    assert "[-]shutdown failed: draining" in report.splitlines()
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert names(json.loads(answer.split(b"\r\n\r\n")[1])) == ["plain-node"]
    assert code == 0


def test_a_request_that_never_ends_does_not_hold_up_the_end(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + "limits: {drainTimeout: 50ms}\n")
    with serving(tmp_path, "--config", str(file)) as server, begin(server):
        code = server.stop()

    assert code == 0
    assert "gave up on 1 request(s)" in server.logged()


def test_an_idle_server_ends_at_once(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.connect() as idle:
        idle.sendall(whole("filter", json.dumps(nodes_request(pod_json())).encode()))
        idle.recv(12)
        code = server.stop()
        drained(idle)

    assert code == 0


def test_sighup_reads_the_cluster_again_and_a_bad_file_keeps_the_old_one(tmp_path: Path) -> None:
    file = cluster(tmp_path, "old-node")
    both = names_request(pod_json(), "old-node", "new-node")
    with serving(tmp_path, "--cluster", str(file)) as server:
        before = names(server.ask("filter", both))
        file.write_text("kind: [")
        server.signal(signal.SIGHUP)
        until(lambda: "reload failed, keeping the old cluster" in server.logged())
        kept = names(server.ask("filter", both))
        cluster(tmp_path, "new-node")
        server.signal(signal.SIGHUP)
        until(lambda: f"reloaded: 1 nodes from {file}" in server.logged())
        after = names(server.ask("filter", both))
        code = server.stop()

    assert (before, kept, after) == (["old-node"], ["old-node"], ["new-node"])
    assert str(file) in server.logged()
    assert "Traceback" not in server.logged()
    assert code == 0


def test_sighup_without_a_cluster_does_no_harm(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.signal(signal.SIGHUP)
        until(lambda: "reloaded: no cluster source" in server.logged())

        assert server.get("/readyz") == (200, "ok")


def test_deep_nonsense_in_a_reload_keeps_the_old_cluster(tmp_path: Path) -> None:
    file = cluster(tmp_path, "old-node")
    with serving(tmp_path, "--cluster", str(file)) as server:
        file.write_text('{"kind": "Node", "metadata": {"x": ' + "[" * 900 + "]" * 900 + "}}")
        server.signal(signal.SIGHUP)
        until(lambda: "reload failed, keeping the old cluster" in server.logged())
        kept = names(server.ask("filter", names_request(pod_json(), "old-node")))

    assert kept == ["old-node"]
    assert "Traceback" not in server.logged()


def test_a_json_log_has_one_line_a_request_and_no_names_of_nodes(tmp_path: Path) -> None:
    file = cluster(tmp_path, "secret-node", "plain-node")
    config = tmp_path / "config.yaml"
    config.write_text(HEAD + "profiles: [{schedulerName: x, plugins: [{name: VolumeBinding}]}]\n")
    arguments = ("-v", "--cluster", str(file), "--log-format", "json", "--config", str(config))
    with serving(tmp_path, *arguments) as server:
        pod = pod_json(name="job-7", namespace="batch")
        server.ask("filter", names_request(pod, "secret-node", "plain-node", "strange-node"))
        server.ask("prioritize", nodes_request(pod, node_json("secret-node")))
        with server.connect() as connection:
            connection.sendall(whole("preempt", b"{"))
            assert connection.recv(12) == b"HTTP/1.1 400"
        server.stop()

    lines = [json.loads(line) for line in server.logged().splitlines()]
    requests = [line for line in lines if line["logger"] == "leeway.scheduler"]
    assert [line["message"] for line in requests] == ["filter", "prioritize", "preempt"]
    first, second, third = requests
    assert (first["mode"], first["pod"], first["nodes"], first["passed"]) == (
        "names",
        "batch/job-7",
        3,
        2,
    )
    assert (second["mode"], second["pod"], second["nodes"]) == ("nodes", "batch/job-7", 1)
    assert (third["level"], third["code"]) == ("warning", 400)
    assert not re.search("secret-node|plain-node|strange-node", server.logged())


def test_a_text_log_has_one_line_a_request(tmp_path: Path) -> None:
    with serving(tmp_path, "-v") as server:
        server.ask("filter", nodes_request(pod_json(name="job-7"), node_json("secret-node")))
        server.stop()

    requests = [line for line in server.logged().splitlines() if " leeway.scheduler " in line]
    (line,) = requests
    assert " debug leeway.scheduler filter mode=nodes pod=default/job-7 nodes=1 passed=1 " in line
    assert "secret-node" not in server.logged()


def test_only_calls_that_went_wrong_are_logged_unless_more_is_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.ask("filter", nodes_request(pod_json(), node_json("a")))
        server.ask("filter", names_request(pod_json(), "a"))  # there is no cluster to find it in
        server.stop()

    (line,) = [line for line in server.logged().splitlines() if " leeway.scheduler " in line]
    assert " warning leeway.scheduler filter mode=names " in line


def test_standard_output_holds_nothing_but_the_listeners(tmp_path: Path) -> None:
    with serving(tmp_path, "-v") as server:
        server.ask("filter", nodes_request(pod_json(), node_json("a")))
        server.signal(signal.SIGTERM)
        assert server.process.stdout is not None
        rest = server.process.stdout.read()

    assert rest == ""
    assert len(server.lines) == 2


def test_help_says_what_it_does() -> None:
    ended: Ended = process.run("serve", "--help")

    assert ended.code == 0
    assert "/filter, /prioritize and /preempt" in ended.out
