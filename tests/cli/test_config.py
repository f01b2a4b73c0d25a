"""`leeway config print`."""

from pathlib import Path

import pytest
import yaml

from extender import cli
from extender.config import loading
from extender.config.schema import Config
from tests.cli import process

FILE = """\
apiVersion: leeway.scheduling/v1alpha1
kind: ExtenderConfiguration
listen: {scheduler: "[::1]:1"}
profiles:
- schedulerName: "yes"
  plugins: [{name: TaintToleration, weight: 0}, {name: NodeUnschedulable}]
reasons: redacted
maxStaleness: 1m30s
cluster: {files: ["a b.yaml", "1.20"]}
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["config", "print", *arguments]) == 0
    return capsys.readouterr().out


def test_the_defaults_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = yaml.safe_load(printed(capsys))

    assert page["apiVersion"] == "leeway.scheduling/v1alpha1"
    assert page["listen"] == {"scheduler": "127.0.0.1:8888", "ops": "127.0.0.1:8080"}
    assert page["limits"]["bodyTimeout"] == "20s"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(FILE, [], id="a file"),
        pytest.param(
            "",
            [
                "--cluster",
                "a.yaml",
                "b",
                "--cluster",
                "c",
                "--feature-gates",
                "TaintTolerationCEL=false",
            ],
            id="flags",
        ),
        pytest.param(FILE, ["-v", "-v", "--catch-up", "0", "--log-format", "json"], id="both"),
    ],
)
def test_what_is_printed_loads_to_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: list[str]
) -> None:
    if text:
        (tmp_path / "given.yaml").write_text(text)
        arguments = ["--config", str(tmp_path / "given.yaml"), *arguments]
    file = tmp_path / "printed.yaml"
    file.write_text(printed(capsys, *arguments))

    assert printed(capsys, "--config", str(file)) == file.read_text()
    assert (loading.load(file, {}) == Config()) is (not arguments)


def test_a_flag_wins_over_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(FILE)
    page = yaml.safe_load(
        printed(
            capsys, "--config", str(file), "--scheduler-listen", "h:2", "--cluster", "only.yaml"
        )
    )

    assert page["listen"]["scheduler"] == "h:2"
    assert page["cluster"] == {"files": ["only.yaml"]}
    assert page["reasons"] == "redacted"


def test_a_wrong_file_exits_2_with_a_line_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(FILE + "color: blue\nnoExecute: never\n")
    ended = process.run_here("config", "print", "--config", str(file))

    assert (ended.code, ended.out) == (2, "")
    assert sorted(line.split(": ")[:3] for line in ended.err.splitlines()) == [
        ["leeway", str(file), "color"],
        ["leeway", str(file), "noExecute"],
    ]


def test_a_path_that_is_not_utf_8_is_printed(tmp_path: Path) -> None:
    ended = process.run_here("config", "print", "--cluster", "\udcff.yaml")

    assert ended.code == 0
    assert "Traceback" not in ended.err


def test_the_file_may_be_standard_input() -> None:
    text = "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\ncatchUp: 20ms\n"
    ended = process.run("config", "print", "--config", "-", given=text)

    assert (ended.code, ended.err) == (0, "")
    assert "catchUp: 20ms\n" in ended.out
