"""What rules come to over the taints of a cluster."""

from collections.abc import Mapping, Sequence

import pytest

from extender.framework.interface import Settings
from extender.match import taints
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Taint
from extender.native.compiling import Compiled, compiled, compiled_on_node
from tests.builders import JSON, toleration
from tests.native.building import a_taint, as_json, carried_by, equal, guard

GT_900 = toleration("sla", "Gt", "900")
ANY = {"expression": "true"}
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
INT64_MAX = (1 << 63) - 1
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def sla(*values: str, effect: str = "NoSchedule") -> list[Taint]:
    return [a_taint("sla", value, effect) for value in values]


def compile_over(
    rules: Sequence[JSON],
    there_are: Sequence[Taint] | Mapping[Taint, int],
    *own: JSON,
    room: int = 64,
    settings: Settings | None = None,
) -> Compiled:
    pod = carried_by(*own, rules=rules, settings=settings)
    counts = there_are if isinstance(there_are, Mapping) else dict.fromkeys(there_are, 1)
    return compiled(pod.own, pod.extended, counts, room)


@pytest.mark.parametrize(
    ("rules", "there_are", "own", "expected"),
    [
        pytest.param(
            [GT_900],
            sla("850", "900", "950", "960", "fast", ""),
            [],
            [equal("sla", "950"), equal("sla", "960")],
            id="an Equal for each value that a rule matches",
        ),
        pytest.param([GT_900], [], [], [], id="no taints: nothing"),
        pytest.param([], sla("950"), [], [], id="no rules: nothing"),
        pytest.param(
            [GT_900],
            [a_taint("sla", "950", effect) for effect in ("PreferNoSchedule", "NoExecute")],
            [],
            [equal("sla", "950", "NoExecute"), equal("sla", "950", "PreferNoSchedule")],
            id="one for each effect",
        ),
        pytest.param(
            [{"expression": "taint.key in ['a', 'b']"}],
            [a_taint("b", "1"), a_taint("a", "2"), a_taint("a", "1"), a_taint("a", "10")],
            [],
            [equal("a", "1"), equal("a", "10"), equal("a", "2"), equal("b", "1")],
            id="sorted by key, then by value as text",
        ),
        pytest.param(
            [toleration("sla", "SemverGt", "v1.2")],
            sla("1.3", "1.1", "no version"),
            [],
            [equal("sla", "1.3")],
            id="versions",
        ),
        pytest.param(
            [toleration("sla", "Exists")],
            sla("", "1"),
            [],
            [equal("sla", ""), equal("sla", "1")],
            id="nothing but Equal is added, for Exists by annotation, too",
        ),
        pytest.param(
            [equal("sla", "950")], sla("950", "960"), [], [equal("sla", "950")], id="Equal, too"
        ),
        pytest.param(
            [GT_900],
            sla("950", "960"),
            [equal("sla", "950")],
            [equal("sla", "960")],
            id="not what the pod tolerates by itself",
        ),
        pytest.param(
            [GT_900], sla("950"), [toleration("sla", "Exists")], [], id="an Exists of its own"
        ),
        pytest.param(
            [GT_900],
            sla("950", effect="NoExecute"),
            [equal("sla", "950", "NoExecute", 5)],
            [],
            id="own tolerations with seconds count as tolerating",
        ),
        pytest.param(
            [GT_900],
            sla("950", effect="NoExecute"),
            [equal("sla", "950", "NoSchedule")],
            [equal("sla", "950", "NoExecute")],
            id="own tolerations of another effect do not",
        ),
        pytest.param(
            [ANY],
            [a_taint(CONTROL_PLANE), a_taint(UNSCHEDULABLE), a_taint("sla", "1")],
            [],
            [equal("sla", "1")],
            id="an expression does not reach protected keys",
        ),
        pytest.param(
            [toleration(operator="Exists")],
            [a_taint(CONTROL_PLANE), a_taint(UNSCHEDULABLE), a_taint("sla", "1")],
            [],
            [equal("sla", "1")],
            id="nor does a rule without a key",
        ),
        pytest.param(
            [toleration(CONTROL_PLANE, "Exists"), toleration(UNSCHEDULABLE, "Exists")],
            [a_taint(CONTROL_PLANE), a_taint(UNSCHEDULABLE), a_taint("sla", "1")],
            [],
            [equal(CONTROL_PLANE, ""), equal(UNSCHEDULABLE, "")],
            id="a rule that names a protected key does",
        ),
    ],
)
def test_compiled(
    rules: list[JSON], there_are: list[Taint], own: list[JSON], expected: list[JSON]
) -> None:
    found = compile_over(rules, there_are, *own)

    assert as_json(found.added) == expected
    assert not found.cut


