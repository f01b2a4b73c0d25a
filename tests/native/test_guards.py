"""Which guards a bound pod gets, and for how long each holds."""

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Taint
from extender.native.guards import guards
from extender.native.settings import CompileSettings
from tests.builders import JSON, toleration
from tests.native.building import GRACE, a_taint, as_json, carried_by, equal, guard

GT_900 = toleration("sla", "Gt", "900")
ANY = {"expression": "true"}
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
BOTH = [GT_900, ANY]


def evicts(key: str, value: str = "950") -> Taint:
    return a_taint(key, value, "NoExecute")


@pytest.mark.parametrize(
    ("rules", "taints", "expected"),
    [
        pytest.param([GT_900], [], ["sla"], id="a key that a rule of every effect names"),
        pytest.param(
            [{**GT_900, "effect": "NoExecute"}], [], ["sla"], id="a key that a NoExecute rule names"
        ),
        pytest.param(
            [{**GT_900, "effect": "NoSchedule"}],
            [evicts("sla")],
            [],
            id="not a key that a rule of another effect names",
        ),
        pytest.param(
            [GT_900], [evicts("sla", "850")], ["sla"], id="even where its node has a bad value"
        ),
        pytest.param([ANY], [], [], id="an expression names no key"),
        pytest.param(
            [ANY], [evicts("a")], ["a"], id="a NoExecute key of its node that it tolerates"
        ),
        pytest.param(
            [toleration(operator="Exists")], [evicts("a")], ["a"], id="a rule without a key as well"
        ),
        pytest.param(
            [{"expression": "taint.key == 'a'"}],
            [evicts("a"), evicts("b")],
            ["a"],
            id="not a NoExecute key that no rule tolerates",
        ),
        pytest.param([ANY], [a_taint("a", "950")], [], id="not for NoSchedule"),
        pytest.param([], [evicts("a")], [], id="no rules: no guards"),
        pytest.param(
            [toleration("b", "Exists"), toleration("a", "Exists"), ANY],
            [evicts("c")],
            ["a", "b", "c"],
            id="in the order of their keys",
        ),
        pytest.param([ANY], [evicts(CONTROL_PLANE)], [], id="protected: not by an expression"),
        pytest.param(
            [toleration(CONTROL_PLANE, "Exists")],
            [],
            [CONTROL_PLANE],
            id="protected: by a rule that names it",
        ),
        pytest.param(
            [toleration("sla", "Gt", "x")], [], [], id="a rule that can never match names nothing"
        ),
        pytest.param(
            [toleration("no key/", "Exists"), toleration("é", "Exists"), toleration("-", "Exists")],
            [],
            [],
            id="no node has a taint with a key that is no label key",
        ),
    ],
)
def test_guarded_keys(rules: list[JSON], taints: list[Taint], expected: list[str]) -> None:
    found = guards(carried_by(rules=rules), taints, 64)

    assert as_json(found) == [guard(key) for key in expected]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param(
            toleration("sla", "Exists", effect="NoExecute"), [], id="an Exists of its own"
        ),
        pytest.param(guard("sla", 600), [], id="with seconds, too"),
        pytest.param(toleration("sla", "Exists"), [], id="of every effect"),
        pytest.param(toleration(operator="Exists"), [], id="of every key"),
        pytest.param(
            toleration("sla", "Exists", effect="NoSchedule"), ["sla"], id="not of another effect"
        ),
        pytest.param(toleration("x", "Exists"), ["sla"], id="not of another key"),
        pytest.param(equal("sla", "950", "NoExecute"), ["sla"], id="not an Equal"),
    ],
)
def test_no_guard_beside_an_exists_of_ones_own(own: JSON, expected: list[str]) -> None:
    found = guards(carried_by(own, rules=[GT_900]), [evicts("sla")], 64)

    assert as_json(found) == [guard(key) for key in expected]


def test_no_second_guard() -> None:
    pod = carried_by(guard("sla", 5), rules=[GT_900, toleration("x", "Exists")], record=["sla"])

    assert as_json(guards(pod, [evicts("sla")], 64)) == [guard("x")]


