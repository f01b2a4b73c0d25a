"""`leeway help`: the list of commands, or the manual page of one."""

import argparse
from typing import Final

from extender.cli import manual
from extender.cli.manual import Page

_PAGE: Final = Page(
    "show the manual page of a command",
    """Show the manual page of a command, as 'leeway COMMAND --help' does. Without COMMAND, list
    the commands.""",
    examples=[
        ("leeway help", "All commands."),
        ("leeway help explain", "The manual page of 'leeway explain'."),
        ("leeway help config print", "The manual page of a command of a command."),
    ],
    exit_codes={0: "success", 2: "there is no such command"},
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "help", _PAGE)
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the command")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask the command for its page."""
    from extender.cli import main  # imported late: main imports this command

    return main([*arguments.command, "--help"])
