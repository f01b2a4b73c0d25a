"""The configuration of a controller, alone and beside an extender's."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from extender.config import loading
from extender.config.schema import Config
from extender.match.gates import CEL_GATE, COMPARISON_GATE, INCLUSION_GATE, SEMVER_GATE
from extender.review.doctor import compile_mode
from extender.review.doctor.scheduler import SchedulerConfiguration
from extender.review.scan.objects import ScannedPod, ScannedVolume, ScannedWorkload
from tests.builders import PREFIX

JSON = dict[str, Any]
EXTENDED = "extended-scheduler"


def config(**sections: Any) -> Config:
    kind = {"apiVersion": "leeway.scheduling/v1alpha1", "kind": "ExtenderConfiguration"}
    return loading.from_data(kind | sections)


def alone(**compile_settings: Any) -> list[tuple[str, str]]:
    found = list(compile_mode.check("x", config(compile=compile_settings)))
    assert all(p.severity == "warning" for p in found)
    return [(p.check, p.why) for p in found]


@pytest.mark.parametrize(
    ("grace", "why"),
    [("30s", ""), ("17s", ""), ("16s", "evicts after 16 s"), ("0s", "without guards")],
)
def test_a_grace_lasts_as_long_as_a_takeover(grace: str, why: str) -> None:
    found = alone(noExecuteGrace=grace)

    assert [check for check, _ in found] == ["no-execute-grace"] * bool(why)
    assert all(why in text for _, text in found)


def test_the_takeover_is_a_lease_and_a_retry() -> None:
    from extender.control import election

    assert compile_mode.TAKEOVER_SECONDS == election.LEASE_SECONDS + election.RETRY_SECONDS


def test_extra_taints_that_cannot_be_right() -> None:
    good = ["example.com/sla=990:NoSchedule", "example.com/sla=980:NoSchedule"]
    (twice,) = alone(extraTaints=[*good, good[0]])
    (condition,) = alone(extraTaints=["node.kubernetes.io/not-ready:NoExecute"])

    assert alone(extraTaints=good) == []
    assert twice == ("extra-taints", f"{good[0]} stands there 2 times")
    assert condition[0] == "extra-taints"
    assert condition[1].startswith("node.kubernetes.io/not-ready:NoExecute is a condition")


def test_more_extra_taints_than_one_pod_may_get() -> None:
    taints = [f"example.com/sla={value}:NoSchedule" for value in range(3)]

    assert [check for check, _ in alone(extraTaints=taints, maxTolerations=2)] == [
        "max-tolerations"
    ]
    assert alone(extraTaints=taints, maxTolerations=3) == []


# --- Beside an extender ------------------------------------------------------------------------


def beside(controller: Config, extender: Config | None, *schedulers: JSON) -> list[tuple[str, str]]:
    extenders = [] if extender is None else [("extender", extender)]
    theirs = [msgspec.convert(each, SchedulerConfiguration) for each in schedulers]
    found = compile_mode.check_beside(("controller", controller), extenders, theirs)
    return [(p.check, p.where) for p in found]


CALLS: JSON = {"profiles": [{"schedulerName": EXTENDED}], "extenders": [{"urlPrefix": "http://x"}]}
PROFILES = [{"schedulerName": EXTENDED}]
BOTH = {"schedulerNames": ["default-scheduler", EXTENDED]}
UNKNOWN = [("compile-profiles", "controller: profiles")]


@pytest.mark.parametrize(
    ("sections", "extender", "schedulers", "expected"),
    [
        pytest.param({}, {"profiles": PROFILES}, [CALLS], [], id="each has its own pods"),
        pytest.param({"compile": BOTH}, None, [], [], id="no extender"),
        pytest.param({"compile": BOTH}, None, [CALLS], UNKNOWN, id="by the scheduler"),
        pytest.param({"compile": BOTH}, {"profiles": PROFILES}, [], UNKNOWN, id="by the extender"),
        pytest.param(
            {"compile": {"schedulerNames": []}}, None, [CALLS], UNKNOWN, id="compiles all"
        ),
        pytest.param({"compile": BOTH, "profiles": PROFILES}, None, [CALLS], [], id="is known"),
        pytest.param(
            {"compile": BOTH}, None, [CALLS | {"extenders": []}], [], id="it calls no extender"
        ),
    ],
)
def test_a_controller_must_know_whom_an_extender_serves(
    sections: JSON, extender: JSON | None, schedulers: list[JSON], expected: list[Any]
) -> None:
    ours = None if extender is None else config(**extender)

    assert beside(config(**sections), ours, *schedulers) == expected


@pytest.mark.parametrize("on", [True, False])
def test_gates_differ_for_pods_that_both_judge(on: bool) -> None:
    gates = {"featureGates": {CEL_GATE: on, INCLUSION_GATE: on}}
    others = {"featureGates": {CEL_GATE: not on, INCLUSION_GATE: not on}}
    both = {"compile": BOTH, "profiles": PROFILES}
    found = [("gate-mismatch", f"controller: featureGates.{CEL_GATE}")]

    assert beside(config(**both, **gates), config(profiles=PROFILES, **others)) == found
    assert beside(config(**both, **gates), config(profiles=PROFILES, **gates)) == []
    # Without profiles an extender serves whoever calls it.
    assert beside(config(**both, **gates), config(**others), CALLS) == found
    assert beside(config(**gates), config(**others), CALLS) == []
    assert beside(config(**gates), config(**others)) == found


# --- Pods that need a gate ---------------------------------------------------------------------


def pod(operator: str, scheduler: str = "default-scheduler", **more: Any) -> ScannedPod:
    rules = msgspec.json.encode([{"key": "a", "operator": operator, "value": "1", **more}]).decode()
    metadata: JSON = {"name": f"pod-{operator}", "namespace": "n"}
    metadata |= {"annotations": {f"{PREFIX}tolerations": rules}}
    spec = {"schedulerName": scheduler}
    return msgspec.convert({"metadata": metadata, "spec": spec}, ScannedPod)


def used(ours: Config, *objects: Any, compiles: bool = True) -> list[tuple[str, str]]:
    workloads = [("Pod", each) for each in objects]
    found = compile_mode.check_used_gates("x", ours, workloads, compiles=compiles)
    return [(p.where, p.why) for p in found]


def test_pods_that_use_a_gate_that_is_off() -> None:
    off = config(featureGates={COMPARISON_GATE: False})
    ((where, why),) = used(off, pod("Gt"), pod("Lt"), pod("Gt"), pod("SemverGt"))

    assert where == f"x: featureGates.{COMPARISON_GATE}"
    assert "2 workloads or pods have such rules, such as Pod n/pod-Gt" in why
    assert used(off, pod("SemverGt"), ScannedVolume(), ScannedWorkload()) == []
    assert used(config(), pod("Gt")) == []


def test_pods_of_other_schedulers_do_not_count() -> None:
    off = config(featureGates={COMPARISON_GATE: False}, profiles=PROFILES)

    assert used(off, pod("Gt", EXTENDED)) == []
    assert used(off, pod("Gt"), compiles=False) == []
    assert len(used(off, pod("Gt", EXTENDED), compiles=False)) == 1
    assert len(used(replace(off, profiles=()), pod("Gt", ""), compiles=False)) == 1


def test_a_controller_reads_no_affinity() -> None:
    off = config(featureGates={SEMVER_GATE: False})
    term = {"matchExpressions": [{"key": "a", "operator": "SemverGt", "values": ["1.0.0"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    spec = {"affinity": {"nodeAffinity": required}}
    affine = msgspec.convert({"metadata": {"name": "p"}, "spec": spec}, ScannedPod)

    assert used(off, affine) == []
    assert len(used(off, affine, compiles=False)) == 1


def test_who_has_rules() -> None:
    settings = Config().settings()

    assert compile_mode.has_rules(pod("Gt"), settings)
    assert not compile_mode.has_rules(ScannedPod(), settings)
    assert not compile_mode.has_rules(ScannedVolume(), settings)
    assert compile_mode.any_gate_off([("x", config(featureGates={CEL_GATE: False}))])
    assert not compile_mode.any_gate_off([("x", Config())])
