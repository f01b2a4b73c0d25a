"""Every row of upstream's answers, and that a wrong one would be noticed."""

import json
from pathlib import Path

import pytest

from tests.match.cel import parity
from tests.vectors import Row, lines_of, rows

CHUNKS = 32
LINES = lines_of("cel") + lines_of("cel_values")


@pytest.fixture(scope="module")
def all_rows() -> list[Row]:
    return rows("cel") + rows("cel_values")


@pytest.mark.parametrize("first", range(CHUNKS), ids=lambda first: f"lines from {first + 1}")
def test_leeway_answers_as_upstream_does(all_rows: list[Row], first: int) -> None:
    """Every so many lines, because those that take long stand together."""
    tallies = parity.tally(all_rows[first::CHUNKS])
    # They agree to the letter, so that here no question needs a floor.
    wrong = [answer for counted in tallies.values() for answer in counted.disagreements]
    if wrong:
        pytest.fail("\n".join(map(str, wrong)), pytrace=False)

    assert tallies[parity.ACCEPTED].asked == len(range(first, LINES, CHUNKS)) > 0


TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
CASE = {"taint": TAINT, "result": True, "error": None, "cost": 3}
COMPILE = {"ok": True, "error": None, "type": "bool", "max_cost": 3, "too_costly": False}
ROW = {"expression": "taint.key == 'dedicated'", "compile": COMPILE, "cases": [CASE]}
REFUSED = {"ok": False, "type": None, "max_cost": None, "too_costly": False}
REFUSAL = "compilation failed: ERROR: <input>:1:2: wrong"
PANIC = "internal error: interface conversion: no list"


def with_compile(**changed: object) -> Row:
    return ROW | {"compile": COMPILE | changed}


def with_case(**changed: object) -> Row:
    return ROW | {"cases": [CASE | changed]}


@pytest.mark.parametrize(
    ("row", "disagreeing", "failing"),
    [
        pytest.param(ROW, [], [], id="nothing"),
        pytest.param(
            with_compile(ok=False), [parity.ACCEPTED], [parity.ACCEPTED], id="refused by upstream"
        ),
        pytest.param(
            ROW | {"expression": "taint."},
            [parity.ACCEPTED],
            [parity.ACCEPTED],
            id="refused by Leeway",
        ),
        pytest.param(
            {"expression": "taint.", "compile": REFUSED | {"error": REFUSAL}, "cases": []},
            [parity.REFUSAL, parity.REFUSAL_PLACE],
            [],
            id="refused for another reason",
        ),
        pytest.param(
            {"expression": "1", "compile": REFUSED | {"error": "no"}, "cases": []},
            [parity.REFUSAL],
            [],
            id="refused as a whole",
        ),
        pytest.param(with_compile(type="int"), [parity.TYPE], [parity.TYPE], id="type"),
        pytest.param(with_compile(max_cost=4), [parity.MAX_COST], [parity.MAX_COST], id="estimate"),
        pytest.param(
            with_compile(too_costly=True), [parity.TOO_COSTLY], [parity.TOO_COSTLY], id="too costly"
        ),
        pytest.param(with_case(result=False), [parity.RESULT], [parity.RESULT], id="result"),
        pytest.param(
            with_case(result=None, error="no such key"),
            [parity.FAILED, parity.ERROR],
            [parity.FAILED],
            id="error",
        ),
        pytest.param(with_case(cost=4), [parity.COST], [parity.COST], id="run-time cost"),
        pytest.param(with_case(result=None, error=PANIC), [parity.PANIC], [], id="panic upstream"),
    ],
)
def test_a_wrong_answer_is_noticed(
    row: Row, disagreeing: list[parity.Question], failing: list[parity.Question]
) -> None:
    tallies = parity.tally([row])

    assert [question for question in tallies if tallies[question].disagreements] == disagreeing
    assert [answer.question for answer in parity.shortfalls(tallies)] == failing


def test_a_few_wrong_costs_are_borne() -> None:
    assert parity.shortfalls(parity.tally([ROW] * 99 + [with_case(cost=4)])) == []


def test_what_crashes_names_the_expression() -> None:
    with pytest.raises(KeyError) as caught:
        parity.tally([ROW | {"compile": {}}])

    assert caught.value.__notes__ == ["expression: taint.key == 'dedicated'"]


def test_the_table_lists_the_first_disagreements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, good = tmp_path / "wrong.jsonl", tmp_path / "good.jsonl"
    wrong.write_text(f"{json.dumps(with_compile(max_cost=4))}\n" * 21, encoding="utf-8")
    good.write_text(f"{json.dumps(ROW)}\n", encoding="utf-8")
    difference = "estimated cost: taint.key == 'dedicated': 3, upstream 4"

    assert parity.main([str(good)]) == 0
    assert capsys.readouterr().out.count("100.00") == len(parity.QUESTIONS)

    assert parity.main([str(good), str(wrong)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "estimated cost                                22         1      4.55       100" in lines
    assert lines[-21:] == [difference] * 20 + ["1 more with --all"]

    assert parity.main(["--all", str(wrong)]) == 1
    assert capsys.readouterr().out.splitlines()[-21:] == [difference] * 21
