"""`leeway compile` as a process: what it prints and writes, and how it ends."""

import errno
import json
from pathlib import Path

import pytest
import yaml

from extender.cli import compile as command
from tests import json_patch
from tests.cli import process

ROOT = Path(__file__).parent.parent.parent
CLUSTER = str(ROOT / "deploy/examples/cluster.yaml")
DAEMON_SET = """\
# An agent for every node above 700.
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent   # the agent
  namespace: ops
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata:
      labels: {app: agent}
      annotations:
        scheduling.leeway/tolerations: |
          - {key: node.kubernetes.io/sla, operator: Gt, value: "700"}
    spec:
      containers: [{name: agent, image: registry.example.com/agent:1}]
---
# Not ours.
apiVersion: v1
kind: ConfigMap
metadata: {name:   config}
"""
WITH_VERSION = DAEMON_SET.replace(
    "    spec:\n",
    "        scheduling.leeway/node-affinity: |\n"
    "          requiredDuringSchedulingIgnoredDuringExecution:\n"
    "            nodeSelectorTerms:\n"
    "            - matchExpressions:\n"
    "              - {key: node.kubernetes.io/kernel-version, operator: SemverGt,"
    ' values: ["6.5"]}\n'
    "    spec:\n",
    1,
)
LINES = """\
+        scheduling.leeway/compiled: '{"tolerations":["node.kubernetes.io/sla=800:NoSchedule",\
"node.kubernetes.io/sla=950:NoSchedule"]}'
+      tolerations:
+      - key: node.kubernetes.io/sla
+        operator: Equal
+        value: '800'
+        effect: NoSchedule
+      - key: node.kubernetes.io/sla
+        operator: Equal
+        value: '950'
+        effect: NoSchedule
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run, so that files have short names."""
    monkeypatch.chdir(tmp_path)
    Path("agent.yaml").write_text(DAEMON_SET, encoding="utf-8")
    return tmp_path


def compiled(*arguments: str, cluster: str = CLUSTER) -> process.Ended:
    return process.run_here("compile", *arguments, "--cluster", cluster)


def test_a_stale_manifest_fails_the_check_with_a_diff() -> None:
    ended = compiled("agent.yaml", "--check")

    assert ended.code == 1
    added = [line for line in ended.out.splitlines() if line.startswith("+")]
    assert "\n".join(added[1:]) + "\n" == LINES
    assert not [line for line in ended.out.splitlines()[1:] if line.startswith("-")]
    assert ended.err == "1 object(s), 1 stale, 2 new value(s)\n"


def test_the_manifest_keeps_every_other_byte_and_is_then_current() -> None:
    ended = compiled("agent.yaml", "-o", "yaml")

    assert ended.code == 0
    new = ended.out.splitlines()
    assert [line for line in new if f"+{line}" not in LINES.splitlines()] == (
        DAEMON_SET.splitlines()
    )
    Path("agent.yaml").write_text(ended.out, encoding="utf-8")
    again = compiled("agent.yaml", "--check")
    assert (again.code, again.out) == (0, "")
    assert again.err == "1 object(s), 0 stale, 0 new value(s)\n"


def test_patches_come_to_the_same() -> None:
    Path("agent.yaml").write_text(WITH_VERSION, encoding="utf-8")
    whole = next(iter(yaml.safe_load_all(compiled("agent.yaml", "-o", "yaml").out)))
    original = next(iter(yaml.safe_load_all(WITH_VERSION)))

    (operations,) = json.loads(compiled("agent.yaml", "-o", "json").out)
    (patch,) = yaml.safe_load_all(compiled("agent.yaml").out)

    assert operations["kind"] == "DaemonSet"
    assert operations["name"] == "agent"
    assert json_patch.applied(original, operations["patch"]) == whole
    assert patch["metadata"] == {"name": "agent", "namespace": "ops"}
    template, expected = patch["spec"]["template"], whole["spec"]["template"]
    assert template["spec"]["tolerations"] == expected["spec"]["tolerations"]
    assert template["spec"]["affinity"] == expected["spec"]["affinity"]
    assert set(template["metadata"]) == {"annotations"}


def test_files_are_written_in_place_with_their_mode() -> None:
    Path("agent.yaml").chmod(0o640)
    Path("other.yaml").write_text("kind: ConfigMap\r\n", encoding="utf-8", newline="")

    ended = compiled("--write", ".")

    assert (ended.code, ended.out) == (0, "")
    assert Path("agent.yaml").stat().st_mode & 0o777 == 0o640
    assert compiled("agent.yaml", "--check").code == 0
    assert Path("other.yaml").read_bytes() == b"kind: ConfigMap\r\n"
    assert sorted(each.name for each in Path().iterdir()) == ["agent.yaml", "other.yaml"]


def test_no_file_changes_if_one_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("full").mkdir()
    Path("full/agent.yaml").write_text(DAEMON_SET, encoding="utf-8")
    beside = command.written_beside

    def written_beside(file: Path, text: str) -> Path:
        if file.parent.name == "full":
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        return beside(file, text)

    monkeypatch.setattr(command, "written_beside", written_beside)
    ended = compiled("--write", "agent.yaml", "full/agent.yaml")

    assert ended.code == 2
    assert "full/agent.yaml: cannot be written: No space left on device" in ended.err
    assert Path("agent.yaml").read_text(encoding="utf-8") == DAEMON_SET
    assert sorted(each.name for each in Path().iterdir()) == ["agent.yaml", "full"]


