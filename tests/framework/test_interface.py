import pytest

from extender.framework import interface
from extender.framework.interface import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    Code,
    ExtensionPoint,
    Score,
    Settings,
    Status,
)
from extender.match.findings import Finding
from extender.match.gates import FeatureGates

FOUND = frozenset({Finding("taint", "integer", "sla", "high")})


def test_the_words_are_those_of_kube_scheduler() -> None:
    assert [code.value for code in Code] == [
        "Success",
        "Error",
        "Unschedulable",
        "UnschedulableAndUnresolvable",
        "Skip",
    ]
    assert [point.value for point in ExtensionPoint] == ["PreFilter", "Filter", "Score"]
    assert MAX_NODE_SCORE == 100


def test_two_statuses_are_equal_if_they_say_the_same() -> None:
    plain = Status(Code.UNSCHEDULABLE, ("no",), "A")

    assert plain == Status(Code.UNSCHEDULABLE, ("no",), "A", ("n",), FOUND)
    assert plain != Status(Code.UNSCHEDULABLE, ("no",), "B")
    assert plain != Status(Code.UNSCHEDULABLE, ("yes",), "A")
    assert plain != Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("no",), "A")
    assert Status(Code.SUCCESS) == SUCCESS
    assert Status(Code.SKIP) == SKIP
    assert not plain != Status(Code.UNSCHEDULABLE, ("no",), "A")  # noqa: SIM202 - it is not `==`
    assert plain != "no"
    assert len({plain, Status(Code.UNSCHEDULABLE, ("no",), "A", ("n",), FOUND)}) == 1


def test_unresolvable_keeps_what_it_is_told() -> None:
    status = interface.unresolvable("why not", brief="no", findings=FOUND)

    assert status == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("why not",))
    assert (status.brief, status.findings) == (("no",), FOUND)
    assert interface.unresolvable("why not").brief == ()


def test_foreign_text_is_cut_in_both_forms() -> None:
    status = interface.unresolvable("x" * 600, brief="y" * 600)

    assert status.reasons == ("x" * 496 + "...",)
    assert status.brief == ("y" * 496 + "...",)


def test_success_keeps_what_was_noticed() -> None:
    assert interface.success(frozenset()) is SUCCESS
    assert interface.success(FOUND) == SUCCESS
    assert interface.success(FOUND).findings == FOUND


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("x" * 499, "x" * 499, id="499 bytes stay"),
        pytest.param("x" * 500, "x" * 496 + "...", id="500 bytes are cut to 499"),
        pytest.param("é" * 249, "é" * 249, id="498 bytes stay"),
        pytest.param("é" * 250, "é" * 248 + "...", id="cut between characters of two bytes"),
        pytest.param("x" + "é" * 250, "x" + "é" * 247 + "...", id="not inside one of two bytes"),
        pytest.param("€" * 200, "€" * 165 + "...", id="nor inside one of three"),
        pytest.param("😀" * 200, "😀" * 124 + "...", id="at the edge of one of four"),
        pytest.param("xx" + "😀" * 200, "xx" + "😀" * 123 + "...", id="nor inside one of four"),
        pytest.param("\ud800" * 600, "?" * 496 + "...", id="half a surrogate pair has no bytes"),
    ],
)
def test_shortened(text: str, expected: str) -> None:
    short = interface.shortened(text)

    assert short == expected
    assert len(short.encode()) < 500


def test_settings_without_a_configuration() -> None:
    assert Settings() == Settings(
        gates=FeatureGates(),
        annotation_prefix="scheduling.leeway/",
        annotation_bytes=262_144,
        reasons="detailed",
        no_execute="narrow",
    )


def test_a_plugin_signs_a_status_and_changes_nothing_else() -> None:
    plain = Status(Code.UNSCHEDULABLE, ("no",), "", ("n",), FOUND, unsettled=True)
    signed = plain.signed("A")

    assert signed == Status(Code.UNSCHEDULABLE, ("no",), "A")
    assert (signed.brief, signed.findings, signed.unsettled) == (("n",), FOUND, True)
    assert plain.signed("B").plugin == "B"
    assert plain.plugin == ""


def test_scores_without_findings_are_shared() -> None:
    assert interface.score_of(7) is interface.score_of(7)
    assert interface.score_of(7) == Score(7)
    assert Score(7) != Score(7, FOUND)
