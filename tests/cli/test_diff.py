"""`leeway diff` through its command line: what it compares, what it prints, how it ends."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import node_json, taint, toleration
from tests.cli import pages, process
from tests.cluster.apiserver import Answer, scripted
from tests.cluster.test_api import kubeconfig
from tests.review.diff.clusters import running
from tests.test_docs import table

EXAMPLES = ("--cluster", "deploy/examples/cluster.yaml", "deploy/examples/workloads.yaml")
DROP = ("--set-taint", "spot-gold=node.kubernetes.io/sla=800:NoSchedule")
RULE = toleration("sla", "Gt", "900")


def diff(*arguments: str, cwd: Path = pages.ROOT, given: str = "") -> process.Ended:
    run = process.run if given else process.run_here  # /dev/stdin is that of a process
    return run("diff", *arguments, cwd=cwd, given=given)


def as_data(*arguments: str, **more: Any) -> Any:
    return json.loads(diff("-o", "json", *arguments, **more).out)


def dump(folder: Path, name: str, *nodes: Any, pods: Any = ()) -> str:
    """A file as kubectl prints it."""
    items = [{"kind": "Node", **each} for each in nodes]
    items += [{"kind": "Pod", **each} for each in pods]
    (folder / name).write_text(json.dumps({"kind": "List", "items": items}))
    return name


@pytest.mark.parametrize(("command", "output"), pages.shown("docs/diff.md"))
def test_the_output_of_the_page_is_real(command: str, output: str) -> None:
    assert pages.printed(command) == output


def test_something_changes() -> None:
    ended = diff(*EXAMPLES, *DROP)

    assert (ended.code, ended.err) == (1, "")
    assert "Deployment batch/nightly-report  1     4 -> 3" in ended.out


def test_nothing_changes() -> None:
    ended = diff(*EXAMPLES, "--gate", "TaintTolerationCEL=false")

    assert ended == process.Ended(
        0, "compared: 4 pods and templates, on 12 nodes\nnothing changes\n", ""
    )


def test_the_same_as_data() -> None:
    found = as_data(*EXAMPLES, *DROP)

    assert set(found) == {
        key for first in table(pages.ROOT / "docs/diff.md", "As data") for key in first.split(", ")
    }
    assert found["workloads"] == [
        {
            "kind": "Deployment",
            "namespace": "batch",
            "name": "nightly-report",
            "pods": 1,
            "passesBefore": 4,
            "passesAfter": 3,
            "opens": 0,
            "opened": [],
            "closes": 1,
            "closed": ["spot-gold"],
            "reasons": {"node(s) had untolerated taint {node.kubernetes.io/sla: 800}": 1},
            "cannotStay": [
                {
                    "pod": "nightly-report-7c9d-x2x4q",
                    "node": "spot-gold",
                    "reason": "node(s) had untolerated taint {node.kubernetes.io/sla: 800}",
                }
            ],
            "evicted": [],
        }
    ]
    assert yaml.safe_load(diff("-o", "yaml", *EXAMPLES, *DROP).out) == found


def test_two_clusters(tmp_path: Path) -> None:
    pods = [running("a", "n", RULE)]
    before = dump(tmp_path, "before.json", node_json("n", taint("sla", "950")), pods=pods)
    after = dump(tmp_path, "after.json", node_json("n", taint("sla", "800")), pods=pods)
    found = as_data("--cluster", before, "--cluster", after, cwd=tmp_path)

    assert found["cannotStay"] == 1
    assert not as_data("--cluster", before, "--cluster", before, cwd=tmp_path)["changes"]


def test_the_cluster_of_a_configuration(tmp_path: Path) -> None:
    file = dump(tmp_path, "c.json", node_json("n"), pods=[running("a", "n")])
    head = "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"
    (tmp_path / "leeway.yaml").write_text(f"{head}cluster: {{files: [{file}]}}\n")
    asked = ("--config", "leeway.yaml", "--set-taint", "n=x:NoExecute")

    assert as_data(*asked, cwd=tmp_path)["evicted"] == 1


def test_standard_input_is_a_cluster(tmp_path: Path) -> None:
    file = dump(tmp_path, "c.json", node_json("n"), pods=[running("a", "n")])
    given = (tmp_path / file).read_text()
    ended = diff("--cluster", "-", "--set-taint", "n=x:NoExecute", given=given)

    assert ended.code == 1
    assert "1 at once" in ended.out


@pytest.mark.parametrize(
    ("name", "pods"),
    [("deployment/nightly-report", 1), ("pod/nightly-report-7c9d-x2x4q", 1)],
)
def test_one_workload_of_the_cluster(name: str, pods: int) -> None:
    found = as_data("-n", "batch", name, *EXAMPLES, *DROP)

    assert (found["compared"], found["workloads"][0]["pods"]) == (pods, pods)


def test_a_manifest_is_compared_alone() -> None:
    raised = ("--set-taint", "spot-gold=node.kubernetes.io/sla=960:NoSchedule")
    found = as_data("deploy/examples/pending-pod.yaml", *EXAMPLES, *raised)

    assert found["compared"] == 1
    assert found["workloads"][0]["opened"] == ["spot-gold"]


def test_other_tolerations(tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    file.write_text("- {key: node.kubernetes.io/sla, operator: Gt, value: '700'}\n")
    asked = ("-n", "batch", "deployment/nightly-report", *EXAMPLES, "--toleration", str(file))

    assert as_data(*asked)["workloads"][0]["opened"] == ["spot-bronze"]


def test_a_taint_is_removed() -> None:
    found = as_data(*EXAMPLES, "--set-taint", "spot-bronze=node.kubernetes.io/sla-")

    assert found["nodes"]["changed"] == [
        {"name": "spot-bronze", "what": ["- taint node.kubernetes.io/sla=800:NoSchedule"]}
    ]


CEL_OFF = ("--gate", "TaintTolerationCEL=false")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(EXAMPLES, "diff: nothing to compare: give a second cluster", id="no change"),
        pytest.param(CEL_OFF, "which cluster? ", id="no cluster"),
        pytest.param(EXAMPLES * 3, "diff: give one cluster, or two to compare", id="three"),
        pytest.param(
            (*EXAMPLES, "--toleration", "x"), "diff: --toleration: say whose: give POD", id="whose"
        ),
        pytest.param((*EXAMPLES, "--gate", "X=false"), "--gate: X: unknown key", id="no gate"),
        pytest.param(
            (*EXAMPLES, "--set-taint", "x=y:NoSchedule"),
            "--set-taint: there is no node x in the cluster",
            id="no node",
        ),
        pytest.param(
            ("x", *EXAMPLES, *CEL_OFF), "there is no file x, and no KIND/NAME of", id="no pod"
        ),
        pytest.param(
            ("-n", "batch", "deployment/nightly-reprot", *EXAMPLES, *CEL_OFF),
            "there is no file deployment/nightly-reprot, and no KIND/NAME of this name in namespace"
            " batch; did you mean deployment/nightly-report?",
            id="nearly",
        ),
        pytest.param(
            ("deploy/examples/cluster.yaml", *EXAMPLES, *CEL_OFF),
            "deploy/examples/cluster.yaml: contains no pod and no workload",
            id="no pod in the file",
        ),
        pytest.param(("--cluster", "gone", *CEL_OFF), "gone: cannot be read", id="no file"),
        pytest.param(
            ("-n", "batch", "deployment/nightly-report", *EXAMPLES, "--toleration", EXAMPLES[1]),
            "--toleration: deploy/examples/cluster.yaml: must be a list of tolerations",
            id="no list",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    ended = diff(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"leeway: {says}")
    assert len(ended.err.splitlines()) == 1


def test_a_toleration_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    file.write_text("- {keey: sla}\n")
    ended = diff("deploy/examples/pending-pod.yaml", *EXAMPLES, "--toleration", str(file))

    assert ended.code == 2
    assert ended.err.startswith(f"leeway: --toleration: {file}: ")
    assert "keey" in ended.err


@pytest.mark.parametrize("arguments", [("--gate", "X"), ("--set-taint", "X")])
def test_a_flag_that_is_wrong_is_shown_with_its_form(arguments: tuple[str, str]) -> None:
    ended = process.run("diff", *EXAMPLES, *arguments, cwd=pages.ROOT)

    assert ended.code == 2
    assert f"argument {arguments[0]}: " in ended.err


async def test_a_live_cluster_with_a_change_and_with_a_dump(tmp_path: Path) -> None:
    pods = [running("a", "n", RULE)]
    before = dump(tmp_path, "before.json", node_json("n", taint("sla", "800")), pods=pods)
    async with scripted() as server:
        server.put("nodes", node_json("n", taint("sla", "950")))
        server.put("pods", *pods)
        server.on_list("replicasets", *[Answer(403, "forbidden")] * 2)
        live = ("--kubeconfig", kubeconfig(tmp_path, server))
        drop = ("--set-taint", "n=sla=800:NoSchedule")
        changed = await asyncio.to_thread(as_data, *live, *drop)
        dumped = await asyncio.to_thread(as_data, "--cluster", str(tmp_path / before), *live)

    assert changed["cannotStay"] == 1
    assert dumped["workloads"][0]["opened"] == ["n"]


async def test_a_live_cluster_without_the_right_to_list_pods(tmp_path: Path) -> None:
    async with scripted() as server:
        server.on_list("pods", Answer(403, "pods is forbidden"))
        live = ("--kubeconfig", kubeconfig(tmp_path, server))
        ended = await asyncio.to_thread(diff, *live, *CEL_OFF)

    assert ended.code == 2
    assert "forbidden" in ended.err
