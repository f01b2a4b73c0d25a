"""The rows of `tests/vectors/`: what the real Kubernetes code answered."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extender.match.gates import ATTRIBUTE_OF, FeatureGates

VECTORS = Path(__file__).parent / "vectors"
SEMVER_GATE = "TaintTolerationNodeAffinitySemverComparisonOperators"

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """Every row of a file. Split at newlines only: some strings hold a raw U+0085."""
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def gates_of(row: Row) -> FeatureGates:
    """The gates of a row; code that does not name the semver gate had no such operators."""
    named = {SEMVER_GATE: False} | row.get("gates", {})
    return FeatureGates(**{ATTRIBUTE_OF[name]: on for name, on in named.items()})


def params(name: str) -> list[Any]:
    """The rows as pytest parameters, each under its number and case."""
    return [
        pytest.param(row, id=f"{name}-{number}-{row.get('case', '')}")
        for number, row in enumerate(rows(name), start=1)
    ]


def lines_of(name: str) -> int:
    """How many lines a file has, counted without reading a single row."""
    return (VECTORS / f"{name}.jsonl").read_bytes().count(b"\n")


def assert_every_row(
    name: str, ask: Callable[[Row], object], answer: Callable[[Row], object]
) -> None:
    """Ask every line of a file and compare; a failure lists each wrong row.

    `ask` is what the code under test says of a row, `answer` what the row says.
    """
    asked = 0
    wrong: list[str] = []
    for number, row in enumerate(rows(name), start=1):
        got, expected = ask(row), answer(row)
        asked += 1
        if got != expected:
            text = json.dumps(row, ensure_ascii=False)
            wrong.append(f"{name}:{number}: got {got!r}, not {expected!r}, for {text}")
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} of {asked} rows are wrong", *wrong]), pytrace=False)

    assert asked == lines_of(name) > 0
