"""`leeway config print`: the configuration that `leeway serve` would run with."""

import argparse

import yaml

from extender.cli import flags
from extender.config import printing


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("config", help="look at the configuration")
    inner = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    printer = inner.add_parser(
        "print",
        help="print the effective configuration",
        description="Print what the file, the flags and the defaults amount to, as a file.",
    )
    flags.add_to(printer)
    printer.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the effective configuration."""
    document = printing.to_document(flags.effective_config(arguments))
    print(yaml.safe_dump(document, sort_keys=False), end="")
    return 0
