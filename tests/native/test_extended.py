"""Which tolerations are rules, and which taints they reach."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Taint, Toleration
from extender.native.extended import Extended, compile_rules, is_extended, is_plain
from extender.native.settings import CompileSettings
from tests.builders import JSON, toleration
from tests.native.building import DEFAULTS, a_taint

NOT_READY = a_taint("node.kubernetes.io/not-ready", effect="NoExecute")
CONTROL_PLANE = a_taint("node-role.kubernetes.io/control-plane")


def rule(*args: str, **more: Any) -> Toleration:
    return msgspec.convert(toleration(*args, **more), Toleration)


def rules(
    *written: JSON,
    settings: Settings | None = None,
    compile_settings: CompileSettings = DEFAULTS,
) -> Extended:
    tolerations = msgspec.convert(written, tuple[Toleration, ...])
    return compile_rules(tolerations, settings or Settings(), compile_settings)


@pytest.mark.parametrize(
    ("native", "extended", "plain"),
    [
        pytest.param(rule("sla", "Equal", "950"), False, True, id="Equal is plain"),
        pytest.param(rule("sla", "", "950"), False, True, id="no operator means Equal"),
        pytest.param(rule("sla", "Exists"), False, True, id="Exists is plain"),
        pytest.param(rule("sla", "Gt", "900"), True, False, id="Gt is a rule"),
        pytest.param(rule("sla", "Lt", "900"), True, False, id="Lt is a rule"),
        pytest.param(rule("k", "SemverGt", "1.2"), True, False, id="SemverGt is a rule"),
        pytest.param(rule("k", "SemverLt", "1.2"), True, False, id="SemverLt is a rule"),
        pytest.param(rule("k", "SemverEq", "1.2"), True, False, id="SemverEq is a rule"),
        pytest.param(rule(expression="true"), True, False, id="an expression is a rule"),
        pytest.param(
            rule("sla", "Exists", expression="true"),
            True,
            False,
            id="an expression makes even Exists a rule",
        ),
        pytest.param(
            rule("sla", "Exists", expression=""), False, True, id="an empty expression is absent"
        ),
        pytest.param(rule("sla", "gt", "9"), False, False, id="an unknown operator is neither"),
    ],
)
def test_rules_and_plain_tolerations(native: Toleration, extended: bool, plain: bool) -> None:
    assert is_extended(native) is extended
    assert is_plain(native) is plain


@pytest.mark.parametrize(
    ("written", "taint", "expected"),
    [
        pytest.param([toleration("sla", "Gt", "900")], a_taint("sla", "950"), True, id="above"),
        pytest.param([toleration("sla", "Gt", "900")], a_taint("sla", "900"), False, id="equal"),
        pytest.param([], a_taint("sla", "950"), False, id="no rules"),
        pytest.param(
            [toleration("sla", "Gt", "990"), toleration("sla", "Gt", "900")],
            a_taint("sla", "950"),
            True,
            id="any of several rules",
        ),
        pytest.param(
            [toleration(operator="Exists")], a_taint("sla"), True, id="no key reaches any key"
        ),
        pytest.param(
            [toleration(operator="Exists")], CONTROL_PLANE, False, id="but not a protected one"
        ),
        pytest.param(
            [toleration(operator="Exists")], NOT_READY, False, id="nor a condition of the node"
        ),
        pytest.param(
            [{"expression": "true"}], CONTROL_PLANE, False, id="nor does an expression reach it"
        ),
        pytest.param(
            [{"expression": f"taint.key == '{CONTROL_PLANE.key}'"}],
            CONTROL_PLANE,
            False,
            id="not even one that names it",
        ),
        pytest.param(
            [toleration(CONTROL_PLANE.key, "Exists")],
            CONTROL_PLANE,
            True,
            id="a rule that names a protected key reaches it",
        ),
        pytest.param(
            [toleration(NOT_READY.key, "Exists")],
            NOT_READY,
            True,
            id="a rule that names a condition reaches it",
        ),
        pytest.param(
            [toleration(CONTROL_PLANE.key, "Exists", effect="NoExecute")],
            CONTROL_PLANE,
            False,
            id="a rule that names it, of another effect",
        ),
    ],
)
def test_tolerates(written: Sequence[JSON], taint: Taint, expected: bool) -> None:
    extended = rules(*written)

    assert extended.tolerates(taint) is expected
    assert (extended.first(taint) is not None) is expected
    assert bool(extended) is bool(written)


@pytest.mark.parametrize(
    ("gates", "written"),
    [
        pytest.param(
            FeatureGates(comparison_operators=False), toleration("sla", "Gt", "1"), id="Gt"
        ),
        pytest.param(
            FeatureGates(semver_operators=False), toleration("sla", "SemverGt", "1"), id="SemverGt"
        ),
        pytest.param(FeatureGates(cel=False), {"expression": "true"}, id="CEL"),
    ],
)
def test_a_gate_that_is_off_switches_its_rules_off(gates: FeatureGates, written: JSON) -> None:
    on, off = rules(written), rules(written, settings=Settings(gates=gates))

    assert on.tolerates(a_taint("sla", "950"))
    assert not off.tolerates(a_taint("sla", "950"))
    assert list(off.evicting()) == []


def test_first_is_the_first_that_matches_as_they_are_written() -> None:
    extended = rules(
        toleration("sla", "Gt", "990", tolerationSeconds=1),
        toleration("sla", "Gt", "900", tolerationSeconds=2),
        toleration("sla", "Gt", "100", tolerationSeconds=3),
    )
    seconds = {
        value: found.seconds if (found := extended.first(a_taint("sla", value))) else None
        for value in ("995", "950", "500", "50")
    }

    assert seconds == {"995": 1, "950": 2, "500": 3, "50": None}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(toleration("sla", "Gt", "1"), ["sla"], id="effect empty"),
        pytest.param(toleration("sla", "Gt", "1", "NoExecute"), ["sla"], id="NoExecute"),
        pytest.param(toleration("sla", "Gt", "1", "NoSchedule"), [], id="NoSchedule"),
        pytest.param(toleration("sla", "Gt", "1", "PreferNoSchedule"), [], id="PreferNoSchedule"),
        pytest.param(toleration("sla", "Equal", "1"), ["sla"], id="Equal by annotation"),
        pytest.param(toleration("sla", "Exists"), ["sla"], id="Exists by annotation"),
        pytest.param(toleration(operator="Exists"), [], id="without a key"),
        pytest.param({"expression": "true"}, [], id="an expression"),
        pytest.param(toleration("sla", "Gt", "x"), [], id="a value that cannot be read"),
        pytest.param(toleration("sla", "gt", "1"), [], id="an unknown operator"),
        pytest.param(toleration(CONTROL_PLANE.key, "Exists"), [CONTROL_PLANE.key], id="protected"),
    ],
)
def test_evicting_rules_name_a_key_and_can_match(written: JSON, expected: list[str]) -> None:
    assert [each.key for each in rules(written).evicting()] == expected


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        pytest.param(toleration("sla", "Equal", "950", "NoSchedule"), True, id="what is compiled"),
        pytest.param(toleration("sla", "", "950", "NoSchedule"), True, id="without an operator"),
        pytest.param(toleration("sla", "Equal", "950"), True, id="of every effect"),
        pytest.param(toleration("sla", "Equal", "950", "NoExecute"), False, id="other effect"),
        pytest.param(toleration("sla", "Equal", "850", "NoSchedule"), False, id="other value"),
        pytest.param(toleration("other", "Equal", "950", "NoSchedule"), False, id="other key"),
        pytest.param(toleration("", "Equal", "950", "NoSchedule"), False, id="without a key"),
        pytest.param(toleration("sla", "Exists", "", "NoSchedule"), False, id="Exists"),
        pytest.param(toleration("sla", "Gt", "950", "NoSchedule"), False, id="a rule itself"),
        pytest.param(
            toleration("sla", "Equal", "950", "NoSchedule", expression="true"),
            False,
            id="an expression",
        ),
    ],
)
def test_covers_what_a_rule_says_too(plain: JSON, expected: bool) -> None:
    extended = rules(toleration("sla", "Gt", "900", "NoSchedule"))

    assert extended.covers(msgspec.convert(plain, Toleration)) is expected
