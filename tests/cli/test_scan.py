"""`leeway scan`, through its real command line."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from extender.cluster import listing
from tests.builders import JSON, node_json, taint, toleration
from tests.cli import pages, process, terminal
from tests.cluster.apiserver import PATHS, WORKLOADS, Answer, ScriptedServer, scripted
from tests.cluster.test_api import kubeconfig
from tests.review.scan.scanning import a_pod, owned_by, workload
from tests.test_docs import table

EXAMPLES = ("deploy/examples/workloads.yaml", "deploy/examples/cluster.yaml")
RULE = toleration("sla", "Gt", "900")


def scan(*arguments: str, given: str = "") -> process.Ended:
    return process.run_here("scan", *arguments, given=given, cwd=pages.ROOT)


def as_data(*arguments: str, given: str = "") -> Any:
    ended = scan("-o", "json", *arguments, given=given)
    assert ended.err == ""
    return json.loads(ended.out)


# --- Manifests ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "output"), pages.shown("docs/scan.md"))
def test_the_output_of_the_page_is_real(command: str, output: str) -> None:
    assert pages.printed(command) == output


def test_mistakes_of_people_are_found() -> None:
    golden = pages.ROOT / "tests/golden/mistakes"
    ended = scan(str(golden / "workloads.yaml"))

    assert ended.out == (golden / "scan.txt").read_text(encoding="utf-8")
    assert ended.code == 1


def test_a_namespace_and_a_selector_narrow_the_scan() -> None:
    batch = as_data("-n", "batch", *EXAMPLES)
    report = as_data("-l", "app=nightly-report", *EXAMPLES)
    nothing = as_data("-n", "batch", "-l", "app in (none)", *EXAMPLES)

    assert {each["namespace"] for each in batch["rules"]} == {"batch"}
    assert {each["name"] for each in report["rules"]} == {"nightly-report"}
    assert nothing["rules"] == []
    assert nothing["scanned"] == {"Node": 12}


def test_a_selector_that_is_none_is_refused() -> None:
    ended = process.run("scan", "-l", "app>1", *EXAMPLES, cwd=pages.ROOT)

    assert ended.code == 2
    assert "'app>1' is not a label selector" in ended.err


def test_the_same_as_data() -> None:
    ended = scan("-o", "json", *EXAMPLES)
    page = json.loads(ended.out)

    assert ended.code == 3
    assert page["scanned"]["Node"] == 12
    assert page["gates"]["TaintTolerationComparisonOperators"] == {"workloads": 2, "pods": 1}
    assert page["rules"][1] == {
        "gate": "TaintTolerationComparisonOperators",
        "operator": "Gt",
        "carrier": "annotation",
        "path": "metadata.annotations[scheduling.leeway/tolerations][0]",
        "rule": "node.kubernetes.io/sla Gt 900 NoSchedule",
        "kind": "Deployment",
        "namespace": "batch",
        "name": "nightly-report",
        "objects": {"Deployment": 1, "Pod": 1, "ReplicaSet": 1},
    }
    assert page["pending"][0]["reasons"] == {
        "node(s) didn't match Pod's node affinity/selector": 12
    }
    assert {re.sub(r"\[.*", "", key) for key in table(pages.ROOT / "docs/scan.md", "As data")} == (
        set(page)
    )
    assert yaml.safe_load(scan("-o", "yaml", *EXAMPLES).out) == page


def test_a_cluster_in_compile_mode() -> None:
    ended = scan("-o", "json", "tests/golden/compile/cluster.yaml")
    page = json.loads(ended.out)
    plain = {"key": "node.kubernetes.io/sla", "operator": "Equal", "effect": "NoSchedule"}

    assert ended.code == 1  # an annotation that cannot be read, as ever
    assert [(each["name"], each["state"], each["missing"]) for each in page["notCompiled"]] == [
        ("report", "behind", [plain | {"value": "980"}]),
        ("typo", "refused", []),
    ]
    assert page["toleratedWithoutRule"] == [
        {
            "kind": "Pod",
            "namespace": "batch",
            "name": "archive",
            "workload": "Pod batch/archive",
            "tolerations": [plain | {"value": "950"}],
        }
    ]
    assert page["daemonSets"][0]["plainTolerations"] == [
        plain | {"value": "950"},
        plain | {"value": "980"},
    ]


def test_standard_input_and_lists() -> None:
    items = [workload("Deployment", "web", RULE), {"kind": "Service", "metadata": {"name": "s"}}]
    page = as_data("-", given=json.dumps({"kind": "List", "items": items}))

    assert page["scanned"] == {"Node": 0, "Deployment": 1}
    assert [rule["carrier"] for rule in page["rules"]] == ["native"]


def test_nothing_to_say(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("kind: List\n")
    ended = scan("--cluster", str(file))

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("scanned: nothing\nno nodes given")


def test_the_configuration_says_how_pods_are_judged(tmp_path: Path) -> None:
    config = tmp_path / "leeway.yaml"
    config.write_text(
        "apiVersion: leeway.scheduling/v1alpha1\n"
        "kind: ExtenderConfiguration\n"
        "annotationPrefix: example.com/\n"
        "profiles: [{schedulerName: ours}]\n"
        f"cluster: {{files: [{tmp_path}/cluster.yaml]}}\n"
    )
    text = json.dumps([RULE])
    documents = [
        {"kind": "Node", **node_json("n", taint("sla", "800"))},
        a_pod("theirs", annotations={"example.com/tolerations": text}),
        a_pod("ours", scheduler="ours", annotations={"scheduling.leeway/tolerations": text}),
    ]
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump_all(documents))
    page = as_data("--config", str(config))

    assert [each["name"] for each in page["rules"]] == ["theirs"]
    assert [each["name"] for each in page["tolerationsReadByNobody"]] == ["theirs"]
    assert [each["name"] for each in page["pending"]] == ["ours"]
    assert page["pendingForOtherReasons"] == 1


def test_a_gate_that_is_off_hides_nobody(tmp_path: Path) -> None:
    page = as_data("--feature-gates", "TaintTolerationComparisonOperators=false", *EXAMPLES)

    assert page["gates"]["TaintTolerationComparisonOperators"]["workloads"] == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param([], "which cluster? $KUBECONFIG is not set", id="nothing"),
        pytest.param(["missing.yaml"], "missing.yaml: cannot be read", id="no such file"),
        pytest.param(["a", "--kubeconfig", "b"], "not both", id="two clusters"),
        pytest.param(["--kubeconfig", "missing"], "missing does not exist", id="no kubeconfig"),
        pytest.param(["README.md"], "README.md: ", id="no manifest"),
        pytest.param(["--config", "missing.yaml", "x"], "missing.yaml", id="no configuration"),
    ],
)
def test_what_cannot_be_looked_at_is_a_sentence(arguments: list[str], sentence: str) -> None:
    ended = scan(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("leeway: ")
    assert sentence in ended.err


def test_an_object_of_another_shape_is_named() -> None:
    ended = scan("-", given="kind: Deployment\nmetadata: {name: web}\nspec: {template: 5}\n")

    assert ended.code == 2
    assert "Deployment 'web'" in ended.err


def test_on_a_terminal_it_is_coloured_and_fits() -> None:
    paths = [str(pages.ROOT / path) for path in EXAMPLES]
    code, text = terminal.run("scan", *paths, columns=120)
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", text)

    assert code == 3
    assert "\x1b[33mPENDING BECAUSE" in text
    assert "judging pods" in text  # the bar, which is gone in the end
    assert max(len(line.rpartition("\r")[2]) for line in plain.splitlines()) <= 120


def test_who_has_seen_enough_may_close_the_pipe() -> None:
    command = f"leeway scan {' '.join(EXAMPLES)} | true; echo ${{PIPESTATUS[0]}}"

    assert pages.printed(command) == "0\n"


# --- A cluster ---------------------------------------------------------------------------------


@pytest.fixture
async def cluster() -> AsyncIterator[ScriptedServer]:
    async with scripted() as server:
        server.put("nodes", node_json("spot", taint("sla", "high")), node_json("plain"))
        server.put("deployments", workload("Deployment", "web", RULE))
        server.put(
            "replicasets",
            workload("ReplicaSet", "web-1", RULE, owner=owned_by("Deployment", "web")),
        )
        pods: list[JSON] = [
            a_pod(f"web-1-{i}", RULE, owner=owned_by("ReplicaSet", "web-1"), node="plain")
            for i in range(3)
        ]
        stuck = a_pod("stuck", RULE, node_selector={"nowhere": "true"})
        server.put("pods", *pods, stuck, a_pod("done", RULE, phase="Succeeded"))
        yield server


async def scanned(server: ScriptedServer, folder: Path, *arguments: str) -> process.Ended:
    return await asyncio.to_thread(scan, "--kubeconfig", kubeconfig(folder, server), *arguments)


async def test_a_live_cluster(cluster: ScriptedServer, tmp_path: Path) -> None:
    ended = await scanned(cluster, tmp_path, "-o", "json")
    page = json.loads(ended.out)

    assert (ended.code, ended.err) == (3, "")
    assert page["scanned"] == {"Node": 2, "Deployment": 1, "ReplicaSet": 1, "Pod": 5}
    assert [(rule["name"], rule["objects"]) for rule in page["rules"]] == [
        ("web", {"Deployment": 1, "ReplicaSet": 1, "Pod": 3}),
        ("stuck", {"Pod": 1}),
    ]
    assert [each["nodes"] for each in page["unreadableValues"]] == [["spot"]]
    assert [each["name"] for each in page["pending"]] == ["stuck"]
    # Each resource once, and nothing but lists.
    assert sorted(asked.resource for asked in cluster.asked) == sorted((PATHS | WORKLOADS).values())
    assert {asked.kind for asked in cluster.asked} == {"list"}


async def test_what_may_not_be_listed_is_named_and_left_out(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    cluster.on_list("pods", Answer(403, "pods is forbidden"))
    cluster.on_list("jobs", Answer(403, "jobs is forbidden"))
    ended = await scanned(cluster, tmp_path)

    assert (ended.code, ended.err) == (3, "")
    lines = [line for line in ended.out.splitlines() if line.startswith("not listed: ")]
    assert [line.split(": ")[1] for line in lines] == ["pods", "jobs"]
    assert "pods is forbidden" in lines[0]
    assert "1 Deployment" in ended.out


@pytest.mark.parametrize(
    ("hidden", "pending"),
    [
        pytest.param("", ["stuck", "unbound"], id="a claim that does not exist"),
        pytest.param("persistentvolumeclaims", ["stuck"], id="a claim that may not be listed"),
        pytest.param("storageclasses", ["stuck"], id="a class that may not be listed"),
    ],
)
async def test_pods_are_judged_by_their_volumes_only_if_those_were_listed(
    cluster: ScriptedServer, tmp_path: Path, hidden: str, pending: list[str]
) -> None:
    unbound = a_pod("unbound", toleration(operator="Exists"))
    claim = {"persistentVolumeClaim": {"claimName": "missing"}}
    unbound["spec"]["volumes"] = [{"name": "v", **claim}]
    cluster.put("pods", unbound)
    other = {"metadata": {"name": "other", "namespace": "default"}}
    cluster.put("persistentvolumeclaims", other)
    if hidden:
        cluster.on_list(hidden, Answer(403))
    page = json.loads((await scanned(cluster, tmp_path, "-o", "json")).out)

    assert [each["name"] for each in page["pending"]] == pending


async def test_a_server_that_fails_is_a_sentence(cluster: ScriptedServer, tmp_path: Path) -> None:
    cluster.on_list("daemonsets", Answer(500, "etcd is away"))
    ended = await scanned(cluster, tmp_path)

    assert (ended.code, ended.out) == (2, "")
    assert "etcd is away" in ended.err


async def test_a_list_in_many_pages(
    cluster: ScriptedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)
    cluster.on_list("pods", None, Answer(410))
    page = json.loads((await scanned(cluster, tmp_path, "-o", "json")).out)

    assert page["scanned"]["Pod"] == 5
    assert page["rules"][0]["objects"]["Pod"] == 3


# --- The right to do it ------------------------------------------------------------------------


def test_the_page_names_every_resource_that_is_listed() -> None:
    rows = table(pages.ROOT / "docs/scan.md", "From a cluster")
    named = {name for (cell,) in rows.values() for name in cell.split(", ")}

    assert named == set((PATHS | WORKLOADS).values())
