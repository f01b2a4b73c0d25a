"""Manual pages, as `--help` shows them: description, examples, exit codes and files."""

import argparse
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.cli import commands as index
from extender.cli import program

_WIDTH: Final = 80
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a manual page."""

    summary: str  # one line, in the list of commands
    description: str  # paragraphs, separated by empty lines
    examples: Sequence[tuple[str, str]] = ()  # a command line, and what it does
    exit_codes: Mapping[int, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    see: str = ""  # the page of the documentation


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, page: Page
) -> argparse.ArgumentParser:
    """Add a command with its manual page."""
    return commands.add_parser(
        name,
        help=page.summary,
        description="\n\n".join(map(filled, page.description.split("\n\n"))),
        epilog=_epilog(page),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _epilog(page: Page) -> str:
    sections = {
        "examples": [f"$ {_typed(line)}\n{filled(what, '    ')}" for line, what in page.examples],
        "exit codes": [_entry(str(code), what) for code, what in page.exit_codes.items()],
        "files": [_entry(name, what) for name, what in page.files.items()],
        "see also": [page.see] if page.see else [],
    }
    return "\n\n".join(
        f"{title}:\n" + textwrap.indent("\n".join(entries), _INDENT)
        for title, entries in sections.items()
        if entries
    )


def _entry(name: str, what: str) -> str:
    """A name with its description, beside or below it."""
    if len(name) < 4:
        text = filled(what, "    ")
        return f"{name:<4}{text[4:]}"
    return f"{name}\n{filled(what, '    ')}"


def filled(text: str, indent: str = "") -> str:
    """Text wrapped to the width of a page."""
    return textwrap.fill(
        _typed(" ".join(text.split())),
        _WIDTH - len(_INDENT),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _typed(text: str) -> str:
    """A text with the command lines in it as a person types them."""
    return program.named(text, (*index.SUMMARIES, "COMMAND"))
