"""`leeway test` as a command: which files it runs, what it prints, and how it ends."""

import json
import shlex
from pathlib import Path

import pytest

from tests.cli import pages, process
from tests.test_docs import blocks

ROOT = Path(__file__).parent.parent.parent
STORIES = ROOT / "deploy/examples/stories"
HEAD = "apiVersion: leeway.scheduling/v1alpha1\nkind: RuleTest\n"
NODES = """\
nodes:
- metadata: {name: gold}
  spec: {taints: [{key: sla, value: "950", effect: NoSchedule}]}
- metadata: {name: bronze}
  spec: {taints: [{key: sla, value: "800", effect: NoSchedule}]}
"""
POD = """\
  pod:
    kind: Pod
    metadata: {name: p}
    spec: {tolerations: [{key: sla, operator: Gt, value: "900"}]}
"""
GOOD = f"{HEAD}{NODES}cases:\n- name: above\n{POD}  expect: {{passes: [gold]}}\n"
FAILING = f"{HEAD}{NODES}cases:\n- name: all\n{POD}  expect:\n    passes: [gold, bronze]\n"
REFUSED = "refused: node(s) had untolerated taint {sla: 800} (TaintToleration)"


def write(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return name


def run(folder: Path, *arguments: str, given: str = "") -> process.Ended:
    return process.run_here("test", *arguments, cwd=folder, given=given)


def run_shown(command: str) -> process.Ended:
    """A command line as a page shows it."""
    return process.run_here(*shlex.split(command), cwd=ROOT)


def test_every_story_that_is_shipped_holds() -> None:
    ended = run(ROOT, "deploy/examples/stories")

    assert (ended.code, "FAILED" in ended.out) == (0, False)
    assert ended.out.count(" ok\n") == 27


@pytest.mark.parametrize("command", ["test", "diff"])
def test_the_first_example_of_the_manual_page_works_here(command: str) -> None:
    page = process.run(command, "--help").out
    example = next(line for line in page.splitlines() if line.startswith("  $ leeway "))
    ended = run_shown(example.removeprefix("  $ leeway "))

    assert (ended.code in (0, 1), ended.err.count("leeway: ")) == (True, 0)


def test_every_story_says_first_what_an_extender_alone_cannot_do() -> None:
    limited = {"5471-2", "5471-4", "5471-5", "5500-1"}
    firsts = {
        folder.name[:6]: (folder / "test.yaml").read_text(encoding="utf-8").splitlines()[0]
        for folder in STORIES.iterdir()
        if folder.is_dir()
    }

    assert len(firsts) == 13
    assert {name for name, line in firsts.items() if line.startswith("# Not ")} == limited
    assert all(
        line.startswith(f"# KEP-{name[:4]}, story {name[5]}: ")
        for name, line in firsts.items()
        if name not in limited
    )


def test_a_table_and_exit_code_0_where_all_holds(tmp_path: Path) -> None:
    ended = run(tmp_path, write(tmp_path, "good.yaml", GOOD))

    assert ended == process.Ended(
        0,
        "TEST         CASE   RESULT\ngood.yaml:9  above  ok\n",
        "1 case(s), 1 ok, 0 failed\n",
    )


def test_a_difference_and_exit_code_1_where_something_does_not(tmp_path: Path) -> None:
    ended = run(tmp_path, write(tmp_path, "bad.yaml", FAILING))

    assert ended.code == 1
    assert ended.out.splitlines()[-5:] == [
        "",
        "bad.yaml:9: all",
        "  bronze (line 15)",
        "    - passes",
        f"    + {REFUSED}",
    ]
    assert ended.err == "1 case(s), 0 ok, 1 failed\n"


def test_a_folder_has_other_files_too(tmp_path: Path) -> None:
    write(tmp_path, "t/good.yaml", GOOD)
    write(tmp_path, "t/deep/chart.yaml", "{{ if .Values.x }}")
    write(tmp_path, "t/nodes.yaml", "kind: Node\n")

    assert run(tmp_path, "t").code == 0


def test_a_folder_without_a_test_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, "t/nodes.yaml", "kind: Node\n")
    ended = run(tmp_path, "t")

    assert ended.code == 2
    assert ended.err.startswith("leeway: t: no file in it has a RuleTest\n")


def test_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    ended = run(tmp_path, "t")

    assert ended.code == 2
    assert ended.err.startswith("leeway: t: no file in it ends in")


