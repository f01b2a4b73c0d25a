"""`leeway version`."""

import argparse
import platform

from extender import __version__


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("version", help="print the version")
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Print the version of Leeway and of Python."""
    print(f"leeway {__version__} (Python {platform.python_version()})")
    return 0
