"""The manual pages: every command has one, and it is of use."""

import argparse
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from extender import cli
from extender.cli import manual
from extender.cli.manual import Page
from tests.cli import process
from tests.cli.pages import ROOT


def pages(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield path
    for action in below:
        for name, inner in action.choices.items():
            yield from pages(inner, (*path, name))


COMMANDS = list(pages(cli.parser(), ()))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_manual_page(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([*command, "--help"])
    page = capsys.readouterr().out

    assert caught.value.code == 0
    assert page.startswith(f"usage: leeway {' '.join(command)}")
    assert f"examples:\n  $ leeway {command[0]}" in page or "<(leeway completion" in page
    assert "\nexit codes:\n  0   " in page


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_of_a_page_is_too_long_for_a_terminal(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main([*command, "--help"])

    prose = (line for line in capsys.readouterr().out.splitlines() if "$ " not in line)
    assert [line for line in prose if len(line) > 80] == []


# What an example needs that a checkout does not have, or what it leaves behind.
ELSEWHERE = (
    "kubectl ",
    "helm ",
    "jq ",
    "git ",
    "~/",
    " leeway.yaml",
    "--extender",
    "> ",
    "--out ",
    "--context ",
    "before/",
    "dump/",
)


def examples(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit):
        cli.main([*command, "--help"])
    _, _, rest = capsys.readouterr().out.partition("\nexamples:\n")
    shown = rest.partition("\nexit codes:\n")[0]
    return [line.removeprefix("  $ ") for line in shown.splitlines() if line.startswith("  $ ")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_examples_of_a_page_work(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = examples(command, capsys)
    runnable = [line for line in lines if not any(word in line for word in ELSEWHERE)]

    if command == ("controller",):  # which needs an API server
        assert not runnable
        return
    assert runnable[:1] == lines[:1], "the first example works in a checkout"
    for line in runnable:
        if command == ("serve",):
            with process.serving(tmp_path, *shlex.split(line)[2:]):
                pass  # it listens
            continue
        ended = in_shell(line)
        # Without a kubeconfig, a line that needs a cluster gets as far as to ask for one.
        if line != lines[0] and "which cluster?" in ended.stderr:
            continue
        assert ended.returncode in (0, 1, 3), line
        assert "leeway: error" not in ended.stderr, line
        says_nothing = re.search(r"\b0 (error\(s\)|failed)", ended.stderr)
        assert ended.stdout or command == ("completion",) or says_nothing


def in_shell(line: str) -> subprocess.CompletedProcess[str]:
    """What comes of a line in the root of the project."""
    path = f"{Path(process.SCRIPT).parent}:{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 - our own documentation
        ["/bin/bash", "-c", line],
        cwd=ROOT,
        env=process.environment() | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_list_of_commands_says_what_each_does() -> None:
    ended = process.run("--help")

    assert ended.code == 0
    for command, *_ in COMMANDS:
        assert f"\n    {command}" in ended.out


def test_a_page_has_only_the_sections_that_it_needs() -> None:
    parser = argparse.ArgumentParser()
    inner = manual.add_command(
        parser.add_subparsers(),
        "dance",
        Page("dance", "Dance.\n\nA second\n    paragraph.", exit_codes={130: "tired " * 20}),
    )

    assert inner.description == "Dance.\n\nA second paragraph."
    assert (inner.epilog or "").startswith("exit codes:\n  130 tired")
    assert "examples" not in (inner.epilog or "")
    assert all(line.startswith("      tired") for line in (inner.epilog or "").splitlines()[2:])
