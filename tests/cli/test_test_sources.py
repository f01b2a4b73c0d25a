"""What a case names: its pod, its cluster, its configuration, or a clear sentence."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from extender.cli.test_sources import STDIN, CaseSources, Document, config_of
from extender.config.schema import Config, ProfileConfig
from extender.errors import CaseError
from extender.match.gates import FeatureGates
from extender.review.cases import reading
from extender.review.cases.schema import Case
from tests.builders import JSON, node_json
from tests.cluster.apiserver import ScriptedServer
from tests.cluster.test_api import kubeconfig

RESOURCES = ("nodes", "pods", "persistentvolumes", "persistentvolumeclaims", "storageclasses")
HEAD = {"apiVersion": "leeway.scheduling/v1alpha1", "kind": "RuleTest"}
TWO = """\
kind: Pod
metadata: {name: a}
---
kind: Deployment
metadata: {name: b}
spec: {template: {}}
"""
SPREAD = {"spec": {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1}]}}
CLAIMED = {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}}


def a_case(**more: Any) -> Case:
    case = {"name": "n", "pod": "pod.yaml", "expect": {"passes": []}, "nodes": [node_json("n")]}
    test, problems = reading.read({**HEAD, "cases": [case | more]})
    assert problems == []
    return test.cases[0]


def asked(folder: Path, config: Config | None = None, **more: Any) -> Any:
    return CaseSources(config or Config()).inquiry(a_case(**more), Document(str(folder / "t"), {}))


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        ({"file": "two.yaml", "name": "a"}, "Pod"),
        ({"file": "two.yaml", "name": "deployment/b"}, "Deployment"),
        ({"kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {}}}, "Job"),
    ],
)
def test_a_pod_is_found(tmp_path: Path, pod: Any, kind: str) -> None:
    (tmp_path / "two.yaml").write_text(TWO)

    assert asked(tmp_path, pod=pod).subject.kind == kind


@pytest.mark.parametrize(
    ("pod", "says"),
    [
        ("missing.yaml", "missing.yaml: cannot be read: No such file or directory"),
        ("two.yaml", "two.yaml has pod/a, deployment/b: choose one, with `pod: {file: FILE,"),
        ({"file": "two.yaml", "name": "c"}, "two.yaml has no c, only pod/a, deployment/b"),
        ("none.yaml", "none.yaml has no pod and no workload; supported kinds: Pod, "),
        ("bad.yaml", "bad.yaml: Pod 'x': "),
    ],
)
def test_a_pod_is_not_found(tmp_path: Path, pod: Any, says: str) -> None:
    (tmp_path / "two.yaml").write_text(TWO)
    (tmp_path / "none.yaml").write_text("kind: Service\n")
    (tmp_path / "bad.yaml").write_text("kind: Pod\nmetadata: {name: x}\nspec: 7\n")

    with pytest.raises(CaseError) as caught:
        asked(tmp_path, pod=pod)

    assert says in str(caught.value)
    assert caught.value.path == "cases[0].pod"


def test_objects_come_from_files_and_from_the_case(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/nodes.yaml").write_text("kind: Node\nmetadata: {name: m}\n")
    (tmp_path / "pod.yaml").write_text("kind: Pod\nmetadata: {name: a}\n")
    found = asked(tmp_path, nodes=["more", node_json("n")])

    assert list(found.snapshot.nodes) == ["m", "n"]


def test_cases_that_name_the_same_objects_share_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("kind: Pod\nmetadata: {name: a}\n")
    given, document = CaseSources(Config()), Document(str(tmp_path / "t"), {})
    cases = [a_case(), a_case(), a_case(objects=[{"kind": "Node", **node_json("m")}])]
    found = [given.inquiry(case, document).snapshot for case in cases]

    assert found[0] is found[1]
    assert list(found[2].nodes) == ["n", "m"]


def test_a_file_without_objects_is_named(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("kind: Pod\nmetadata: {name: a}\n")

    with pytest.raises(CaseError, match="gone: cannot be read") as caught:
        asked(tmp_path, nodes=["gone"])

    assert caught.value.path == "cases[0].nodes[0]"


def test_names_of_standard_input_are_relative_to_here() -> None:
    assert Document(STDIN, {}).folder == Path()


def test_the_keys_of_a_case_override_those_of_the_command_line() -> None:
    base = Config(
        gates=FeatureGates(cel=False),
        profiles=(ProfileConfig("one", {"TaintToleration": 3}),),
        no_execute="join",
    )
    case = a_case(
        configuration={
            "featureGates": {"TaintTolerationComparisonOperators": False},
            "profiles": [{"schedulerName": "two"}],
        }
    )
    config = config_of(case, base)

    assert (config.gates.cel, config.gates.comparison_operators) == (False, False)
    assert [each.scheduler_name for each in config.profiles] == ["two"]
    assert config.no_execute == "join"
    assert config_of(a_case(), base) is base


@pytest.mark.parametrize(
    ("pod", "listed"),
    [
        ({}, {"nodes"}),
        (SPREAD, {"nodes", "pods"}),
        (CLAIMED, {"nodes", "persistentvolumes", "persistentvolumeclaims", "storageclasses"}),
    ],
    ids=["a plain pod", "spread", "claims"],
)
async def test_a_live_cluster_is_listed_once_and_only_for_what_the_pod_needs(
    tmp_path: Path, pod: JSON, listed: set[str]
) -> None:
    server = ScriptedServer()
    await server.start()
    server.put("nodes", node_json("live"))
    given = CaseSources(Config(kubeconfig=kubeconfig(tmp_path, server)))
    case = a_case(nodes=None, pod={"kind": "Pod", **pod})
    try:
        found = [await asyncio.to_thread(given.inquiry, case, Document("t", {})) for _ in "ab"]
    finally:
        await server.stop()

    assert [list(each.snapshot.nodes) for each in found] == [["live"], ["live"]]
    assert {each for each in RESOURCES if server.kinds(each)} == listed
    assert len(server.kinds("nodes")) == 1
