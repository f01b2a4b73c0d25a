"""Shell completion, asked of bash; the other shells are asked in the end-to-end tests."""

import shutil
import subprocess
from pathlib import Path

import pytest

from extender import cli
from extender.cli import completion
from tests.cli import process

BASH = shutil.which("bash") or "bash"
ASK_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { :; }  # only works while a person types
_leeway
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The script of each shell, as the command prints it."""
    folder = tmp_path_factory.mktemp("completion")
    files = {}
    for shell in ("bash", "fish", "zsh"):
        ended = process.run("completion", shell)
        assert (ended.code, ended.err) == (0, "")
        files[shell] = folder / shell
        files[shell].write_text(ended.out)
    return files


def bash(script: Path, *words: str, cwd: Path | None = None) -> set[str]:
    """What bash offers after these words, of which the last is not finished."""
    done = subprocess.run(  # noqa: S603 - our own script
        [BASH, "--norc", "-c", ASK_BASH, "bash", str(script), *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_offers_the_commands(scripts: dict[str, Path]) -> None:
    assert {"serve", "config", "completion", "version", "--help"} <= bash(
        scripts["bash"], "leeway", ""
    )


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(["ver"], {"version"}, id="a command that was begun"),
        pytest.param(["config", ""], {"print", "-h", "--help"}, id="the command of a command"),
        pytest.param(["config", "print", "--clu"], {"--cluster"}, id="a flag of it"),
        pytest.param(["serve", "--log-format", ""], {"text", "json"}, id="the values of a flag"),
        pytest.param(["serve", "--log-format", "="], {"text", "json"}, id="after ="),
        pytest.param(["serve", "--log-format", "=", "j"], {"json"}, id="begun after ="),
        pytest.param(["serve", "--ops-listen", ""], set(), id="what nobody can know"),
        pytest.param(["serve", "-v", "--ops"], {"--ops-listen"}, id="after another flag"),
        pytest.param(["completion", ""], {"bash", "zsh", "fish", "-h", "--help"}, id="a value"),
        pytest.param(["dance", "x"], set(), id="no such command"),
    ],
)
def test_bash_completes(scripts: dict[str, Path], words: list[str], offered: set[str]) -> None:
    assert bash(scripts["bash"], "leeway", *words) == offered


def test_bash_offers_files_where_a_flag_takes_one(scripts: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "leeway.yaml").touch()
    (tmp_path / "other.txt").touch()

    assert bash(scripts["bash"], "leeway", "serve", "--config", "le", cwd=tmp_path) == {
        "leeway.yaml"
    }


def test_the_script_of_bash_is_good_syntax(scripts: dict[str, Path]) -> None:
    done = subprocess.run(  # noqa: S603 - our own script
        [BASH, "-n", str(scripts["bash"])], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_flag_is_in_the_script(scripts: dict[str, Path], shell: str) -> None:
    text = scripts[shell].read_text()
    for command in completion.commands_of(cli.parser(), ("leeway",)):
        assert command.path[-1] in text
        for name in (name for option in command.options for name in option.names):
            spelt = {"fish": f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"}
            assert spelt.get(shell, name) in text, name
