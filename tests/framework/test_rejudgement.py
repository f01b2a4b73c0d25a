"""Rows that have changed are judged as a whole new judgement would judge them."""

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework import judgement, rejudgement
from extender.framework.interface import SUCCESS, Code, Status, success, unresolvable
from extender.framework.judgement import Collapsed, Judgement
from extender.framework.memory import Thread
from extender.framework.node_info import NodeInfo
from extender.framework.node_table import NodeTable
from extender.framework.runner import FilterThread
from extender.framework.snapshot import Interner, LabelsFacet
from extender.match.findings import Finding
from extender.model.core_v1 import Node
from tests.builders import node_json

ODD = frozenset({Finding("taint", "integer", "sla", "odd")})
VERDICTS: Mapping[str, Status | Exception] = {
    "no": unresolvable("no"),
    "also": unresolvable("no"),
    "never": unresolvable("never", brief="n"),
    "maybe": Status(Code.UNSCHEDULABLE, ("maybe",)),
    "odd": success(findings=ODD),
    "broken": ArithmeticError(),
}


class Question:
    """Says of each node what one of its labels tells it to."""

    findings: frozenset[Finding] = frozenset()

    def __init__(self, label: str) -> None:
        self.facet = LabelsFacet((label,))
        self.asked: list[str] = []

    def filter(self, node: NodeInfo) -> Status:
        verdict = VERDICTS.get(node.labels[self.facet.keys[0]], SUCCESS)
        self.asked.append(node.name)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict


def threads() -> list[FilterThread]:
    questions = Question("one"), Question("two")
    return [(q.facet.keys[0], q, Thread(q)) for q in questions]


INTERNER = Interner()
ANY_NODE = INTERNER.node_info(Node())  # holds what nodes without taints share


def node(name: str, one: str = "", two: str = "") -> NodeInfo:
    page = node_json(name, labels={"one": one, "two": two})
    return INTERNER.node_info(msgspec.convert(page, Node))


def judged(asked: Sequence[FilterThread], table: NodeTable) -> Judgement | None:
    return judgement.judge(asked, table, most=99, clock=lambda: 0.0)


def rejudged(
    before: Judgement | None,
    asked: Sequence[FilterThread],
    table: NodeTable,
    since: int,
    most: int = 99,
) -> Judgement | None:
    assert before is not None
    return rejudgement.rejudge(before, asked, table, since=since, most=most, clock=lambda: 0.0)


def said(found: Judgement | None) -> object:
    """All that a judgement says, whatever its statuses are numbered."""
    assert found is not None
    return (
        [(found.statuses[code], found.wording[code] if code else None) for code in found.codes],
        [(e.plugin, e.codes, e.seconds) for e in found.evaluations(found.codes)],
        [(e.plugin, e.codes) for e in found.evaluations(bytes(bytearray(found.codes)))],
        found.collapsed,
    )


KEYS = st.sampled_from(["", "", "no", "also", "never", "maybe"])
CHANGES = st.lists(
    st.one_of(
        st.builds(node, st.sampled_from("abcdef"), KEYS, KEYS),
        st.sampled_from("abcdef"),  # it goes
        st.none(),  # a question is asked
    )
)


@given(first=st.lists(st.builds(node, st.sampled_from("abcd"), KEYS, KEYS)), changes=CHANGES)
def test_it_is_what_would_be_judged_anew(
    first: list[NodeInfo], changes: list[NodeInfo | str | None]
) -> None:
    table = NodeTable()
    for each in first:
        table.put(each.name, each)
    asked = threads()
    found, since = judged(asked, table), table.version
    for change in [*changes, None]:
        if isinstance(change, NodeInfo):
            table.put(change.name, change)
        elif change is None:
            found, since = rejudged(found, asked, table, since), table.version
            assert said(found) == said(judged(threads(), table))
        elif change in table.rows:
            table.remove(change)


def test_only_what_changed_is_looked_at() -> None:
    table = NodeTable([node("a", "no"), node("b", "", "maybe"), node("c")])
    asked = threads()
    before, since = judged(asked, table), table.version
    table.put("c", node("c", "never"))
    table.put("a", node("a", "", "no"))

    found = rejudged(before, asked, table, since)

    assert found is not None
    assert [question.asked for _, question, _ in asked] == [  # type: ignore[attr-defined]
        ["a", "c", "c"],
        ["c", "b", "a"],
    ]
    assert [found.statuses[code].reasons for code in found.codes] == [
        ("no",),
        ("maybe",),
        ("never",),
    ]


def test_a_change_that_is_undone_leaves_no_trace() -> None:
    table = NodeTable([node("a", "no"), node("b")])
    asked = threads()
    before, since = judged(asked, table), table.version
    table.put("b", node("b", "never"))
    between, later = rejudged(before, asked, table, since), table.version
    table.put("b", node("b"))

    found = rejudged(between, asked, table, later)

    assert before is not None
    assert found is not None
    assert (found.codes, found.wording) == (before.codes, before.wording)
    assert found.statuses == before.statuses


def test_equal_refusals_are_one_status_whoever_made_them() -> None:
    table = NodeTable([node("a", "no"), node("b")])
    before, since = judged(threads(), table), table.version
    table.put("b", node("b", "no"))

    found = rejudged(before, threads(), table, since)  # who has not been asked before

    assert found is not None
    assert found.codes == b"\1\1"


@pytest.mark.parametrize("verdict", ["odd", "broken"])
def test_what_a_judgement_cannot_say_is_not_said(verdict: str) -> None:
    table = NodeTable([node("a", "no"), node("b")])
    asked = threads()
    before, since = judged(asked, table), table.version
    table.put("b", node("b", "", verdict))

    assert rejudged(before, asked, table, since) is None
    assert judged(asked, table) is None


def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = NodeTable([node("a", "no"), node("b")])
    asked = threads()
    before, since = judged(asked, table), table.version
    table.put("b", node("b", "never"))
    assert before is not None
    assert rejudged(before, asked, table, since) is not None

    assert rejudged(before, asked, table, since, most=2) is None  # the codes of a column
    collapsed = Judgement(before.codes, before.statuses, (), ((),), {}, (), Collapsed(b"", ()))
    assert rejudged(collapsed, asked, table, since) is None
    with monkeypatch.context() as patch:
        patch.setattr(judgement, "MAX_STATUSES", 2)
        assert rejudged(before, asked, table, since) is None
    monkeypatch.setattr(rejudgement, "MAX_ROWS", 0)
    assert rejudged(before, asked, table, since) is None
