"""Stories of a person who types what works with kubectl, on a real API server."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import yaml

from tests.builders import taint, toleration
from tests.cli import process
from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.credentials import ADMIN, LEEWAY
from tests.e2e.objects import deployment, node, pod

SLA = "node.example.com/sla"


def contexts(cluster: Cluster, folder: Path) -> str:
    """$KUBECONFIG: one file that is not there, one with contexts, and those with the rest."""
    file = folder / "contexts"
    listed = {
        "story": {"cluster": "loopback", "user": ADMIN, "namespace": cluster.namespace},
        "poor": {"cluster": "loopback", "user": LEEWAY, "namespace": cluster.namespace},
        "expired": {"cluster": "loopback", "user": "nobody"},
        "elsewhere": {"cluster": "nowhere", "user": ADMIN},
    }
    content = {
        "current-context": "story",
        "contexts": [{"name": name, "context": each} for name, each in listed.items()],
        "users": [{"name": "nobody", "user": {"token": "expired"}}],
        "clusters": [{"name": "nowhere", "cluster": {"server": "https://127.0.0.1:1"}}],
    }
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    others = [str(cluster.plane.kubeconfig(user)) for user in (ADMIN, LEEWAY)]
    return ":".join([str(folder / "missing"), str(file), *others])


async def leeway(kubeconfig: str, *arguments: str) -> process.Ended:
    return await asyncio.to_thread(lambda: process.run(*arguments, KUBECONFIG=kubeconfig))


async def explained(kubeconfig: str, *arguments: str) -> tuple[str, str]:
    """Kind and name of what was explained."""
    ended = await leeway(kubeconfig, "explain", *arguments, "-o", "json")
    assert ended.err == ""
    subject = json.loads(ended.out)["pod"]
    return subject["kind"], subject["name"]


async def test_pods_are_found_as_kubectl_finds_them(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.add(node("free"))
    await cluster.run(pod("alone", labels={"app": "alone"}))
    await cluster.deploy(deployment("web", 2))
    await cluster.deploy(deployment("idle", 0))
    placed = await cluster.placements(2, app="web")
    kubeconfig = contexts(cluster, tmp_path)

    assert await explained(kubeconfig, "alone") == ("Pod", "alone")
    assert await explained(kubeconfig, "po/alone", "--context", "story") == ("Pod", "alone")
    assert await explained(kubeconfig, "-l", "app=alone") == ("Pod", "alone")
    kind, name = await explained(kubeconfig, "deploy/web")
    assert kind == "Pod"
    assert name in placed
    assert await explained(kubeconfig, "deployment/idle") == ("Deployment", "idle")
    scanned = await leeway(kubeconfig, "scan", "-A", "-o", "json")
    assert scanned.code in (0, 3)
    assert json.loads(scanned.out)["notListed"] == []
    names = await leeway(kubeconfig, "__complete", "pods", "explain", "deploy/")
    assert names.out.split() == ["deploy/idle", "deploy/web"]


async def test_what_goes_wrong_is_one_sentence(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.add(node("free"))
    await cluster.run(pod("alone"))
    kubeconfig = contexts(cluster, tmp_path)
    said = {
        " ".join(arguments): (await leeway(kubeconfig, "explain", *arguments)).err
        for arguments in (
            ("alnoe",),
            ("alone", "-n", f"{cluster.namespace}x"),
            ("alone", "-n", "default"),
            ("deploy/web", "--context", "poor"),
            ("alone", "--context", "expired"),
            ("alone", "--context", "elsewhere"),
            ("alone", "--context", "elsewhree"),
        )
    }
    here = cluster.namespace

    assert list(said.values()) == [
        f"leeway: pods \"alnoe\" not found in namespace '{here}'; did you mean alone?\n",
        f"leeway: pods \"alone\" not found: there is no namespace '{here}x';"
        f" did you mean {here}?\n",
        f"leeway: pods \"alone\" not found in namespace 'default'; there is one with -n {here}\n",
        f'leeway: deployments.apps "web" is forbidden: User "{LEEWAY}" cannot get resource'
        f' "deployments" in API group "apps" in the namespace "{here}"\n',
        "leeway: the API server does not accept your credentials (Unauthorized): they may have"
        " expired; log in again, or check the user of your context in the kubeconfig\n",
        "leeway: cannot connect to https://127.0.0.1:1: Connection refused; check that the API"
        " server runs, and that your context is the right one\n",
        f"leeway: kubeconfig {kubeconfig.partition(':')[2]}: there is no context 'elsewhree';"
        " did you mean elsewhere?\n",
    ]


async def test_it_is_a_plugin_of_kubectl(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.add(node("spot", taint(SLA, "800")))
    await cluster.refused(pod("report", toleration(SLA, "Gt", "900")))
    kubeconfig = contexts(cluster, tmp_path)

    def kubectl(*arguments: str) -> subprocess.CompletedProcess[str]:
        folder = Path(process.KUBECTL_SCRIPT).parent
        return subprocess.run(  # noqa: S603 - our own command
            [binaries.obtain() / "kubectl", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=process.environment()
            | {"PATH": f"{folder}:{os.environ['PATH']}", "KUBECONFIG": kubeconfig},
        )

    told, usage, slip, plugins, completed = await asyncio.gather(
        asyncio.to_thread(kubectl, "leeway", "explain", "report"),
        asyncio.to_thread(kubectl, "leeway", "help", "explain"),
        asyncio.to_thread(kubectl, "leeway", "exlpain"),
        asyncio.to_thread(kubectl, "plugin", "list"),
        asyncio.to_thread(kubectl, "__complete", "leeway", "explain", "rep"),
    )

    assert (told.returncode, told.stderr) == (1, "")
    assert f"Pod {cluster.namespace}/report" in told.stdout
    assert usage.stdout.startswith("usage: kubectl leeway explain ")
    assert slip.returncode == 2
    assert slip.stderr.startswith(
        "kubectl leeway: there is no command 'exlpain'; did you mean explain?"
    )
    assert process.KUBECTL_SCRIPT in plugins.stdout
    assert completed.stdout.split() == ["report", ":0"]  # and files
