"""Values that rules meet and cannot read; compared with what the plugins notice."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import Settings
from extender.model.core_v1 import NodeSelectorRequirement, Toleration
from extender.plugins import profile
from extender.review.scan import usage, values
from extender.review.scan.objects import Ref
from extender.review.scan.usage import Rule
from extender.review.scan.values import Met, Unreadable
from tests.builders import (
    JSON,
    a_pod,
    filtered,
    node_json,
    required,
    requirement,
    some_nodes,
    taint,
    toleration,
)

WEB = Ref("Deployment", "default", "web")
NODES = (
    node_json("a", taint("sla", "950"), labels={"kernel": "6.1"}),
    node_json(
        "b", taint("sla", "high"), taint("sla", "high", "NoExecute"), labels={"kernel": "6_1"}
    ),
    node_json("c", taint("sla", "high", "PreferNoSchedule"), labels={"kernel": "6_1"}),
)


def found(rule: Rule, nodes: Sequence[JSON] = NODES) -> list[Unreadable]:
    return list(values.unreadable({rule: [WEB]}, Met(some_nodes(*nodes)), Settings()))


def test_a_taint_is_told_once_with_all_its_nodes() -> None:
    assert found(Toleration("sla", "Gt", "900")) == [
        Unreadable(
            "taint",
            "integer",
            "sla",
            "high",
            "not an integer in canonical form",
            "sla Gt 900",
            (WEB,),
            ("b", "c"),
        )
    ]


def test_a_taint_of_another_effect_is_not_met() -> None:
    (each,) = found(Toleration("sla", "Gt", "900", "NoExecute"))

    assert each.nodes == ("b",)


def test_a_label_is_told_in_the_words_of_the_parser() -> None:
    (each,) = found(NodeSelectorRequirement("kernel", "SemverGt", ("5.15",)))

    assert (each.source, each.kind, each.value, each.nodes) == (
        "label",
        "semver",
        "6_1",
        ("b", "c"),
    )
    assert each.why == 'Invalid character(s) found in major number "6_1"'


def test_an_expression_that_ends_in_an_error() -> None:
    (each,) = found(Toleration(expression="int(taint.value) > 900"))

    assert (each.source, each.kind, each.value) == ("taint", "cel", "high")
    assert each.why


def test_rules_that_cannot_be_read_are_on_no_node() -> None:
    assert [(e.source, e.nodes) for e in found(Toleration("sla", "Gt", "0900"))] == [
        ("toleration", ())
    ]
    assert [(e.source, e.nodes) for e in found(Toleration(expression="taint."))] == [
        ("toleration", ())
    ]
    bad = NodeSelectorRequirement("kernel", "SemverGt", ("x",))
    assert [(e.source, e.nodes) for e in found(bad)] == [("affinity", ())]


def test_what_compares_nothing_meets_nothing() -> None:
    assert found(Toleration("sla", "Exists")) == []
    assert found(NodeSelectorRequirement("kernel", "In", ("6_1",))) == []
    assert found(NodeSelectorRequirement("absent", "Gt", ("1",))) == []


VALUES = st.sampled_from(["1", "01", "x", "1.2.3", "v1", "-5", "", "1_0"])
OPERATORS = st.sampled_from(["Gt", "Lt", "SemverGt", "SemverEq", "Exists"])


@given(
    operators=st.lists(st.tuples(OPERATORS, VALUES), max_size=3),
    on_nodes=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4),
)
def test_what_the_plugins_notice_is_always_among_it(
    operators: list[tuple[str, str]], on_nodes: list[tuple[str, str]]
) -> None:
    """The plugins stop at the first answer, so they may notice less, but never more."""
    nodes = [
        node_json(f"n{index}", taint("k", value), labels={"l": label})
        for index, (value, label) in enumerate(on_nodes)
    ]
    pod = a_pod(
        *(toleration("k", operator, value) for operator, value in operators),
        affinity=required(*([requirement("l", o, v)] for o, v in operators if o != "Exists")),
    )
    settings = Settings()
    judged = filtered(
        profile("p", {"TaintToleration": 0, "NodeAffinity": 0}, settings), pod, some_nodes(*nodes)
    )
    usages, _ = usage.of_pod(pod, settings)
    native = [r for r in _requirements(operators) if r.operator in ("Gt", "Lt")]
    rules: dict[Rule, Sequence[Ref]] = {
        each: [WEB] for each in [*(u.rule for u in usages), *native]
    }
    told = {
        (each.source, each.kind, each.key, each.value)
        for each in values.unreadable(rules, Met(some_nodes(*nodes)), settings)
    }

    assert {(f.source, f.kind, f.key, f.value) for f in judged.stats.findings} <= told


def _requirements(operators: list[tuple[str, str]]) -> list[NodeSelectorRequirement]:
    return [NodeSelectorRequirement("l", operator, (value,)) for operator, value in operators]
