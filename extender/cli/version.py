"""`leeway version`."""

import argparse
import platform
from typing import Final

from extender import __version__
from extender.cli import manual
from extender.cli.manual import Page

_PAGE: Final = Page(
    "print the version",
    "Print the version of Leeway and of the Python it runs on.",
    examples=[("leeway version", "One line.")],
    exit_codes={0: "always"},
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    manual.add_command(commands, "version", _PAGE).set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Print the version of Leeway and of Python."""
    print(f"leeway {__version__} (Python {platform.python_version()})")
    return 0
