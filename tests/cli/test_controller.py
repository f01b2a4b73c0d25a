"""`leeway controller`: how it starts, says where it listens, and ends."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from extender.cli import controller
from extender.cluster import api
from extender.cluster.api import ApiServer
from extender.config.schema import Address, Config, LeaderElection, Listen
from tests.cli import process
from tests.cluster.apiserver import anonymous, eventually, scripted
from tests.control.building import GOLD, SYSTEM, equal, node_of, pod_of

CONFIG = Config(
    listen=Listen(ops=Address("127.0.0.1", 0)), leader_election=LeaderElection(leader_elect=False)
)


async def test_it_writes_until_it_is_told_to_stop(capsys: pytest.CaptureFixture[str]) -> None:
    async with scripted() as server:
        server.put("nodes", node_of("a", "950"))
        server.put("pods", pod_of(GOLD))
        running = asyncio.create_task(controller._control(CONFIG, ApiServer(anonymous(server))))
        pods = server.objects["pods"]
        await eventually(lambda: len(pods["default/web-0"]["spec"]["tolerations"]) > 1, 10)
        os.kill(os.getpid(), signal.SIGTERM)
        await running

    assert pods["default/web-0"]["spec"]["tolerations"] == [SYSTEM, equal("950")]
    assert capsys.readouterr().out.startswith("ops listening on 127.0.0.1:")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(
            [],
            "cluster.kubeconfig: leeway controller needs the cluster that it writes to",
            id="no cluster",
        ),
        pytest.param(
            ["--kubeconfig", "nowhere"],
            "cluster.kubeconfig: nowhere does not exist",
            id="a kubeconfig that does not exist",
        ),
    ],
)
def test_it_does_not_start_without_a_cluster(
    arguments: list[str], problem: str, tmp_path: Path
) -> None:
    ended = process.run_here("controller", *arguments, cwd=tmp_path)

    assert (ended.code, ended.err) == (2, f"leeway: {problem}\n")


def test_it_ends_well_as_a_process(tmp_path: Path) -> None:
    with process.controlling(tmp_path) as (child, first):
        child.send_signal(signal.SIGTERM)
        code = child.wait()

    assert (code, first.startswith("ops listening on 127.0.0.1:")) == (0, True)


def test_in_its_cluster_it_uses_its_service_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")

    assert controller._credentials(CONFIG) is api.in_cluster