def test_every_problem_at_once_and_nothing_written() -> None:
    Path("bad.yaml").write_text(DAEMON_SET.replace('"700"', "'7e2'"), encoding="utf-8")
    Path("worse.yaml").write_text("kind: Pod\nspec: [", encoding="utf-8")

    ended = compiled("--write", "agent.yaml", "bad.yaml", "worse.yaml", "missing.yaml")

    assert ended.code == 2
    assert Path("agent.yaml").read_text(encoding="utf-8") == DAEMON_SET
    place = "spec.template.metadata.annotations[scheduling.leeway/tolerations][0].value"
    assert f"bad.yaml:14: {place}: Invalid value:" in ended.err
    assert "worse.yaml: line " in ended.err
    assert "missing.yaml" in ended.err


def test_a_layout_that_cannot_be_kept_is_refused_with_the_way_out() -> None:
    text = DAEMON_SET.replace("    spec:\n", "    spec: &shared\n")
    Path("agent.yaml").write_text(text, encoding="utf-8")

    ended = compiled("agent.yaml", "-o", "yaml")

    assert (ended.code, ended.out) == (2, "")
    assert "agent.yaml: cannot be rewritten: line 15: an anchor or alias" in ended.err
    assert "use -o patch or -o json" in ended.err
    assert compiled("agent.yaml").code == 0


def test_annotations_for_a_workflow() -> None:
    ended = compiled("agent.yaml", "--check", "-o", "github")

    assert ended.code == 1
    assert ended.out == (
        "::error file=agent.yaml,line=2,title=DaemonSet agent::its tolerations or node affinity"
        " are stale: run leeway compile\n"
    )


def test_taints_without_a_cluster() -> None:
    taints = ["--taint", "node.kubernetes.io/sla=990:NoSchedule", "--extra-taint", "x=1:NoExecute"]

    ended = process.run_here("compile", "agent.yaml", *taints)

    assert "value: '990'" in ended.out
    assert "x=1" not in ended.out


def test_a_node_group_at_zero() -> None:
    extra = "node.kubernetes.io/sla=990:NoSchedule"

    ended = compiled("agent.yaml", "--extra-taint", extra)

    assert ended.err == "1 object(s), 1 stale, 3 new value(s)\n"


def test_versions_need_nodes() -> None:
    Path("agent.yaml").write_text(WITH_VERSION, encoding="utf-8")

    ended = process.run_here("compile", "agent.yaml", "--taint", "x=1:NoSchedule")

    assert ended.code == 2
    assert "agent.yaml:9: spec.template: a node affinity that compares versions" in ended.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "which files? Give FILES before --cluster"),
        (["a.yaml", "--write", "--check"], "--write changes files"),
        (["-", "--write"], "--write changes files"),
        (["a.yaml", "--taint", "x"], "--taint: must be key=value:Effect or key:Effect, not 'x'"),
        (
            ["a.yaml", "--taint", "x:NoSchedule", "--context", "c"],
            "give taints or a cluster, not both",
        ),
        (["a.yaml", "--cluster", CLUSTER, "--context", "c"], "--cluster or --context, not both"),
    ],
)
def test_a_wrong_command_line(arguments: list[str], sentence: str) -> None:
    ended = process.run_here("compile", *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err


def test_without_a_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)

    ended = process.run_here("compile", "agent.yaml")

    assert ended.code == 2
    assert "--cluster PATH or --taint KEY=VALUE:EFFECT" in ended.err


def test_a_resource_list_of_kustomize_comes_back_as_one() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "annotations": {
                "scheduling.leeway/tolerations": '[{"key":"sla","operator":"Gt","value":"900"}]'
            },
        },
        "spec": {},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    listed = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": [config, pod],
    }

    ended = process.run(
        "compile",
        "-",
        "-o",
        "yaml",
        "--taint",
        "sla=950:NoSchedule",
        given=yaml.safe_dump(listed),
    )

    found = yaml.safe_load(ended.out)
    assert found["kind"] == "ResourceList"
    assert found["items"][0] == config
    assert found["items"][1]["spec"]["tolerations"] == [
        {"key": "sla", "operator": "Equal", "value": "950", "effect": "NoSchedule"}
    ]


def test_several_manifests_are_separated() -> None:
    Path("b.yaml").write_text("kind: ConfigMap", encoding="utf-8")

    ended = compiled("b.yaml", "b.yaml", "agent.yaml", "-o", "yaml")

    assert ended.out.startswith("kind: ConfigMap\n---\n# An agent")


def test_hostile_text_cannot_control_the_terminal() -> None:
    text = DAEMON_SET.replace("# the agent", "# \x85\u202e")
    Path("agent.yaml").write_text(text.replace("name: agent ", 'name: "a\\e[31m" '), "utf-8")

    ended = compiled("agent.yaml", "--check")

    assert "\u202e" not in ended.out + ended.err