def test_standard_input_is_relative_to_here(tmp_path: Path) -> None:
    write(tmp_path, "pod.yaml", "kind: Pod\nmetadata: {name: p}\n")
    text = f"{HEAD}{NODES}cases:\n- {{name: a, pod: pod.yaml, expect: {{passes: []}}}}\n"
    ended = run(tmp_path, "-", given=text)

    assert ended.code == 0
    assert "stdin:9  a" in ended.out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("a: [", "bad.yaml: line 2", id="half"),
        pytest.param("kind: Pod\n", "bad.yaml: has no RuleTest: a test has `kind:", id="no test"),
        pytest.param(
            GOOD + "  expects: {}\n",
            "bad.yaml:15: cases[0].expects: unknown key; known here:",
            id="a misspelt key",
        ),
        pytest.param(
            GOOD.replace('value: "950"', "value: 950"),
            "bad.yaml:4: nodes[0]: Node 'gold': ",
            id="a bad node",
        ),
        pytest.param(
            GOOD.replace("name: bronze", "name: gold"),
            "bad.yaml:9: cases[0]: Node 'gold' is defined twice: remove one",
            id="two nodes of one name",
        ),
    ],
)
def test_what_is_wrong_with_a_test_does_not_hide_the_others(
    tmp_path: Path, text: str, says: str
) -> None:
    ended = run(
        tmp_path, write(tmp_path, "bad.yaml", text), write(tmp_path, "good.yaml", GOOD), "missing"
    )

    assert ended.code == 2
    assert "good.yaml:9  above  ok" in ended.out
    assert f"leeway: {says}" in ended.err
    assert "leeway: missing: cannot be read: No such file or directory" in ended.err
    assert "1 case(s), 1 ok, 0 failed, 2 problem(s)" in ended.err


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"\xff")
    ended = run(tmp_path, "bad.yaml")

    assert ended.code == 2
    assert "leeway: bad.yaml: 'utf-8' codec can't decode" in ended.err


def test_several_tests_in_a_file_have_their_own_lines(tmp_path: Path) -> None:
    ended = run(tmp_path, write(tmp_path, "two.yaml", f"{GOOD}---\n{FAILING}"))

    assert ended.code == 1
    assert "two.yaml:9   above  ok" in ended.out
    assert "two.yaml:24  all    FAILED" in ended.out


def test_cases_without_nodes_take_those_of_the_command_line(tmp_path: Path) -> None:
    case = f"{HEAD}cases:\n- name: a\n{POD}  expect: {{passes: [n]}}\n"
    test = write(tmp_path, "t.yaml", case)
    write(tmp_path, "nodes.yaml", "kind: Node\nmetadata: {name: n}\n")

    assert run(tmp_path, test, "--cluster", "nodes.yaml").code == 0
    ended = run(tmp_path, test)
    assert ended.code == 2
    assert "t.yaml:4: cases[0].nodes: is missing: give nodes, or use --cluster" in ended.err


def test_gates_of_the_command_line_and_of_a_case(tmp_path: Path) -> None:
    gate = "TaintTolerationComparisonOperators"
    off = f"configuration: {{featureGates: {{{gate}: false}}}}\n"

    assert run(tmp_path, write(tmp_path, "t.yaml", GOOD)).code == 0
    assert run(tmp_path, "t.yaml", "--feature-gates", f"{gate}=false").code == 1
    assert run(tmp_path, write(tmp_path, "off.yaml", GOOD + off)).code == 1


def test_json_for_programs(tmp_path: Path) -> None:
    ended = run(tmp_path, "-o", "json", write(tmp_path, "bad.yaml", FAILING))
    document = json.loads(ended.out)

    assert (document["cases"], document["failed"], document["problems"]) == (1, 1, [])
    assert document["results"][0]["mismatches"] == [
        {
            "path": "cases[0].expect.passes[1]",
            "line": 15,
            "node": "bronze",
            "expected": "passes",
            "actual": REFUSED,
        }
    ]


@pytest.mark.parametrize(("command", "shown"), pages.shown("docs/test.md"))
def test_the_output_of_the_documentation_is_real(command: str, shown: str, tmp_path: Path) -> None:
    for name, text in zip(
        ("spot.yaml", "loose.yaml"), blocks(ROOT / "docs/test.md", "yaml"), strict=False
    ):
        write(tmp_path, name, text)
    write(tmp_path, "tests/spot.yaml", blocks(ROOT / "docs/test.md", "yaml")[0])
    ended = process.run_here(*command.removeprefix("leeway ").split(), cwd=tmp_path)

    assert ended.out + ended.err == shown


@pytest.mark.parametrize(("command", "shown"), pages.shown("deploy/examples/stories/README.md"))
def test_the_output_of_the_stories_page_is_real(command: str, shown: str) -> None:
    ended = run_shown(command.removeprefix("leeway "))

    assert ended.out + ended.err == shown
