"""What a case expects, compared with what the core says."""

from typing import Any

import pytest

from extender.review.cases import judging
from extender.review.cases.judging import MAX_MISMATCHES, Mismatch
from extender.review.cases.schema import Case, Expected, PodSource
from extender.review.explain.explaining import explain
from tests.builders import a_pod, node_json, preferred, requirement, taint, toleration
from tests.review.explain.asking import an_inquiry

NODES = (node_json("gold", taint("sla", "950")), node_json("bronze", taint("sla", "800")))
REASON = "node(s) had untolerated taint {sla: 800}"
REFUSED = f"refused: {REASON} (TaintToleration)"


def a_case(**expected: Any) -> Case:
    return Case("cases[0]", "n", PodSource("cases[0].pod"), (), (), Expected(**expected))


def mismatches(threshold: str = "900", **expected: Any) -> list[Mismatch]:
    case = a_case(**expected)
    inquiry = an_inquiry(a_pod(toleration("sla", "Gt", threshold)), *NODES)
    return list(judging.judge(case, inquiry).mismatches)


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param({"passes": ("gold",)}, id="the node that passes"),
        pytest.param({"refused": {"bronze": REASON}}, id="the whole reason"),
        pytest.param({"refused": {"bronze": "sla: 800"}}, id="a part of it"),
        pytest.param({"refused": {"bronze": ""}}, id="any reason"),
        pytest.param({"scores": {"gold": 0}}, id="a score"),
        pytest.param({"threshold": "950", "passes": (), "fix": "use 949"}, id="a fix"),
    ],
)
def test_a_case_holds(expected: dict[str, Any]) -> None:
    assert mismatches(**expected) == []


@pytest.mark.parametrize(
    ("expected", "mismatch"),
    [
        pytest.param(
            {"passes": ("gold", "bronze")},
            Mismatch("cases[0].expect.passes[1]", "bronze", "passes", REFUSED),
            id="a node that is refused",
        ),
        pytest.param(
            {"passes": ()},
            Mismatch("cases[0].expect.passes", "gold", "not listed", "passes"),
            id="a node that nobody expected",
        ),
        pytest.param(
            {"refused": {"gold": "sla"}},
            Mismatch("cases[0].expect.refused.gold", "gold", "refused: sla", "passes"),
            id="a node that passes",
        ),
        pytest.param(
            {"refused": {"gold": ""}},
            Mismatch("cases[0].expect.refused.gold", "gold", "refused", "passes"),
            id="a node that passes, for whatever reason",
        ),
        pytest.param(
            {"refused": {"bronze": "cordoned"}},
            Mismatch("cases[0].expect.refused.bronze", "bronze", "refused: cordoned", REFUSED),
            id="another reason",
        ),
        pytest.param(
            {"refused": {"bronse": ""}},
            Mismatch(
                "cases[0].expect.refused.bronse",
                "bronse",
                "refused",
                "there is no such node: did you mean bronze?",
            ),
            id="a misspelt node is not refused",
        ),
        pytest.param(
            {"scores": {"zinc": 0}},
            Mismatch("cases[0].expect.scores.zinc", "zinc", "score 0", "there is no such node"),
            id="a node that does not exist has no score",
        ),
        pytest.param(
            {"scores": {"gold": 4}},
            Mismatch("cases[0].expect.scores.gold", "gold", "score 4", "score 0"),
            id="another score",
        ),
        pytest.param(
            {"scores": {"bronze": 0}},
            Mismatch("cases[0].expect.scores.bronze", "bronze", "score 0", REFUSED),
            id="a refused node has no score",
        ),
        pytest.param(
            {"fix": "use 949"},
            Mismatch("cases[0].expect.fix", "", "use 949", "none: a node passes"),
            id="no fix where a node passes",
        ),
    ],
)
def test_a_case_does_not_hold(expected: dict[str, Any], mismatch: Mismatch) -> None:
    assert mismatches(**expected) == [mismatch]


def test_another_fix_is_told_in_words() -> None:
    (mismatch,) = mismatches("950", fix="use 900")

    assert mismatch.actual == "`Gt 950` misses sla=950: use 949"


def test_an_empty_cluster_has_no_fix() -> None:
    case = a_case(fix="x")
    (mismatch,) = judging.judge(case, an_inquiry(a_pod())).mismatches

    assert mismatch.actual == "none"


def test_scores_are_those_of_the_extender() -> None:
    pod = a_pod(affinity=preferred((10, [requirement("zone", "In", "a")])))
    case = a_case(scores={"in": 10, "out": 0})
    inquiry = an_inquiry(pod, node_json("in", labels={"zone": "a"}), node_json("out"))

    assert judging.judge(case, inquiry).holds


def test_only_the_first_of_many_mismatches_are_kept() -> None:
    nodes = [node_json(f"n{i}") for i in range(MAX_MISMATCHES + 5)]
    verdicts = judging.judge(a_case(passes=()), an_inquiry(a_pod(), *nodes))

    assert (len(verdicts.mismatches), verdicts.omitted) == (MAX_MISMATCHES, 5)
    assert not verdicts.holds


def test_the_verdicts_are_those_of_explain() -> None:
    nodes = [*NODES, node_json("soft", taint("x", "", "PreferNoSchedule")), node_json("open")]
    inquiry = an_inquiry(a_pod(toleration("sla", "Gt", "900")), *nodes)
    told = {verdict.node: verdict for verdict in explain(inquiry).verdicts}

    assert judging.verdicts_on(inquiry) == told
    assert {verdict.score for verdict in told.values()} == {10, 0, None}
