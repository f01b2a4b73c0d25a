"""Tables: what they look like in a pipe and on a terminal."""

import io
import os
import pty
import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.cli import escapes, tables
from extender.cli.tables import Cell, Screen

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
HEADER = ("NODE", "REASON")
ROWS = (("spot-gold", Cell("fits", "green")), ("gpu", Cell("had an untolerated taint", "red")))


def test_in_a_pipe_columns_are_aligned_and_lines_stay_whole() -> None:
    assert tables.render(HEADER, ROWS, Screen()) == (
        "NODE       REASON\nspot-gold  fits\ngpu        had an untolerated taint\n"
    )


def test_on_a_narrow_terminal_the_widest_column_is_wrapped() -> None:
    assert tables.render(HEADER, ROWS, Screen(width=26), indent=" ") == (
        " NODE       REASON\n"
        " spot-gold  fits\n"
        " gpu        had an\n"
        "            untolerated\n"
        "            taint\n"
    )


def test_colours_do_not_count_as_width() -> None:
    plain = tables.render(HEADER, ROWS, Screen(width=26))
    painted = tables.render(HEADER, ROWS, Screen(width=26, colour=True))

    assert "\x1b[32mfits\x1b[0m" in painted
    assert ESCAPE.sub("", painted) == plain


def test_without_a_header_there_are_only_rows() -> None:
    assert tables.render((), [("a", "b"), ("", "c")], Screen()) == "a  b\n   c\n"
    assert tables.render((), [], Screen(width=80)) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[2Jgone", "\\x1b[2Jgone", id="an escape sequence"),
        pytest.param("a\nb\tc", "a\\nb\\tc", id="line breaks"),
        pytest.param("\u202eevil", "\\u202eevil", id="text that runs backwards"),
        pytest.param("größer", "größer", id="letters"),
    ],
)
def test_foreign_text_cannot_command_a_terminal(text: str, shown: str) -> None:
    assert tables.render((), [(text,)], Screen()) == shown + "\n"
    assert tables.paragraph(text, Screen()) == shown + "\n"


def test_wide_characters_take_two_columns() -> None:
    assert tables.render((), [("漢字", "x"), ("abcd", "y")], Screen()) == "漢字  x\nabcd  y\n"
    assert tables.display_width("e\u0301") == 1


def test_a_paragraph_is_wrapped_on_a_terminal_only() -> None:
    text = "one two three four"

    assert tables.paragraph(text, Screen(width=12), indent="  ") == ("  one two\n  three four\n")
    assert tables.paragraph(text, Screen()) == text + "\n"


@given(
    rows=st.lists(st.lists(st.text(max_size=60), min_size=1, max_size=4), max_size=5),
    width=st.integers(50, 120),
)
def test_a_table_fits_and_loses_nothing_but_white_space(rows: list[list[str]], width: int) -> None:
    text = tables.render((), rows, Screen(width=width))

    assert all(tables.display_width(line) <= width for line in text.splitlines())
    assert sorted("".join(text.split())) == sorted(
        "".join(escapes.line("".join(row)) for row in rows).replace(" ", "")
    )


def test_a_pipe_is_plain() -> None:
    assert tables.screen(io.StringIO(), {}) == Screen(None, colour=False)


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        pytest.param({"TERM": "xterm"}, True, id="an ordinary terminal"),
        pytest.param({"NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param({"NO_COLOR": ""}, True, id="an empty NO_COLOR says nothing"),
        pytest.param({"TERM": "dumb"}, False, id="a dumb terminal"),
    ],
)
def test_a_terminal_has_colours_unless_told_otherwise(
    environment: Mapping[str, str], coloured: bool
) -> None:
    _, replica = pty.openpty()
    with os.fdopen(replica, "w") as stream:
        assert tables.screen(stream, environment) == Screen(80, coloured)


def test_a_terminal_that_does_not_know_its_width() -> None:
    class Odd(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert tables.screen(Odd(), {}).width == 80
