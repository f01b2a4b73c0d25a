"""The `-o` flag: print a result as a table, JSON or YAML."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import Final

from extender.cli import escapes, tables
from extender.cli.tables import Screen
from extender.model.documents import Plain

FORMATS: Final = ("table", "json", "yaml")
# As in kubectl, where they make sense: a table with everything in it, and names alone.
WIDE: Final = "wide"
NAME: Final = "name"


def add_to(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add `-o`, with more formats than usual."""
    parser.add_argument(
        "-o",
        "--output",
        choices=(*FORMATS, *more),
        default="table",
        help="output format (table)",
    )


def show(
    document: Plain, form: str, table: Callable[[Screen], str], names: Iterable[str] = ()
) -> None:
    """Print the result; the table fits the terminal. `names` are those of what was looked for."""
    if form in ("table", WIDE):
        text = table(tables.screen(sys.stdout, os.environ))
    elif form == NAME:
        text = "".join(f"{escapes.line(name)}\n" for name in names)
    else:
        text = dumped(document, form)
    sys.stdout.write(text)
    sys.stdout.flush()


def dumped(document: Plain, form: str) -> str:
    """The document as JSON or YAML, with keys in insertion order."""
    if form == "json":
        return escapes.json_text(document, indent=2) + "\n"
    return escapes.yaml_text(document)
