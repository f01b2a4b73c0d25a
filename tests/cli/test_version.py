"""`leeway version`, by each of its names."""

import importlib
import platform

import pytest

from extender import __version__, cli, rows
from tests.cli import process


@pytest.mark.parametrize(
    "command",
    [
        pytest.param((process.SCRIPT,), id="leeway"),
        pytest.param((process.KUBECTL_SCRIPT,), id="kubectl leeway"),
        pytest.param(process.MODULE, id="python -m extender"),
    ],
)
def test_the_version_of_leeway_and_of_python_and_which_rows_run(command: tuple[str, ...]) -> None:
    ended = process.run("version", command=command)

    about = f"Python {platform.python_version()}, {rows.IMPLEMENTATION} rows"
    line = f"leeway {__version__} ({about})\n"
    assert ended == process.Ended(0, line, "")


def test_importing_the_module_runs_nothing() -> None:
    assert callable(importlib.import_module("extender.__main__").main)


def test_a_flag_does_the_same() -> None:
    assert process.run("--version") == process.run("version")


def test_main_returns_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["version"]) == 0
    assert capsys.readouterr().out.startswith(f"leeway {__version__} ")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="no command"),
        pytest.param(["config"], id="half a command"),
        pytest.param(["explain", "-o", "text"], id="no such choice"),
    ],
)
def test_a_wrong_command_line_exits_2_with_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)

    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: leeway")


def test_help_names_the_commands() -> None:
    ended = process.run("--help")

    assert ended.code == 0
    assert all(command in ended.out for command in ("serve", "config", "version"))
