"""Ctrl-C at several moments: one line, and exit code 130. Processes are real."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import process
from tests.cluster.apiserver import Held, ScriptedServer, eventually, scripted
from tests.cluster.test_api import kubeconfig, plugin

# Starts the program as its script does, and sends SIGINT the moment a module is looked for.
AT_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
from extender.__main__ import main
sys.exit(main())
"""
AT_EXIT = """
import atexit, os, signal, sys
from extender.__main__ import main
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.exit(main())
"""
# A server that nobody finds: the thread that looks for its name hangs.
WITHOUT_AN_END = """
import socket, sys, time
def hang(*arguments, **more):
    print("hanging", flush=True)
    time.sleep(600)
socket.getaddrinfo = hang
from extender.__main__ import main
sys.exit(main())
"""
INTERRUPTED = process.Ended(130, "", "leeway: interrupted\n")


@contextlib.contextmanager
def started(*arguments: str, code: str = "") -> Iterator[subprocess.Popen[str]]:
    command = (sys.executable, "-c", code) if code else process.MODULE
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=process.environment(),
        start_new_session=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def interrupted(running: subprocess.Popen[str]) -> process.Ended:
    """What is left behind of a program, and of what it started, after Ctrl-C on a terminal."""
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate()
    return process.Ended(running.returncode, out, err)


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (("version",), "argparse"),
        (("validate", "x.yaml"), "extender.cli.validate"),
        (("validate", "x.yaml"), "msgspec"),
        (("serve",), "prometheus_client"),
    ],
)
def test_while_modules_are_imported(arguments: tuple[str, ...], module: str) -> None:
    code = AT_IMPORT.format(module=module)

    assert process.run(*arguments, command=(sys.executable, "-c", code)) == INTERRUPTED


def test_at_the_end() -> None:
    ended = process.run("version", command=(sys.executable, "-c", AT_EXIT))

    assert (ended.code, ended.err) == (INTERRUPTED.code, INTERRUPTED.err)


def test_while_a_file_is_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    pipe = tmp_path_factory.mktemp("pipes") / "pipe.yaml"
    subprocess.run(["/usr/bin/env", "mkfifo", str(pipe)], check=True)  # noqa: S603
    with started("validate", str(pipe)) as running, pipe.open("w", encoding="utf-8"):
        assert interrupted(running) == INTERRUPTED


async def test_while_a_server_that_does_not_answer_is_asked(tmp_path: Path) -> None:
    async with scripted() as server:
        server.on_list("nodes", Held(asyncio.Event()))
        file = kubeconfig(tmp_path, server)
        with started("scan", "--kubeconfig", file) as running:
            await eventually(lambda: server.asked)
            assert server.asked
            assert await asyncio.to_thread(interrupted, running) == INTERRUPTED


def test_while_a_plugin_gives_no_credentials(tmp_path: Path) -> None:
    begun = tmp_path / "runs"
    user = plugin(tmp_path, "sleep 600")
    file = kubeconfig(tmp_path, ScriptedServer(), user)
    with started("scan", "--kubeconfig", file) as running:
        process.until(begun.exists)
        assert interrupted(running) == INTERRUPTED


def test_while_the_name_of_a_server_is_looked_up(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, ScriptedServer())
    text = Path(file).read_text(encoding="utf-8").replace("127.0.0.1", "nowhere.example.com")
    Path(file).write_text(text, encoding="utf-8")
    with started("scan", "--kubeconfig", file, code=WITHOUT_AN_END) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "hanging\n"
        assert interrupted(running) == INTERRUPTED