@pytest.mark.parametrize(
    ("rules", "annotations", "expected"),
    [
        pytest.param([GT_900], {}, [guard("sla", 7)], id="the configured grace"),
        pytest.param([GT_900], {GRACE: "60"}, [guard("sla", 60)], id="that of the pod"),
        pytest.param([GT_900], {GRACE: "0"}, [], id="0 of the pod: no guard"),
        pytest.param([GT_900], {GRACE: "x"}, [guard("sla", 7)], id="an invalid one: the default"),
        pytest.param(
            [{**GT_900, "tolerationSeconds": 90}],
            {GRACE: "60"},
            [guard("sla", 90)],
            id="the seconds of the rule come before both",
        ),
        pytest.param(
            [{**GT_900, "tolerationSeconds": 90}],
            {GRACE: "0"},
            [guard("sla", 90)],
            id="even before 0",
        ),
        pytest.param([{**GT_900, "tolerationSeconds": 0}], {}, [], id="0 of the rule: no guard"),
        pytest.param([{**GT_900, "tolerationSeconds": -9}], {}, [], id="less than 0: no guard"),
        pytest.param(
            [{**GT_900, "tolerationSeconds": 10**30}],
            {},
            [guard("sla", (1 << 63) - 1)],
            id="more than the API can hold",
        ),
        pytest.param(
            [toleration("sla", "Gt", "960", tolerationSeconds=10**30)],
            {},
            [guard("sla", (1 << 63) - 1)],
            id="the same where the rule only names the key",
        ),
        pytest.param([{**GT_900, "tolerationSeconds": -(10**30)}], {}, [], id="far below 0"),
        pytest.param(
            [toleration("sla", "Gt", "990", tolerationSeconds=5), GT_900],
            {},
            [guard("sla", 7)],
            id="of the rule that matches its node, not of the first that names the key",
        ),
        pytest.param(
            [{"expression": "true", "tolerationSeconds": 4}, {**GT_900, "tolerationSeconds": 5}],
            {},
            [guard("sla", 4)],
            id="of an expression that matches first",
        ),
        pytest.param(
            [
                toleration("sla", "Gt", "960", tolerationSeconds=5),
                toleration("sla", "Gt", "970", tolerationSeconds=6),
            ],
            {},
            [guard("sla", 5)],
            id="of the first that names the key where none matches",
        ),
    ],
)
def test_seconds(rules: list[JSON], annotations: dict[str, str], expected: list[JSON]) -> None:
    pod = carried_by(
        rules=rules,
        annotations=annotations,
        compile_settings=CompileSettings(no_execute_grace=7),
    )

    assert as_json(guards(pod, [evicts("sla")], 64)) == expected


def test_a_configured_grace_of_0_guards_nothing() -> None:
    pod = carried_by(rules=BOTH, compile_settings=CompileSettings(no_execute_grace=0))

    assert guards(pod, [evicts("sla"), evicts("a")], 64) == ()


def test_a_gate_that_is_off_guards_nothing() -> None:
    gates = FeatureGates(comparison_operators=False, cel=False)

    assert guards(carried_by(rules=BOTH, settings=Settings(gates=gates)), [evicts("sla")], 64) == ()


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        pytest.param(4, ["a", "b", "x", "z"], id="room for all"),
        pytest.param(3, ["a", "b", "z"], id="the keys on its node first, then in order"),
        pytest.param(2, ["a", "z"], id="room for that of its node and one more"),
        pytest.param(1, ["z"], id="room for that of its node"),
        pytest.param(0, [], id="no room"),
        pytest.param(-1, [], id="less than no room"),
    ],
)
def test_a_pod_has_only_so_many_guards(most: int, expected: list[str]) -> None:
    pod = carried_by(rules=[toleration(key, "Exists") for key in ("b", "x", "a", "z")])
    found = guards(pod, [evicts("z")], most)

    assert as_json(found) == [guard(key) for key in expected]


def test_guards_that_are_there_count() -> None:
    rules = [toleration(key, "Exists") for key in ("a", "b", "c")]
    pod = carried_by(guard("a"), rules=rules, record=["a"])

    assert as_json(guards(pod, [], 2)) == [guard("b")]
    assert guards(pod, [], 1) == ()
    assert guards(pod, [], 0) == ()
