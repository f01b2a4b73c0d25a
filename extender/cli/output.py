"""The `-o` flag: print a result as a table, JSON or YAML."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Final

from extender.cli import escapes, tables
from extender.cli.tables import Screen
from extender.model.documents import Plain

FORMATS: Final = ("table", "json", "yaml")


def add_to(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add `-o`, with more formats than usual."""
    parser.add_argument(
        "-o",
        "--output",
        choices=(*FORMATS, *more),
        default="table",
        help="output format (table)",
    )


def show(document: Plain, form: str, table: Callable[[Screen], str]) -> None:
    """Print the result; the table fits the terminal."""
    if form == "table":
        text = table(tables.screen(sys.stdout, os.environ))
    else:
        text = dumped(document, form)
    sys.stdout.write(text)
    sys.stdout.flush()


def dumped(document: Plain, form: str) -> str:
    """The document as JSON or YAML, with keys in insertion order."""
    if form == "json":
        return escapes.json_text(document, indent=2) + "\n"
    return escapes.yaml_text(document)
