"""What kubectl is told when it completes `kubectl leeway ...`."""

import asyncio
from pathlib import Path

import pytest

from tests.cli import process
from tests.cluster.apiserver import scripted
from tests.cluster.test_api import kubeconfig
from tests.cluster.test_lookup import made

SCRIPT = (str(Path(process.SCRIPT).with_name("kubectl_complete-leeway")),)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(("ver",), ["version", ":4"], id="a command"),
        pytest.param(("config", ""), ["print", ":4"], id="the command of a command"),
        pytest.param(("explain", "--nod"), ["--node", ":0"], id="a flag"),
        pytest.param(("serve", "--log-format", ""), ["json", "text", ":4"], id="a choice"),
        pytest.param(("serve", "--config", "x"), [":0"], id="a file"),
        pytest.param(("completion", "z"), ["zsh", ":4"], id="a value"),
        pytest.param(("explain", "web"), [":0"], id="a pod of no cluster"),
        pytest.param(("explain", "--context", ""), [":4"], id="a context of nobody"),
        pytest.param(("dance", ""), None, id="no command"),
        pytest.param((), None, id="nothing"),
    ],
)
def test_what_is_offered(words: tuple[str, ...], offered: list[str] | None) -> None:
    ended = process.run(*words, command=SCRIPT)

    assert (ended.code, ended.err) == (0, "")
    if offered is None:
        assert {"explain", "scan", ":4"} <= set(ended.out.split())
    else:
        assert ended.out.split() == offered


async def test_names_of_the_cluster(tmp_path: Path) -> None:
    async with scripted() as server:
        server.put("pods", made("web-1"), made("other"))
        file = kubeconfig(tmp_path, server)

        def ask() -> process.Ended:
            return process.run("explain", "-n", "shop", "--kubeconfig", file, "w", command=SCRIPT)

        assert (await asyncio.to_thread(ask)).out.split() == ["web-1", ":0"]
