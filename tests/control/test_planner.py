import contextlib
from collections.abc import Iterator

import msgspec

from extender.control import planner as planners
from extender.control.planner import Planner
from extender.framework.interface import Settings
from extender.model.core_v1 import Node, Taint
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.verbs.cel_budget import CelBudget
from tests.control.building import GOLD, equal, live, node_of, pod_of

LONG = "- {key: sla, operator: Gt, value: '900'}\n" + "#" * planners.INLINE_CHARACTERS
COSTLY = {"expression": " || ".join(f"taint.value == '{i}'" for i in range(300))}
FRESH = Taint("sla", "960", "NoSchedule")


@contextlib.contextmanager
def planning(*values: str) -> Iterator[Planner]:
    settings, taints = Settings(), TaintUniverse()
    for value in values:
        taints.put(value, msgspec.convert(node_of(value, value), Node))
    cel = CelBudget(settings)
    with cel.running():
        yield Planner(settings, CompileSettings(), taints, cel)


def test_what_is_small_is_planned_at_once() -> None:
    with planning("950", "700") as planner:
        plan = planner.plan(live(pod_of(GOLD)))

    assert plan is not None
    assert [each.value for each in plan.added] == ["950"]


async def test_a_long_annotation_is_planned_once_it_was_read() -> None:
    pod = live(pod_of(LONG))
    with planning("950") as planner:
        assert planner.plan(pod) is None
        assert planner.extended(pod) is None

        await planner.prepare(pod)

        plan = planner.plan(pod)
        assert plan is not None
        assert [each.value for each in plan.added] == ["950"]


async def test_a_long_annotation_that_is_unreadable_is_read_once() -> None:
    pod = live(pod_of("[{" + "#" * planners.INLINE_CHARACTERS))
    with planning("950") as planner:
        assert planner.plan(pod) is None

        await planner.prepare(pod)

        plan = planner.plan(pod)
        assert plan is not None
        assert plan.invalid


async def test_costly_expressions_are_planned_once_they_were_worked_on() -> None:
    pod = live(pod_of(COSTLY))
    with planning("250", "950") as planner:
        assert planner.plan(pod) is None
        assert planner.concerns(pod, [FRESH])

        await planner.prepare(pod)

        plan = planner.plan(pod)
        assert plan is not None
        assert [each.value for each in plan.added] == ["250"]


def test_new_taints_concern_only_pods_whose_rules_match_them() -> None:
    with planning() as planner:
        assert planner.concerns(live(pod_of(GOLD)), [FRESH])
        assert not planner.concerns(live(pod_of({**GOLD, "value": "990"})), [FRESH])
        assert planner.concerns(live(pod_of("[{")), [FRESH])


async def test_a_remark_that_takes_too_much_work_is_not_made() -> None:
    """It is made where the watch tells of a pod, which must go on."""
    mine = [equal(str(number)) for number in range(3_000)]
    pod, few = live(pod_of(COSTLY, native=mine)), live(pod_of(COSTLY, native=mine[:3]))
    with planning() as planner:
        await planner.prepare(pod)

        assert planner.narrowed(few, few, None) is not None
        assert planner.narrowed(pod, pod, None) is None
