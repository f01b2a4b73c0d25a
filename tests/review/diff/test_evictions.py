"""Who is evicted by a new NoExecute taint, as taint-eviction decides it."""

import json
from typing import Any

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.review.diff import evictions
from extender.review.diff.evictions import Eviction
from tests.builders import JSON, PREFIX, a_node, taint, toleration
from tests.review.diff.clusters import population, running

EVICTING = taint("sla", "800", "NoExecute")
GUARD = toleration("sla", "Exists", "", "NoExecute", tolerationSeconds=30)
RULE = {f"{PREFIX}tolerations": json.dumps([toleration("sla", "Gt", "700")])}
RECORD = {f"{PREFIX}guarded-keys": '["sla"]'}


def eviction(
    *tolerations: JSON,
    before: tuple[JSON, ...] | None = (),
    after: tuple[JSON, ...] = (EVICTING,),
    gates: FeatureGates | None = None,
    **more: Any,
) -> Eviction | None:
    (member,) = population(running("a", "n", *tolerations, **more)).members()
    assert member.live is not None
    return evictions.of(
        member.live,
        None if before is None else a_node("n", *before),
        a_node("n", *after),
        Settings(gates=gates or FeatureGates()),
        CompileSettings(),
    )


ARRIVED = Taint("sla", "800", "NoExecute")


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        pytest.param([], Eviction(ARRIVED), id="not tolerated"),
        pytest.param([toleration("sla", "Exists")], None, id="tolerated for ever"),
        pytest.param([toleration("gpu", "Exists")], Eviction(ARRIVED), id="another key"),
        pytest.param([toleration("sla", "Equal", "900")], Eviction(ARRIVED), id="another value"),
        pytest.param(
            [toleration("sla", "Exists", "", "NoSchedule")], Eviction(ARRIVED), id="another effect"
        ),
        pytest.param(
            [toleration("", "Exists", tolerationSeconds=60)],
            Eviction(ARRIVED, 60),
            id="for a while",
        ),
        pytest.param(
            [toleration("sla", "Equal", "800"), GUARD], None, id="the first that matches decides"
        ),
        pytest.param([toleration("sla", "Gt", "700")], None, id="a native threshold"),
        pytest.param(
            [toleration("sla", "Exists", tolerationSeconds=-5)], Eviction(ARRIVED), id="no time"
        ),
    ],
)
def test_an_eviction_is_by_native_tolerations(
    tolerations: list[JSON], expected: Eviction | None
) -> None:
    assert eviction(*tolerations) == expected


def test_a_taint_that_was_there_before_evicts_nobody() -> None:
    assert eviction(before=(EVICTING,)) is None
    assert eviction(before=None) == Eviction(ARRIVED)


def test_only_no_execute_evicts() -> None:
    assert eviction(after=(taint("sla", "800"),)) is None


def test_the_first_of_several_taints_to_run_out_evicts() -> None:
    tolerations = (
        toleration("sla", "Exists", tolerationSeconds=60),
        toleration("gpu", "Exists", tolerationSeconds=10),
    )
    found = eviction(*tolerations, after=(EVICTING, taint("gpu", "", "NoExecute")))

    assert found == Eviction(Taint("gpu", "", "NoExecute"), 10)


def test_an_annotation_alone_keeps_nobody() -> None:
    assert eviction(annotations=RULE) == Eviction(ARRIVED)


def test_a_guarded_pod_stays_if_its_rule_tolerates_the_new_value() -> None:
    assert eviction(GUARD, annotations=RULE | RECORD) is None


def test_a_guarded_pod_leaves_after_its_grace_if_no_rule_does() -> None:
    gone = taint("sla", "600", "NoExecute")

    assert eviction(GUARD, annotations=RULE | RECORD, after=(gone,)) == Eviction(
        Taint("sla", "600", "NoExecute"), 30
    )


def test_a_toleration_of_the_same_shape_that_is_no_guard_runs_out() -> None:
    assert eviction(GUARD, annotations=RULE) == Eviction(ARRIVED, 30)


def test_the_guard_of_unreadable_rules_runs_out() -> None:
    broken = {f"{PREFIX}tolerations": "["}

    assert eviction(GUARD, annotations=broken | RECORD) == Eviction(ARRIVED, 30)


def test_a_rule_whose_gate_is_off_keeps_nobody() -> None:
    off = FeatureGates(comparison_operators=False)

    assert eviction(GUARD, annotations=RULE | RECORD, gates=off) == Eviction(ARRIVED, 30)
