"""Whether a pod that was refused everywhere would fit by now."""

import pytest

from extender.errors import PluginError
from extender.verbs.fitting import node_for
from extender.verbs.waiting import View
from tests.builders import node_json, taint, toleration
from tests.waiting import World, a_waiting_pod, spread

SLA = taint("sla", "950")


def fitting(world: World, since: View | None = None) -> str | None:
    (pod,) = world.pending.values()
    assert pod.rules is not None
    return node_for(world.context, world.snapshot(), pod.rules, since)


def test_all_nodes_are_judged_or_those_that_changed() -> None:
    world = World()
    world.show_pod(a_waiting_pod(toleration("sla", "Gt", "900")))
    world.show(node_json("fits", SLA), node_json("refused", taint("sla", "1")))
    then = View.of(world.snapshot())
    world.show(node_json("refused", taint("sla", "2")))

    assert fitting(world) == "fits"
    assert fitting(world, then) is None
    world.show(node_json("refused", taint("sla", "901")))
    assert fitting(world, then) == "refused"


def test_a_node_that_is_gone_lets_nobody_pass() -> None:
    world = World()
    world.show_pod(a_waiting_pod())
    world.show(node_json("a"))
    then = View.of(world.snapshot())
    world.cache.nodes.remove("a")

    assert fitting(world, then) is None
    assert fitting(world) is None


def test_nobody_is_in_flight_because_of_a_look() -> None:
    world = World()
    world.show_pod(spread(a_waiting_pod()))
    world.show(node_json("a", labels={"zone": "x"}))

    assert fitting(world) == "a"
    assert world.cache.index.in_flight == 0


def test_what_breaks_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.show_pod(a_waiting_pod(toleration("sla", "Exists")))
    world.show(node_json("a", SLA))
    monkeypatch.setattr("extender.verbs.cel_budget.CALL_BUDGET", -1)

    with pytest.raises(PluginError, match="TaintToleration"):
        fitting(world)
