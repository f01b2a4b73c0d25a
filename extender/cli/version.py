"""`leeway version`."""

import argparse
import platform
from typing import Final

from extender import __version__
from extender.cli import manual
from extender.cli.manual import Page
from extender.rows import IMPLEMENTATION

_PAGE: Final = Page(
    "print the version",
    "Print the version of Leeway, the Python it runs on, and whether requests are answered by "
    "compiled code (native rows) or, where there was no compiler, by Python (python rows).",
    examples=[("leeway version", "One line.")],
    exit_codes={0: "always"},
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    manual.add_command(commands, "version", _PAGE).set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Print the version of Leeway and of Python, and which rows run."""
    print(f"leeway {__version__} (Python {platform.python_version()}, {IMPLEMENTATION} rows)")
    return 0
