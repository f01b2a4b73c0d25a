"""Leeway's CEL beside what the real Kubernetes code answered, question by question.

`python -m tests.match.cel.parity [--all] [FILE...]` prints a table; without a file it asks the
rows of `tests/vectors/cel.jsonl` and `cel_values.jsonl`. A row is

    {"expression": str,
     "compile": {"ok": bool, "error": str|null, "type": str|null, "max_cost": int|null,
                 "too_costly": bool},
     "cases": [{"taint": {"key": str, "value": str, "effect": str},
                "result": bool|null, "error": str|null, "cost": int}, ...]}

`ok` is without regard to `too_costly`: an estimate above 1000000. A case has a result or an error.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from extender.match.cel.faults import CompileError
from extender.match.cel.program import Evaluation, Program, compile_expression
from extender.model.core_v1 import Taint
from tests.vectors import VECTORS, Row

FIRST_DISAGREEMENTS = 20

# Upstream's cost tracker takes every argument of a list function for a list, an error too, and
# panics. Nothing absorbs that there; here the error is one like all others.
PANIC_TEXT = "internal error: interface conversion"

_PLACE = re.compile(r"ERROR: <input>:(-?\d+:\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """Something that upstream answers, too. Less than `floor` percent of agreement is a failure."""

    name: str
    floor: int = 0


ACCEPTED = Question("accepted or refused", floor=100)
REFUSAL = Question("refusal: whole text")
REFUSAL_PLACE = Question("refusal: first line and column")
TYPE = Question("type", floor=100)
MAX_COST = Question("estimated cost", floor=100)
TOO_COSTLY = Question("too costly", floor=100)
RESULT = Question("result", floor=100)
FAILED = Question("result or error", floor=100)
ERROR = Question("error: whole text")
COST = Question("run-time cost", floor=99)
PANIC = Question("error where upstream panics")
QUESTIONS = (
    *(ACCEPTED, REFUSAL, REFUSAL_PLACE, TYPE, MAX_COST, TOO_COSTLY),
    *(RESULT, FAILED, ERROR, COST, PANIC),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What upstream and Leeway say to one question about one expression, and maybe one taint."""

    question: Question
    asked: str
    expected: object
    got: object

    @property
    def agrees(self) -> bool:
        return self.expected == self.got

    def __str__(self) -> str:
        return f"{self.question.name}: {self.asked}: {self.got!r}, upstream {self.expected!r}"


@dataclass(slots=True)
class Tally:
    """How often a question was asked, and where the answers differ."""

    asked: int = 0
    disagreements: list[Answer] = field(default_factory=list)

    @property
    def percent(self) -> float:
        return 100 * (1 - len(self.disagreements) / self.asked) if self.asked else 100.0


Tallies = dict[Question, Tally]


def answers(row: Row) -> Iterator[Answer]:
    """Ask Leeway everything that a row tells."""
    expression, upstream = row["expression"], row["compile"]
    try:
        program = compile_expression(expression)
    except CompileError as error:
        yield Answer(ACCEPTED, expression, upstream["ok"], got=False)
        if not upstream["ok"]:
            yield from _refusal_answers(expression, upstream["error"], str(error))
        return
    yield Answer(ACCEPTED, expression, upstream["ok"], got=True)
    if upstream["ok"]:
        yield Answer(TYPE, expression, upstream["type"], program.type)
        yield Answer(MAX_COST, expression, upstream["max_cost"], program.max_cost)
        yield Answer(TOO_COSTLY, expression, upstream["too_costly"], program.too_costly)
        said: dict[Taint, Evaluation] = {}
        for case in row["cases"]:
            yield from _case_answers(program, case, said)


def _refusal_answers(expression: str, expected: str, got: str) -> Iterator[Answer]:
    yield Answer(REFUSAL, expression, expected, got)
    place = _first_place(expected)
    if place is not None:
        yield Answer(REFUSAL_PLACE, expression, place, _first_place(got))


def _first_place(refusal: str) -> str | None:
    found = _PLACE.search(refusal)
    return None if found is None else found[1]


def _case_answers(program: Program, case: Row, said: dict[Taint, Evaluation]) -> Iterator[Answer]:
    """Taints that should be one for the program are asked about once, as when it serves."""
    asked = f"{program.expression} {json.dumps(case['taint'], ensure_ascii=False)}"
    seen = program.seen(Taint(**case["taint"]))
    if seen not in said:
        said[seen] = program.evaluate(**case["taint"])
    got = said[seen]
    expected_error = case["error"]
    if expected_error is not None and expected_error.startswith(PANIC_TEXT):
        yield Answer(PANIC, asked, expected=True, got=got.error is not None)
        return
    yield Answer(FAILED, asked, expected_error is not None, got.error is not None)
    if expected_error is None:
        yield Answer(RESULT, asked, case["result"], got.result)
    else:
        yield Answer(ERROR, asked, expected_error, got.error)
    yield Answer(COST, asked, case["cost"], got.cost)


def tally(rows: Iterable[Row]) -> Tallies:
    """Count the answers to every question, in the order of the table."""
    tallies = {question: Tally() for question in QUESTIONS}
    for row in rows:
        try:
            for answer in answers(row):
                counted = tallies[answer.question]
                counted.asked += 1
                if not answer.agrees:
                    counted.disagreements.append(answer)
        except Exception as error:
            error.add_note(f"expression: {row['expression']}")
            raise
    return tallies


def shortfalls(tallies: Tallies) -> list[Answer]:
    """The disagreements of all questions that have too many of them."""
    return [
        answer
        for question, counted in tallies.items()
        if counted.percent < question.floor
        for answer in counted.disagreements
    ]


def table(tallies: Tallies) -> Iterator[str]:
    """The lines of the table."""
    yield f"{'question':<40}{'asked':>8}{'agreeing':>10}{'percent':>10}{'at least':>10}"
    for question, counted in tallies.items():
        agreeing = counted.asked - len(counted.disagreements)
        floor = f"{question.floor}" if question.floor else "-"
        yield (
            f"{question.name:<40}{counted.asked:>8}{agreeing:>10}"
            f"{counted.percent:>10.2f}{floor:>10}"
        )


def read(path: Path) -> Iterator[Row]:
    """The rows of a file. Split at newlines only: some strings hold a raw U+0085."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="parity", description="Compare CEL with upstream's.")
    recorded = [VECTORS / "cel.jsonl", VECTORS / "cel_values.jsonl"]
    parser.add_argument("files", nargs="*", type=Path, default=recorded)
    parser.add_argument("--all", action="store_true", help="list every disagreement")
    options = parser.parse_args(arguments)

    tallies = tally(row for path in options.files for row in read(path))
    differing = [answer for counted in tallies.values() for answer in counted.disagreements]
    shown = differing if options.all else differing[:FIRST_DISAGREEMENTS]
    lines = [*table(tallies), *map(str, shown)]
    if len(shown) < len(differing):
        lines.append(f"{len(differing) - len(shown)} more with --all")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if shortfalls(tallies) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
