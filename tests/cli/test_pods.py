"""The pod that a person names, from each place where it can be."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from extender.cli import pods
from extender.cli.pods import Wanted
from extender.cli.sources import LiveCluster
from extender.cluster.api import ApiServer
from extender.errors import ConfigError, LeewayError, NotFoundError
from extender.review.explain.templates import Subject
from tests.builders import JSON
from tests.cluster.apiserver import Answer, ScriptedServer, anonymous, scripted
from tests.cluster.test_lookup import made


def deployment(name: str, namespace: str = "shop") -> JSON:
    labels = {"app": name}
    return {
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {}},
        },
    }


def replica(name: str, second: int = 0) -> JSON:
    """A pod of the Deployment `web`."""
    owner = ("ReplicaSet", "web-1")
    return made(name, second, owner=owner, app="web", pod_template_hash="1")


def named(subject: Subject) -> tuple[str, str, str]:
    meta = subject.pod.metadata
    return subject.kind, meta.namespace if meta else "", subject.name


# --- A live cluster ----------------------------------------------------------------------------


async def find(server: ScriptedServer, pod: str | None, **more: str) -> tuple[str, str, str]:
    cluster = LiveCluster(ApiServer(anonymous(server)), "shop")
    return named(await asyncio.to_thread(pods.find, Wanted(pod, **more), (), cluster))


async def sentence(server: ScriptedServer, pod: str | None, **more: str) -> str:
    with pytest.raises(LeewayError) as caught:
        await find(server, pod, **more)
    return getattr(caught.value, "message", str(caught.value))


async def test_a_pod_and_a_workload_of_the_namespace_of_the_context() -> None:
    async with scripted() as server:
        server.put("deployments", deployment("web"), deployment("idle"))
        server.put("pods", replica("web-a", 1), replica("web-b", 2), made("x", namespace="lab"))

        assert await find(server, "web-a") == ("Pod", "shop", "web-a")
        assert await find(server, "pod/web-a") == ("Pod", "shop", "web-a")
        assert await find(server, "x", namespace="lab") == ("Pod", "lab", "x")
        assert await find(server, "deploy/web") == ("Pod", "shop", "web-b")
        assert await find(server, "deployment/idle") == ("Deployment", "shop", "idle")
        assert await find(server, None, selector="app=web") == ("Pod", "shop", "web-b")


async def test_what_was_meant_is_named() -> None:
    async with scripted() as server:
        for name in ("shop", "lab"):
            server.put("namespaces", {"metadata": {"name": name}})
        server.put("pods", made("web-1"), made("report", namespace="lab"))
        server.put("deployments", deployment("web"))

        assert await sentence(server, "wbe-1") == (
            "pods \"wbe-1\" not found in namespace 'shop'; did you mean web-1?"
        )
        assert await sentence(server, "deploy/wbe") == (
            "deployments \"wbe\" not found in namespace 'shop'; did you mean web?"
        )
        assert await sentence(server, "report") == (
            "pods \"report\" not found in namespace 'shop'; there is one with -n lab"
        )
        assert await sentence(server, "web-1", namespace="shpo") == (
            "pods \"web-1\" not found: there is no namespace 'shpo'; did you mean shop?"
        )
        assert await sentence(server, None, selector="app=x") == (
            "no pod in namespace 'shop' has the labels app=x"
        )
        server.on_list("pods", Answer(403), Answer(403))
        assert await sentence(server, "wbe-1") == "pods \"wbe-1\" not found in namespace 'shop'"
        server.bearer = "somebody else"
        assert (await sentence(server, "x")).startswith("the API server does not accept your cred")


# --- Files -------------------------------------------------------------------------------------


@pytest.fixture
def dump(tmp_path: Path) -> str:
    """What `kubectl get -o json` prints."""
    items = [
        deployment("web"),
        deployment("idle"),
        *({"kind": "Pod", **each} for each in (replica("web-b", 2), replica("web-a", 1))),
        {"kind": "Pod", **made("lonely", namespace="default")},
    ]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": items}))
    return str(file)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted("lonely"), ("Pod", "default", "lonely")),
        (Wanted("web-a", namespace="shop"), ("Pod", "shop", "web-a")),
        (Wanted("deploy/web", namespace="shop"), ("Pod", "shop", "web-b")),
        (Wanted("deploy/idle", namespace="shop"), ("Deployment", "shop", "idle")),
    ],
)
def test_a_cluster_in_manifests(dump: str, wanted: Wanted, found: tuple[str, str, str]) -> None:
    assert named(pods.find(wanted, [dump], None)) == found


@pytest.mark.parametrize("word", ["deployment/web", "deploy/web", "deployments.apps/web"])
def test_one_of_a_file(dump: str, word: str) -> None:
    assert named(pods.find(Wanted(word, file=dump), (), None)) == ("Deployment", "shop", "web")


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (Wanted("wbe-a", namespace="shop"), "no pod shop/wbe-a in .*; did you mean web-a"),
        (Wanted("deploy/web"), "no deployment default/web in "),
        (Wanted(selector="app=web"), "-l chooses a pod of a live cluster"),
        (Wanted(), "which pod"),
    ],
)
def test_what_is_not_in_manifests(dump: str, wanted: Wanted, problem: str) -> None:
    with pytest.raises((ConfigError, NotFoundError), match=problem):
        pods.find(wanted, [dump], None)


def test_an_object_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    odd = {"kind": "Pod", "metadata": {"name": 5, "namespace": "shop"}}
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": [odd, {"kind": "Pod", **made("good")}]}))

    assert named(pods.find(Wanted("good", namespace="shop"), [str(file)], None))[2] == "good"


def test_a_manifest_gets_the_namespace_that_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.yaml").write_text("{kind: Pod, metadata: {name: p}}")
    (tmp_path / "web").write_text("{kind: Pod, metadata: {name: p}}")

    found = pods.find(Wanted("pod.yaml", namespace="lab"), (), None)
    assert named(found) == ("Pod", "lab", "p")
    with pytest.raises(ConfigError, match="which cluster"):
        pods.find(Wanted("web", namespace="lab"), (), None)


@pytest.mark.parametrize(
    ("word", "files", "problem"),
    [
        ("nowhere.yaml", (), "nowhere.yaml: no such file"),
        ("folder/nowhere", (), "folder/nowhere: no such file"),
        ("web", (), "which cluster"),
        ("deploy/web", (), "which cluster"),
        ("web", ("web",), "web: contains no pod and no workload"),
    ],
)
def test_a_word_is_a_file_if_it_looks_like_one_or_is_one(
    word: str,
    files: Sequence[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in files:
        Path(file).write_text("{}")
    with pytest.raises((ConfigError, NotFoundError), match=problem):
        pods.find(Wanted(word), (), None)
