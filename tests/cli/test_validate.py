"""`leeway validate` as a process: what it prints, and how it ends."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli import process
from tests.review.test_manifests import DEPLOYMENT
from tests.test_docs import blocks

ROOT = Path(__file__).parent.parent.parent
GOOD = "apiVersion: v1\nkind: Pod\nspec: {tolerations: [{key: sla, operator: Gt, value: '900'}]}\n"
WARNED = "apiVersion: v1\nkind: Pod\nspec: {tolerations: [{key: sla, operator: Lt, value: '0'}]}\n"
NOT_CANONICAL = 'Invalid value: "high": must be a valid decimal integer in canonical form'
NOT_PARSED = 'Invalid value: "high": strconv.ParseInt: parsing "high": invalid syntax'
IN_ANNOTATION = "spec.template.metadata.annotations[scheduling.leeway/tolerations][0].value"
BELOW_NOTHING = (
    "no taint can have a value below 0, so this never matches: use a larger bound, or Exists"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run, so that files have short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_errors_and_warnings_stand_behind_their_lines(folder: Path) -> None:
    ended = process.run_here("validate", write("web.yaml", DEPLOYMENT))

    assert ended.code == 1
    assert ended.out.splitlines() == [
        "web.yaml:14: spec.template.metadata.annotations[scheduling.leeway/node-affinity].color:"
        " Invalid value: color is not a field of a node affinity: it has"
        " requiredDuringSchedulingIgnoredDuringExecution,"
        " preferredDuringSchedulingIgnoredDuringExecution",
        f"web.yaml:13: {IN_ANNOTATION}: {NOT_CANONICAL}",
        f"web.yaml:13: {IN_ANNOTATION}: {NOT_PARSED}",
        f"web.yaml:17: warning: spec.template.spec.tolerations[0].value: {BELOW_NOTHING}",
    ]
    assert ended.err == "1 object(s), 3 error(s), 1 warning(s)\n"


def test_mistakes_of_people_are_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    golden = ROOT / "tests/golden/mistakes"
    monkeypatch.chdir(golden)

    ended = process.run_here("validate", "workloads.yaml", "native.yaml")

    assert ended.out == (golden / "validate.txt").read_text(encoding="utf-8")
    assert ended.code == 1


def test_warnings_alone_do_not_fail_unless_they_shall(folder: Path) -> None:
    file = write("pod.yaml", WARNED)

    assert process.run_here("validate", file).code == 0
    assert process.run_here("validate", "--strict", file).code == 1
    assert process.run_here("validate", "--strict", write("good.yaml", GOOD)).code == 0


def test_folders_are_searched(folder: Path) -> None:
    write("deploy/a/web.yaml", DEPLOYMENT)
    write("deploy/b.json", json.dumps(yaml.safe_load(GOOD)))
    write("deploy/notes.txt", "not: [yaml")
    ended = process.run_here("validate", "deploy")

    assert ended.code == 1
    assert {line.split(":")[0] for line in ended.out.splitlines()} == {"deploy/a/web.yaml"}
    assert ended.err == "2 object(s), 3 error(s), 1 warning(s)\n"


def test_what_is_no_manifest_in_a_folder_is_skipped_with_one_line(folder: Path) -> None:
    write("app/chart/Chart.yaml", "apiVersion: v2\nname: chart\n")
    write("app/chart/templates/pod.yaml", WARNED.replace("sla", "'{{ .Values.key }}'"))
    write("app/jinja.yml", "kind: Pod\nspec: {{ spec }}\n")
    write("app/pod.yaml", WARNED)

    ended = process.run_here("validate", "app")

    assert ended.code == 0
    assert len(ended.out.splitlines()) == 1
    assert ended.err == (
        "leeway: app: skipped 2 files that are not manifests: chart/templates/pod.yaml, jinja.yml\n"
        "1 object(s), 0 error(s), 1 warning(s)\n"
    )
    assert process.run_here("validate", "app/jinja.yml").code == 2


def test_aliases_of_manifests_are_understood(folder: Path) -> None:
    rules = "x: &rules\n- {key: sla, operator: Lt, value: '0'}\n"
    write("pod.yaml", f"kind: Pod\n{rules}spec:\n  tolerations: *rules\n")

    ended = process.run_here("validate", "pod.yaml")

    assert ended.out == f"pod.yaml:5: warning: spec.tolerations[0].value: {BELOW_NOTHING}\n"


def test_standard_input_is_a_file(folder: Path) -> None:
    ended = subprocess.run(  # noqa: S603 - our own command
        [*process.MODULE, "validate", "-"],
        input=DEPLOYMENT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert ended.stdout.startswith("stdin:14: spec.template.metadata")


def test_json_for_programs(folder: Path) -> None:
    ended = process.run_here("validate", "-o", "json", write("web.yaml", DEPLOYMENT))
    document = json.loads(ended.out)

    assert ended.code == 1
    assert (document["objects"], document["errors"], document["warnings"]) == (1, 3, 1)
    assert document["unreadable"] == []
    assert document["findings"][-1] == {
        "file": "web.yaml",
        "severity": "warning",
        "line": 17,
        "kind": "Deployment",
        "name": "web",
        "field": "spec.template.spec.tolerations[0].value",
        "message": BELOW_NOTHING,
    }


def test_notes_for_a_workflow(folder: Path) -> None:
    expression = "taint.key ==\n 7 %"
    pod = {
        "kind": "Pod",
        "metadata": {"name": "a:b"},
        "spec": {"tolerations": [{"expression": expression}]},
    }
    ended = process.run_here(
        "validate", "-o", "github", write("a,b.json", json.dumps(pod)), "missing"
    )
    note, unreadable = ended.out.splitlines()

    assert ended.code == 2
    assert note.startswith("::error file=a%2Cb.json,line=1,title=Pod a%3Ab::spec.tolerations[0]")
    assert "%25" in note
    assert "%0A" in note
    assert unreadable == "::error::missing: cannot be read: No such file or directory"


def test_a_message_of_several_lines_is_indented(folder: Path) -> None:
    text = "kind: Pod\nspec: {tolerations: [{expression: 'taint.kye'}]}\n"
    ended = process.run_here("validate", write("pod.yaml", text))
    first, *rest = ended.out.splitlines()

    assert first.startswith("pod.yaml:2: spec.tolerations[0].expression: Invalid value: ")
    assert rest == ["   | taint.kye", "   | .....^"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"a: [", "line 2", id="half"),
        pytest.param(b"\xff", "codec can't decode", id="no text"),
        pytest.param(b"{{ template }}: x", "line 1", id="a template"),
    ],
)
def test_a_file_that_cannot_be_read_does_not_hide_the_others(
    folder: Path, content: bytes, says: str
) -> None:
    Path("bad.yaml").write_bytes(content)
    ended = process.run_here("validate", "bad.yaml", write("web.yaml", DEPLOYMENT))

    assert ended.code == 2
    assert ended.out.startswith("web.yaml:14:")
    assert "leeway: bad.yaml: " in ended.err
    assert says in ended.err
    assert "Traceback" not in ended.err


def test_an_empty_folder_is_a_mistake(folder: Path) -> None:
    Path("empty").mkdir()
    ended = process.run_here("validate", "empty")

    assert ended.code == 2
    assert ended.err.startswith("leeway: empty: no file in it ends in")


def test_gates_by_flag_and_by_file(folder: Path) -> None:
    file = write("pod.yaml", GOOD)
    gate = "TaintTolerationComparisonOperators"
    head = "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"
    config = write("leeway.yaml", f"{head}featureGates: {{{gate}: false}}\n")

    assert process.run_here("validate", file).code == 0
    assert process.run_here("validate", "--feature-gates", f"{gate}=false", file).code == 1
    assert process.run_here("validate", "--config", config, file).code == 1
    assert process.run_here("validate", "--config", "missing", file).code == 2


def test_control_characters_do_not_reach_a_terminal(folder: Path) -> None:
    pod = {"kind": "Pod", "spec": {"tolerations": [{"key": "a", "operator": "\u009b31m"}]}}
    ended = process.run_here("validate", write("pod.json", json.dumps(pod)))

    assert "\u009b" not in ended.out
    assert "\\x9b31m" in ended.out


def test_the_hooks_of_pre_commit_run_what_there_is() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

    assert [hook["id"] for hook in hooks] == ["leeway-validate", "leeway-compile"]
    for hook in hooks:
        command, *arguments = hook["entry"].split()
        assert command == "leeway"
        assert process.run_here(*arguments, "--help").code == 0
        assert hook["language"] == "python"
        assert hook["types_or"] == ["yaml", "json"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_output_of_the_documentation_is_real(folder: Path, number: int) -> None:
    page = ROOT / "docs/validate.md"
    write("web.yaml", next(text for text in blocks(page, "yaml") if "Deployment" in text))
    write("copied.yaml", next(text for text in blocks(page, "yaml") if "guarded-keys" in text))
    command, _, shown = blocks(page, "console")[number].partition("\n")
    ended = process.run_here(*command.removeprefix("$ leeway ").split())

    assert ended.out + ended.err == shown


def test_the_examples_that_are_shipped_are_good() -> None:
    ended = process.run_here("validate", "--strict", str(ROOT / "deploy/examples"))

    assert (ended.code, ended.out) == (0, "")


def test_files_may_be_named_as_for_kubectl(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("{kind: Pod, apiVersion: v1, metadata: {name: p}}")
    named = process.run_here("validate", "-f", str(file), "--filename", str(file), str(file))
    nothing = process.run_here("validate")

    assert (named.code, named.err) == (0, "3 object(s), 0 error(s), 0 warning(s)\n")
    assert nothing.code == 2
    assert nothing.err.startswith("leeway: which files? Give files or folders")


def test_yaml_has_what_json_has(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(DEPLOYMENT)
    as_json = process.run_here("validate", "-o", "json", str(file))
    as_yaml = process.run_here("validate", "-o", "yaml", str(file))

    assert yaml.safe_load(as_yaml.out) == json.loads(as_json.out)
    assert as_yaml.out.endswith("\n")
    assert not as_yaml.out.endswith("\n\n")
