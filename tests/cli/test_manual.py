"""The manual pages: every command has one, and it is of use."""

import argparse
from collections.abc import Iterator

import pytest

from extender import cli
from extender.cli import manual
from extender.cli.manual import Page
from tests.cli import process


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
