"""What a person sees of an explanation; whole pages are in tests/golden/explain."""

from typing import Any

from msgspec.structs import replace

from extender.cli import explain_output
from extender.cli.tables import Screen
from extender.model.core_v1 import Pod
from extender.review.explain.inquiry import Bounds
from extender.review.explain.schema import Compilation, Fix, PlainToleration
from tests.builders import JSON, a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import explained
from tests.review.explain.spread.test_derivation import PODS, nodes, spreading

PLAIN = Screen()


def test_many_nodes_that_pass_are_not_all_listed() -> None:
    made = explained(a_pod(), *(node_json(f"n{i:02}") for i in range(12)))
    short = explain_output.render(made, PLAIN)
    whole = explain_output.render(made, PLAIN, every=True)

    assert "n09" in short
    assert "n10" not in short
    assert "   12  ####################  passes   -       -       n00, n01," in short
    assert "n09 and 2 more\n" in short
    assert "n11" in whole


def test_many_nodes_that_are_refused_share_a_line() -> None:
    made = explained(a_pod(), *(node_json(f"n{i}", taint("x")) for i in range(5)))

    text = explain_output.render(made, PLAIN)

    assert "    5  ####################  refused  TaintToleration  node(s) had untolerated" in text
    assert "  n0, n1, n2 and 2 more\n" in text


def test_what_would_help_elsewhere_is_told_when_it_is_asked_for() -> None:
    made = explained(a_pod(), node_json("good"), node_json("bad", taint("x")))

    assert "What would let it pass" not in explain_output.render(made, PLAIN)
    assert "What would let it pass elsewhere\n  bad  1 change  tolerate x:NoSchedule" in (
        explain_output.render(made, PLAIN, every=True)
    )


def test_of_what_a_limit_leaves_out_some_is_shown() -> None:
    left_out = [f"sla={901 + i}:NoSchedule" for i in range(8)]
    rows = tuple(
        PlainToleration("sla", "Equal", "", "", None, text, True, "rule", "from `sla Gt 900`")
        for text in left_out
    )
    cut = Compilation("cut", "so many", (), rows, 1, 9, ("a", "b", "c", "d"))
    text = explain_output.render(replace(explained(a_pod()), compilation=cut), PLAIN)

    assert "Compile mode: cut\n  so many\n" in text
    assert "the rules 9: a, b, c and 5 more\n" in text
    assert left_out[4] in text
    assert left_out[5] not in text
    assert "and 3 more" in text


def test_a_single_fix_is_told_once() -> None:
    made = explained(a_pod(toleration("x", "Gt", "5")), node_json("n", taint("x", "5")))
    text = explain_output.render(made, PLAIN)

    assert "What would let it pass" not in text
    assert "Nearest fix: 1 change, and it passes on n\n" in text
    assert text.count("`Gt 5` misses x=5: use 4") == 1


def test_how_far_a_fix_goes() -> None:
    whole = explained(a_pod(), *(node_json(f"n{i}", taint("x")) for i in range(3))).fix
    part = explained(
        a_pod(affinity=required([requirement("gone", "Gt", "1")])), node_json("n", taint("x"))
    ).fix
    advice = Fix("n", False, (), ("create it",), 0)

    assert whole is not None
    assert part is not None
    assert explain_output.render_fix(whole, PLAIN, title="Fix").startswith(
        "Fix: 1 change, and it passes on n0 and on 2 others\n"
    )
    assert "  then: gone Gt 1: the node has no such label\n" in explain_output.render_fix(
        part, PLAIN, title="Fix"
    )
    assert explain_output.render_fix(advice, PLAIN, title="Fix") == "What to do\n  create it\n"


def test_an_empty_cluster_and_an_error() -> None:
    assert "no nodes available" in explain_output.render(explained(a_pod()), PLAIN)
    assert explain_output.verdict_cell("Error").text == "error"
    assert list(explain_output.render_notes((), PLAIN)) == []


def page(pod: Pod, *cluster: JSON, **more: Any) -> str:
    made = explained(pod, *cluster, node=cluster[0]["metadata"]["name"], **more)
    assert made.derivation is not None
    return explain_output.render_node(made, made.derivation, Screen())


def test_a_pod_without_tolerations() -> None:
    assert "  the pod has no tolerations\n" in page(a_pod(), node_json("n", taint("x")))


def test_empty_values_are_seen() -> None:
    pod = a_pod(toleration("", "", ""), node_selector={"a": "b"})
    text = page(pod, node_json("n", taint("x", "1"), labels={"a": ""}))

    assert 'any key Equal ""' in text
    assert 'a = b        ""' in text


def test_terms_are_alternatives() -> None:
    pod = a_pod(affinity=required([requirement("a", "Exists")], [], [requirement("b", "Exists")]))
    text = page(pod, node_json("n", labels={"b": "1"}))

    assert "Node affinity, native: one of these terms must match\n" in text
    assert "native[1]  -            -         no     an empty term matches nothing\n" in text


def test_long_lists_are_cut() -> None:
    pod = a_pod(*(toleration(f"k{i}", "Exists") for i in range(4)))
    text = page(pod, node_json("n", taint("x")), bounds=Bounds(rows=2))
    spread = page(spreading(minDomains=2), *nodes(), pods=PODS, bounds=Bounds(rows=2))

    assert "...        2 more\n" in text
    assert "and 1 more\n" in spread
    assert ", minDomains 2\n" in spread


def test_whether_the_node_passes() -> None:
    made = explained(a_pod(), node_json("n"), node="n").derivation

    assert made is not None
    assert explain_output.passes(made)
