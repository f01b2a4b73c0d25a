"""`leeway config print`: the configuration that `leeway serve` or `controller` would run with."""

import argparse
from typing import Final

import yaml

from extender.cli import flags, manual
from extender.cli.manual import Page
from extender.config import printing

_CONFIG: Final = Page("show the configuration", "Show the configuration of Leeway.")
_PRINT: Final = Page(
    "print the effective configuration",
    """Print the result of file, flags and defaults as an ExtenderConfiguration that
    'leeway serve --config' and 'leeway controller --config' accept.

    The command starts nothing. It reports all problems at once, each with its path in the file
    or with its flag.""",
    examples=[
        ("leeway config print", "The defaults."),
        (
            "leeway config print --config leeway.yaml --catch-up 0",
            "The file with one flag on top.",
        ),
    ],
    exit_codes={0: "the configuration is valid", 2: "it is not; one sentence for each problem"},
    files={"leeway.yaml": "an ExtenderConfiguration, under any name; see --config"},
    see="docs/configuration.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "config", _CONFIG)
    inner = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    printer = manual.add_command(inner, "print", _PRINT)
    flags.add_all_to(printer)
    printer.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the effective configuration."""
    document = printing.to_document(flags.effective_config(arguments))
    print(yaml.safe_dump(document, sort_keys=False), end="")
    return 0
