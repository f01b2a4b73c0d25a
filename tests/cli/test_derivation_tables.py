"""What a person sees of a derivation; whole pages are in tests/golden/explain."""

from typing import Any

from extender.cli import derivation_tables
from extender.cli.tables import Screen
from extender.model.core_v1 import Pod
from extender.review.explain.inquiry import Bounds
from tests.builders import JSON, a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import explained
from tests.review.explain.spread.test_derivation import PODS, nodes, spreading


def page(pod: Pod, *cluster: JSON, **more: Any) -> str:
    made = explained(pod, *cluster, node=cluster[0]["metadata"]["name"], **more)
    assert made.derivation is not None
    return derivation_tables.render(made, made.derivation, Screen())


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
    assert derivation_tables.passes(made)
