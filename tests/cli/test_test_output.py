"""What a report looks like in each format, whatever is in it."""

from xml.etree import ElementTree

import pytest

from extender.cli import test_output
from extender.cli.tables import Screen
from extender.cli.test_output import FORMATS, Problem, Report, Result
from extender.review.cases.judging import Mismatch, Verdicts
from extender.review.cases.schema import Case, Expected, PodSource

EVIL = 'a<b>&"\x1b[31m\x00]]>\u202e\ud800'


def a_result(name: str = "c", *mismatches: Mismatch, omitted: int = 0, **more: str) -> Result:
    case = Case("cases[0]", name, PodSource("cases[0].pod"), (), (), Expected(()))
    lines = tuple(7 if mismatch.node else None for mismatch in mismatches)
    return Result(
        more.get("file", "t.yaml"),
        3,
        more.get("test", ""),
        case,
        Verdicts(mismatches, omitted),
        lines,
    )


NODE = Mismatch("cases[0].expect.passes[0]", "n", "passes", "refused: x (TaintToleration)")
FIX = Mismatch("cases[0].expect.fix", "", "use 949", "none")
REPORT = Report(
    [a_result("good"), a_result("bad", NODE, FIX, omitted=2, file="u.yaml", test="u")],
    [Problem("cases: is missing", "v.yaml", 2), Problem("gone: cannot be read")],
)


def text(form: str, report: Report = REPORT, on: Screen = Screen()) -> str:  # noqa: B008 - frozen
    return FORMATS[form](report, on)


def test_a_table_with_the_differences_below_it() -> None:
    assert text("table").splitlines() == [
        "TEST      CASE  RESULT",
        "t.yaml:3  good  ok",
        "u.yaml:3  bad   FAILED",
        "",
        "u.yaml:3: bad",
        "  n (line 7)",
        "    - passes",
        "    + refused: x (TaintToleration)",
        "  the fix (cases[0].expect.fix)",
        "    - use 949",
        "    + none",
        "  and 2 more",
    ]


def test_a_terminal_shows_what_is_missing_in_red_and_what_is_there_in_green() -> None:
    shown = text("table", on=Screen(80, colour=True))

    assert "\x1b[31m    - passes\x1b[0m\n\x1b[32m    + refused" in shown


def test_nothing_was_run() -> None:
    empty = Report()

    assert (text("table", empty), text("github", empty)) == ("", "")
    assert test_output.summary(empty) == "0 case(s), 0 ok, 0 failed"


def test_a_suite_of_junit_for_each_file() -> None:
    root = ElementTree.fromstring(text("junit"))  # noqa: S314 - we wrote it

    assert root.attrib == {"tests": "4", "failures": "1", "errors": "2"}
    assert [suite.attrib for suite in root] == [
        {"name": "t.yaml", "tests": "1", "failures": "0", "errors": "0"},
        {"name": "u.yaml", "tests": "1", "failures": "1", "errors": "0"},
        {"name": "v.yaml", "tests": "1", "failures": "0", "errors": "1"},
        {"name": "leeway test", "tests": "1", "failures": "0", "errors": "1"},
    ]
    bad = root[1][0]
    assert bad.attrib == {"name": "bad", "classname": "u", "file": "u.yaml", "line": "3"}
    assert (bad[0].tag, bad[0].get("message")) == (
        "failure",
        "n: expected passes, got refused: x (TaintToleration)",
    )
    assert (bad[0].text or "").splitlines()[1:] == [
        "the fix: expected use 949, got none",
        "and 2 more",
    ]
    assert root[2][0].attrib["line"] == "2"
    assert root[3][0].attrib == {"name": "gone: cannot be read", "classname": "leeway test"}
    assert root[3][0][0].get("message") == "gone: cannot be read"


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_text_of_others_stays_text(form: str) -> None:
    evil = Mismatch("cases[0].expect.passes[0]", EVIL, EVIL, EVIL)
    report = Report([a_result(EVIL, evil, file=EVIL, test=EVIL)], [Problem(EVIL, EVIL, 1)])
    written = text(form, report)

    written.encode()
    assert "\x1b" not in written
    assert "\x00" not in written
    if form == "junit":
        root = ElementTree.fromstring(written)  # noqa: S314 - we wrote it
        assert root[0].get("name") == 'a<b>&"\\x1b[31m\\x00]]>\\u202e\\ud800'


def test_annotations_for_a_workflow() -> None:
    assert text("github").splitlines() == [
        "::error file=u.yaml,line=7,title=bad::n: expected passes, got refused: x"
        " (TaintToleration)",
        "::error file=u.yaml,title=bad::the fix: expected use 949, got none",
        "::error file=v.yaml,line=2,title=leeway test::cases: is missing",
        "::error title=leeway test::gone: cannot be read",
    ]


def test_a_summary_counts_problems_too() -> None:
    assert test_output.summary(REPORT) == "2 case(s), 1 ok, 1 failed, 2 problem(s)"


def test_a_place_without_a_line_is_the_file() -> None:
    assert str(Problem("why", "t.yaml")) == "t.yaml: why"
