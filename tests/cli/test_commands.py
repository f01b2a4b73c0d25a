"""The index of commands, and what a start imports."""

import argparse
import json
import sys

import pytest

from extender import cli
from extender.cli import commands
from tests.cli import process

# What takes long to import; also the rooms of our own that import such.
HEAVY = (
    "aiohttp",
    "cryptography",
    "httptools",
    "kubernetes",
    "msgspec",
    "prometheus_client",
    "re2",
    "semver",
    "ssl",
    "uvloop",
    "yaml",
    "extender.cluster",
    "extender.config",
    "extender.match",
    "extender.model",
    "extender.review",
    "extender.server",
)
# Runs the program and tells on the last line of its output what it has imported.
IMPORTED = """
import json, sys
from extender.__main__ import main
try:
    main()
finally:
    print()
    print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize(
    "arguments",
    [("version",), ("--version",), ("--help",), ("help",), ("help", "version")],
    ids=" ".join,
)
def test_a_quick_question_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    ended = process.run(*arguments, command=(sys.executable, "-c", IMPORTED))
    imported = json.loads(ended.out.splitlines()[-1])

    assert "extender.cli" in imported
    assert [name for name in imported if name.startswith(HEAVY)] == []


def test_a_command_imports_no_other_command() -> None:
    ended = process.run("validate", "--help", command=(sys.executable, "-c", IMPORTED))
    imported = json.loads(ended.out.splitlines()[-1])

    assert "extender.cli.validate" in imported
    assert {f"extender.cli.{each}" for each in commands.SUMMARIES} & set(imported) == {
        "extender.cli.validate"
    }


def test_the_index_has_the_summary_of_every_page() -> None:
    def summaries(parser: argparse.ArgumentParser) -> dict[str, str | None]:
        (below,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
        return {each.dest: each.help for each in below._choices_actions}

    assert summaries(cli.parser()) == summaries(cli.parser(())) == dict(commands.SUMMARIES)
