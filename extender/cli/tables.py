"""Tables: wrapped and coloured on a terminal, plain lines in a pipe.

Untrusted text (names, values, reasons) is always escaped: a label cannot colour the screen or
move the cursor.
"""

import os
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal, TextIO

from extender.cli import escapes

Colour = Literal["", "bold", "dim", "red", "green", "yellow", "cyan"]

_CODES: Final[Mapping[Colour, str]] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
_GAP: Final = "  "
_NARROWEST: Final = 8  # columns do not get narrower, even if lines become too long
_DEFAULT_WIDTH: Final = 80
_WIDE: Final = frozenset({"W", "F"})


@dataclass(frozen=True, slots=True)
class Screen:
    """The output device; without a width nothing is wrapped."""

    width: int | None = None
    colour: bool = False

    def paint(self, text: str, colour: Colour) -> str:
        """`text` in a colour, if the screen has colours."""
        if not colour or not self.colour or not text:
            return text
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    colour: Colour = ""


Row = Sequence[Cell | str]


def screen(stream: TextIO, environment: Mapping[str, str]) -> Screen:
    """The screen of a stream: colours only on a terminal, and not with $NO_COLOR."""
    if not stream.isatty():
        return Screen()
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        width = 0
    plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return Screen(width or _DEFAULT_WIDTH, not plain)


def render(header: Sequence[str], rows: Sequence[Row], on: Screen, *, indent: str = "") -> str:
    """A table as text; an empty header is left out."""
    cells = [[_cell(each) for each in row] for row in rows]
    if header:
        cells.insert(0, [Cell(title, "bold") for title in header])
    widths = [max(map(_width_of, column)) for column in zip_longest(*cells, fillvalue=Cell(""))]
    if on.width is not None:
        widths = _squeezed(widths, on.width - len(indent) - len(_GAP) * (len(widths) - 1))
    lines = [line for row in cells for line in _row(row, widths, on)]
    return "".join(f"{indent}{line}\n" for line in lines)


def paragraph(text: str, on: Screen, *, indent: str = "") -> str:
    """A paragraph, wrapped if the screen has a width."""
    text = escapes.line(text)
    if on.width is None:
        return f"{indent}{text}\n"
    width = max(on.width - len(indent), _NARROWEST)
    return "".join(f"{indent}{line}\n" for line in _wrapped(text, width))


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in _WIDE)
        for c in text
    )


def _cell(given: Cell | str) -> Cell:
    cell = Cell(given) if isinstance(given, str) else given
    return Cell(escapes.line(cell.text), cell.colour)


def _width_of(cell: Cell) -> int:
    return display_width(cell.text)


def _squeezed(widths: list[int], room: int) -> list[int]:
    """The widths, with the widest columns narrowed until all fit."""
    cap = max(widths, default=0)
    while cap > _NARROWEST and sum(min(width, cap) for width in widths) > room:
        cap -= 1
    return [min(width, cap) for width in widths]


def _row(cells: Sequence[Cell], widths: Sequence[int], on: Screen) -> list[str]:
    columns = [_wrapped(c.text, width) for c, width in zip(cells, widths, strict=False)]
    lines = []
    for parts in zip_longest(*columns, fillvalue=""):
        painted = [
            on.paint(part, cell.colour) + " " * (width - display_width(part))
            for part, cell, width in zip(parts, cells, widths, strict=False)
        ]
        lines.append(_GAP.join(painted).rstrip())
    return lines or [""]


def _wrapped(text: str, width: int) -> list[str]:
    if display_width(text) <= width:
        return [text]
    lines: list[str] = []
    for line in textwrap.wrap(text, max(width, 1), break_on_hyphens=False):
        lines += _cut(line, width)
    return lines


def _cut(line: str, width: int) -> list[str]:
    """Split a line with wide characters into pieces that fit."""
    pieces = [""]
    for char in line:
        if pieces[-1] and display_width(pieces[-1] + char) > width:
            pieces.append("")
        pieces[-1] += char
    return pieces