@pytest.mark.parametrize(
    ("rules", "effect", "expected"),
    [
        pytest.param([{**GT_900, "tolerationSeconds": 30}], "NoExecute", 30, id="NoExecute"),
        pytest.param([{**GT_900, "tolerationSeconds": 30}], "NoSchedule", None, id="NoSchedule"),
        pytest.param([{**GT_900, "tolerationSeconds": 0}], "NoExecute", 0, id="zero"),
        pytest.param([{**GT_900, "tolerationSeconds": -5}], "NoExecute", -5, id="negative"),
        pytest.param(
            [{**GT_900, "tolerationSeconds": INT64_MAX}], "NoExecute", INT64_MAX, id="the most"
        ),
        pytest.param(
            [{**GT_900, "tolerationSeconds": 10**30}],
            "NoExecute",
            INT64_MAX,
            id="more than the API can hold",
        ),
        pytest.param(
            [{**GT_900, "tolerationSeconds": -(10**30)}],
            "NoExecute",
            -INT64_MAX,
            id="less than the API can hold",
        ),
        pytest.param(
            [toleration("sla", "Gt", "990", tolerationSeconds=5), GT_900],
            "NoExecute",
            None,
            id="of the first rule that matches, not of the first",
        ),
        pytest.param(
            [{**GT_900, "tolerationSeconds": 5}, {**GT_900, "tolerationSeconds": 9}],
            "NoExecute",
            5,
            id="of the first, not of the largest",
        ),
        pytest.param(
            [{"expression": "true", "tolerationSeconds": 7}], "NoExecute", 7, id="of an expression"
        ),
    ],
)
def test_seconds_are_those_of_the_first_rule_that_matches(
    rules: list[JSON], effect: str, expected: int | None
) -> None:
    found = compile_over(rules, sla("950", effect=effect))

    assert as_json(found.added) == [equal("sla", "950", effect, expected)]


def test_seconds_of_a_native_rule_come_before_those_of_the_annotation() -> None:
    pod = carried_by(
        toleration("sla", "Gt", "900", "NoExecute", tolerationSeconds=1),
        rules=[{**GT_900, "tolerationSeconds": 2}],
    )
    found = compiled(pod.own, pod.extended, {a_taint("sla", "950", "NoExecute"): 1}, 64)

    assert as_json(found.added) == [equal("sla", "950", "NoExecute", 1)]


def test_a_gate_that_is_off_adds_nothing() -> None:
    settings = Settings(gates=FeatureGates(comparison_operators=False))

    assert compile_over([GT_900], sla("950"), settings=settings) == Compiled()


@pytest.mark.parametrize(
    ("counts", "room", "expected", "cut"),
    [
        pytest.param({"950": 1, "960": 2, "970": 3}, 3, ["950", "960", "970"], False, id="fits"),
        pytest.param(
            {"950": 1, "960": 2, "970": 3}, 2, ["960", "970"], True, id="most nodes first"
        ),
        pytest.param({"970": 1, "960": 1, "950": 1}, 2, ["950", "960"], True, id="ties in order"),
        pytest.param({"950": 0, "960": 1}, 1, ["960"], True, id="taints of no node come last"),
        pytest.param({"950": 1}, 0, [], True, id="no room"),
        pytest.param({"950": 1}, -3, [], True, id="less than no room"),
        pytest.param({}, 0, [], False, id="no room, and nothing to add"),
        pytest.param({}, -3, [], False, id="less than no room, and nothing to add"),
    ],
)
def test_limit(counts: dict[str, int], room: int, expected: list[str], cut: bool) -> None:
    there_are = {a_taint("sla", value): count for value, count in counts.items()}
    found = compile_over([GT_900], there_are, room=room)

    assert as_json(found.added) == [equal("sla", value) for value in expected]
    assert found.cut is cut


def test_what_is_tolerated_already_takes_no_room() -> None:
    found = compile_over([GT_900], sla("950", "960", "970"), equal("sla", "960"), room=2)

    assert as_json(found.added) == [equal("sla", "950"), equal("sla", "970")]
    assert not found.cut


def test_a_taint_is_looked_up_not_compared_with_each_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Taint] = []
    tolerates = taints.Matcher.tolerates

    def counted(self: taints.Matcher, taint: Taint, noticed: set[object]) -> bool:
        asked.append(taint)
        return tolerates(self, taint, noticed)  # type: ignore[arg-type]  # findings are objects

    monkeypatch.setattr(taints.Matcher, "tolerates", counted)
    rules = [{"key": "sla", "operator": "Gt", "value": str(9_998 - n)} for n in range(4_998)]
    there_are = [*sla(*map(str, range(5_000))), *sla("9999", effect="NoExecute")]
    found = compile_over(rules, there_are)

    assert as_json(found.added) == [equal("sla", "9999", "NoExecute")]
    assert len(asked) <= len(rules)  # for the seconds of the one that is added


def test_a_bound_pod_gets_what_its_node_evicts_for() -> None:
    pod = carried_by(equal("sla", "970", "NoExecute"), rules=[{**GT_900, "tolerationSeconds": 5}])
    node = [
        a_taint("sla", "950"),
        a_taint("sla", "960", "NoExecute"),
        a_taint("sla", "970", "NoExecute"),
        a_taint("sla", "850", "NoExecute"),
        a_taint("sla", "980", "PreferNoSchedule"),
    ]

    assert as_json(compiled_on_node(pod.own, pod.extended, node)) == [
        equal("sla", "960", "NoExecute", 5)
    ]


def test_no_limit_holds_for_what_a_node_evicts_for() -> None:
    pod = carried_by(rules=[ANY])
    node = [a_taint(f"k{n:03}", "", "NoExecute") for n in range(200)]

    assert len(compiled_on_node(pod.own, pod.extended, node)) == 200


def test_a_guard_does_not_count_as_tolerating() -> None:
    pod = carried_by(guard("sla"), rules=[GT_900], record=["sla"])

    assert as_json(compiled_on_node(pod.own, pod.extended, sla("950", effect="NoExecute"))) == [
        equal("sla", "950", "NoExecute")
    ]
