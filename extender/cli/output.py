"""The `-o` flag: print a result as a table, JSON or YAML."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Final

import yaml

from extender.cli import tables
from extender.cli.tables import Screen
from extender.model.documents import Plain

FORMATS: Final = ("table", "json", "yaml")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add `-o`."""
    parser.add_argument(
        "-o",
        "--output",
        choices=FORMATS,
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
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
