"""An explanation as a page."""

import re
from typing import Any

from msgspec.structs import replace

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.review.explain import page
from extender.review.explain.schema import Compilation, Pin, PlainToleration, SchedulerAttempt
from tests.builders import a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import explained
from tests.review.explain.spread.test_derivation import PODS, nodes, spreading
from tests.review.test_html import EVIL, Reading


def rendered(*args: Any, **more: Any) -> str:
    return page.render(explained(*args, **more))


def test_everything_that_an_explanation_says() -> None:
    pod = a_pod(annotated_tolerations=[toleration("sla", "Gt", "950")], node_selector={"zone": "A"})
    cluster = [
        node_json("gold", taint("sla", "950"), labels={"zone": "a"}),
        node_json("good", labels={"zone": "A"}),
        node_json("bare", taint("sla", "700"), labels={"zone": "A"}),
    ]
    made = explained(pod, *cluster, node="bare")
    plain = PlainToleration("sla", "Equal", "950", "", None, "sla=950", True, "rule", "from `Gt`")
    made = replace(made, compilation=Compilation("behind", "1 is missing", (plain,), ()))
    attempt = SchedulerAttempt("Unschedulable", "0/3 nodes: 3 Insufficient cpu.", "")
    text = Reading(
        page.render(replace(made, attempt=attempt, pin=Pin(("by",), ("gold",)), notes=("a note",)))
    ).text

    for said in (
        "Pod default/web-0 passes on 1 of 3 nodes",
        "3 Insufficient cpu",
        "pinned to gold by by",
        "Node bare",
        "Taint sla=700:NoSchedule: no toleration matches",
        "nodeSelector: every label is equal",
        "node(s) had untolerated taint {sla: 700}",
        "Nodes that pass, by bound",
        "600: 2, 900: 1, 950 (now): 1",
        "Compile mode1 is missing",
        "a note",
        "use 699",
        "Patch for Pod default/web-0",
    ):
        assert said in text, said


def test_a_page_has_landmarks_headers_and_nothing_to_load() -> None:
    text = rendered(a_pod(), node_json("n", taint("x")), node_json("m", unschedulable=True))
    read = Reading(text)

    assert {"main", "h1", "h2", "section", "th", "details"} <= set(read.tags)
    assert ("scope", "col") in read.attributes
    assert ("lang", "en") in read.attributes
    assert "script" not in read.tags
    assert not re.search(r"https?:|url\(|@import|src=|href=", text)
    assert "prefers-color-scheme:dark" in text
    assert "max-width:40rem" in text


def test_foreign_text_is_escaped_everywhere() -> None:
    pod = a_pod(toleration(EVIL, "Exists"), name=EVIL, namespace=EVIL, scheduler=EVIL)
    node = node_json(EVIL, taint(EVIL, EVIL), labels={EVIL: EVIL})
    text = rendered(pod, node, node=EVIL)

    assert Reading(text).tags.count("script") == 0
    assert text.isascii()


def test_a_gate_that_decides_comes_first() -> None:
    off = Settings(gates=FeatureGates(comparison_operators=False))
    pod = a_pod(toleration("sla", "Gt", "900"))
    read = Reading(rendered(pod, node_json("n", taint("sla", "950")), settings=off))

    gate = read.text.index("TaintTolerationComparisonOperators is off, and it decides")
    assert gate < read.text.rindex("passes on 0 of 1 node")


def test_commands_advice_and_spread() -> None:
    cordoned = rendered(a_pod(), node_json("n", unschedulable=True))
    stuck = rendered(a_pod(affinity=required([requirement("gone", "Gt", "1")])), node_json("n"))
    spread = rendered(spreading(), *nodes(), pods=PODS, node="n0")

    assert "kubectl uncordon n" in cordoned
    assert "gone Gt 1: the node has no such label" in stuck
    assert "Spread over zone, maxSkew 1" in spread


def test_an_empty_cluster_and_many_nodes() -> None:
    many = rendered(a_pod(), *(node_json(f"n{i}") for i in range(page.MAX_VERDICTS + 1)))

    assert "passes on 0 of 0 nodes" in rendered(a_pod())
    assert "and 1 more node" in many
