"""What a person sees of an explanation; whole pages are in tests/golden/explain."""

from extender.cli import explain_tables
from extender.cli.tables import Screen
from extender.review.explain.schema import Fix
from tests.builders import a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import explained

PLAIN = Screen()


def test_many_nodes_that_pass_are_not_all_listed() -> None:
    made = explained(a_pod(), *(node_json(f"n{i:02}") for i in range(12)))
    short = explain_tables.render(made, PLAIN)
    whole = explain_tables.render(made, PLAIN, every=True)

    assert "n09" in short
    assert "n10" not in short
    assert "and 2 more  passes" in short
    assert "n11" in whole


def test_many_nodes_that_are_refused_share_a_line() -> None:
    made = explained(a_pod(), *(node_json(f"n{i}", taint("x")) for i in range(5)))

    assert "n0, n1, n2 and 2 more  refused  TaintToleration" in explain_tables.render(made, PLAIN)


def test_what_would_help_elsewhere_is_told_when_it_is_asked_for() -> None:
    made = explained(a_pod(), node_json("good"), node_json("bad", taint("x")))

    assert "What would let it pass" not in explain_tables.render(made, PLAIN)
    assert "What would let it pass elsewhere\n  bad  1 change  tolerate x:NoSchedule" in (
        explain_tables.render(made, PLAIN, every=True)
    )


def test_a_single_fix_is_told_once() -> None:
    made = explained(a_pod(toleration("x", "Gt", "5")), node_json("n", taint("x", "5")))
    text = explain_tables.render(made, PLAIN)

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
    assert explain_tables.render_fix(whole, PLAIN, title="Fix").startswith(
        "Fix: 1 change, and it passes on n0 and on 2 others\n"
    )
    assert "  then: gone Gt 1: the node has no such label\n" in explain_tables.render_fix(
        part, PLAIN, title="Fix"
    )
    assert explain_tables.render_fix(advice, PLAIN, title="Fix") == "What to do\n  create it\n"


def test_an_empty_cluster_and_an_error() -> None:
    assert "no nodes available" in explain_tables.render(explained(a_pod()), PLAIN)
    assert explain_tables.verdict_cell("Error").text == "error"
    assert list(explain_tables.render_notes((), PLAIN)) == []
