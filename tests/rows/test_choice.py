"""Which implementation serves."""

import importlib
import os
import subprocess
import sys

import pytest

from extender import rows

ASK = "from extender import rows; print(rows.IMPLEMENTATION, rows.NameIndex.__module__)"


def told(script: str) -> str:
    ended = subprocess.run(  # noqa: S603 - this very Python
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return ended.stdout.strip()


def test_c_serves_where_it_was_compiled() -> None:
    pytest.importorskip("extender.rows._native")

    assert told(ASK) == "native extender.rows._native"


def test_python_serves_where_there_was_no_compiler() -> None:
    hide = "import sys; sys.modules['extender.rows._native'] = None; "

    assert told(hide + ASK) == "python extender.rows.plain"


def test_the_numbers_are_those_of_the_implementations() -> None:
    candidates = rows.Candidates([rows.UNKNOWN], [b'"a"'])

    assert candidates.judge([], [], []) == -1
    assert list(candidates.places) == [1]


def test_continuous_integration_never_skips_the_compiled_rows() -> None:
    """Without a compiler the tests of the C are skipped; where CI is set that is a failure."""
    if os.environ.get("CI"):
        importlib.import_module("extender.rows._native")
