"""Names for shell completion, of a scripted cluster."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builders import node_json
from tests.cli import process
from tests.cluster.apiserver import Held, ScriptedServer, scripted
from tests.cluster.test_api import kubeconfig
from tests.cluster.test_lookup import made


def stocked(server: ScriptedServer) -> None:
    server.put("pods", made("web-1"), made("web-2"), made("p", namespace="default"))
    server.put("deployments", made("web"))
    server.put("nodes", node_json("n1"))
    server.put("namespaces", {"metadata": {"name": "shop"}}, {"metadata": {"name": "default"}})


async def offered(*words: str, environment: str = "") -> process.Ended:
    def run() -> process.Ended:
        return process.run("__complete", *words, KUBECONFIG=environment)

    return await asyncio.to_thread(run)


async def test_names_of_the_cluster_that_the_words_name(tmp_path: Path) -> None:
    async with scripted() as server:
        stocked(server)
        file = kubeconfig(tmp_path, server)
        answers = [
            await offered(*words)
            for words in (
                ("pods", "explain", "--kubeconfig", file, ""),
                ("pods", "explain", f"--kubeconfig={file}", "-n", "shop", "w"),
                ("pods", "explain", "--kubeconfig", "=", file, "--namespace", "=", "shop", ""),
                ("pods", "explain", "--kubeconfig", file, "-n", "shop", "deploy/"),
                ("nodes", "explain", "--kubeconfig", file, "--node", ""),
                ("namespaces", "explain", "--kubeconfig", file, "-n", ""),
                ("contexts", "explain", "--kubeconfig", file, "--context", ""),
                ("pods", "explain", "--kubeconfig", file, "--cluster", "x.yaml", ""),
            )
        ]
        from_environment = await offered("contexts", "", environment=file)

    assert [each.out.split() for each in answers] == [
        ["p"],
        ["web-1", "web-2"],
        ["web-1", "web-2"],
        ["deploy/web"],
        ["n1"],
        ["default", "shop"],
        ["here"],
        [],
    ]
    assert from_environment.out.split() == ["here"]
    assert {(each.code, each.err) for each in answers} == {(0, "")}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("dances", ""),
        ("pods", ""),
        ("pods", "--kubeconfig", "/nowhere", ""),
        ("contexts", "--kubeconfig", __file__, ""),
    ],
)
async def test_what_fails_says_nothing(words: tuple[str, ...]) -> None:
    assert await offered(*words) == process.Ended(0, "", "")


async def test_a_server_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    async with scripted() as server:
        server.on_list("pods", Held(asyncio.Event()))
        file = kubeconfig(tmp_path, server)

        assert await offered("pods", "--kubeconfig", file, "") == process.Ended(0, "", "")


BASH = """
source <(leeway completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { :; }  # only works while a person types
_leeway
printf '%s\\n' "${COMPREPLY[@]}"
"""


async def test_bash_offers_them_beside_files(tmp_path: Path) -> None:
    async with scripted() as server:
        stocked(server)
        file = kubeconfig(tmp_path, server)
        (tmp_path / "web.yaml").touch()

        def ask(*words: str) -> set[str]:
            folder = Path(process.SCRIPT).parent
            done = subprocess.run(  # noqa: S603 - our own script
                [shutil.which("bash") or "bash", "--norc", "-c", BASH, "bash", "leeway", *words],
                capture_output=True,
                text=True,
                check=True,
                cwd=tmp_path,
                env=process.environment()
                | {"PATH": f"{folder}:{os.environ['PATH']}", "KUBECONFIG": file},
            )
            assert done.stderr == ""
            return set(done.stdout.split())

        pods = await asyncio.to_thread(ask, "explain", "-n", "shop", "web")
        flags = await asyncio.to_thread(ask, "explain", "--nod")
        context = await asyncio.to_thread(ask, "explain", "--context", "h")

    assert pods == {"web-1", "web-2", "web.yaml"}
    assert flags == {"--node"}
    assert context == {"here"}
