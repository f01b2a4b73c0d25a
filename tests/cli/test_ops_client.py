"""The configuration that a running Leeway judges with."""

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from extender.cli import ops_client
from extender.errors import ConfigError
from tests.cli import process
from tests.cli.process import serving

GOLDEN = Path(__file__).parents[1] / "golden/explain"
GATE = "TaintTolerationComparisonOperators=false"
HUNGRY = ("explain", "-n", "batch", "hungry", "--cluster", str(GOLDEN / "advice.yaml"))


@contextlib.contextmanager
def answering(body: bytes) -> Iterator[str]:
    """A listener that is not Leeway's."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_explain_judges_as_the_running_leeway_does(tmp_path: Path) -> None:
    """Its gate is off, and that decides."""
    with serving(tmp_path, "--feature-gates", GATE) as server:
        ended = process.run(*HUNGRY, "--extender", "http://{}:{}/".format(*server.ops))
        server.stop()

    assert (ended.code, ended.err) == (1, "")
    assert ended.out == (GOLDEN / "advice-gate.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<html>", "HTTP 200, this is not Leeway's ops listener"),
        (b"\xff", "HTTP 200, this is not Leeway's ops listener"),
        (b"{}", "this Leeway does not say its configuration: use --config"),
        (
            json.dumps(
                {
                    "configuration": {
                        "apiVersion": "leeway.scheduling/v1alpha1",
                        "kind": "ExtenderConfiguration",
                        "later": 1,
                    }
                }
            ).encode(),
            "later: ",
        ),
    ],
)
def test_what_is_not_a_configuration_is_one_sentence(body: bytes, problem: str) -> None:
    with answering(body) as url, pytest.raises(ConfigError) as caught:
        ops_client.configuration(url)

    assert caught.value.problems[0].startswith(f"--extender {url}/status: {problem}")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--extender", "https://leeway"), "give http://HOST:PORT of the ops listener"),
        (("--extender", "http://127.0.0.1:1"), "ConnectionRefusedError"),
        (
            ("--extender", "http://127.0.0.1:1", "--feature-gates", GATE),
            "leave out --config and --feature-gates",
        ),
    ],
)
def test_what_cannot_be_asked(arguments: tuple[str, ...], problem: str) -> None:
    ended = process.run(*HUNGRY, *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err
    assert len(ended.err.splitlines()) == 1
