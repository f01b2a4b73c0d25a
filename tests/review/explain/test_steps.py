"""Work in steps comes to the same as work at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.framework.interface import Code, Settings
from extender.model.core_v1 import Pod
from extender.review.explain import steps
from extender.review.explain.steps import Steps, filtered, finished
from tests import builders
from tests.builders import a_snapshot, node_json
from tests.properties.explain_strategies import World, worlds
from tests.review.explain.asking import an_inquiry
from tests.review.explain.spread.test_derivation import nodes, spreading


@settings(max_examples=25)
@given(world=worlds(), size=st.integers(1, 4))
def test_some_nodes_at_a_time_are_judged_as_all_at_once(world: World, size: int) -> None:
    asked = world.inquiry()
    candidates = list(asked.snapshot.nodes.values())
    whole = builders.filtered(asked.profile, asked.pod, candidates, asked.snapshot)
    found = finished(filtered(asked.profile, asked.pod, asked.snapshot, candidates, size=size))

    assert found.statuses == whole.statuses()
    assert found.findings == whole.stats.findings


def test_every_slice_is_a_step() -> None:
    many = [node_json(f"n{i}") for i in range(steps.SLICE + 1)]
    asked = an_inquiry(spreading(), *many)
    candidates = list(asked.snapshot.nodes.values())

    def steps_of(pod: Pod) -> int:
        return sum(1 for _ in filtered(asked.profile, pod, asked.snapshot, candidates))

    # One for the nodes as a table, one for each slice, and one for what a plugin has to count.
    assert steps_of(Pod()) == 3
    assert steps_of(asked.pod) == 4
    assert finished(filtered(asked.profile, asked.pod, asked.snapshot, [])).statuses == []


def test_with_pods_in_flight_all_nodes_are_judged_at_once() -> None:
    asked = an_inquiry(spreading(), *nodes())
    snapshot = a_snapshot(nodes(), reserves=True)
    assert snapshot.pods is not None
    candidates = list(snapshot.nodes.values())
    finished(filtered(asked.profile, asked.pod, snapshot, candidates))
    snapshot.pods.answered(spreading(), builders.let_pass(snapshot.table, *snapshot.nodes))

    # The table, what a plugin has to count, and all nodes.
    assert sum(1 for _ in filtered(asked.profile, asked.pod, snapshot, candidates, size=1)) == 3


def test_a_pod_is_parsed_once_for_all_steps() -> None:
    """What is counted for that is costly, and must not change from step to step."""
    zone = [node_json(f"n{i}", labels={"zone": "a"}) for i in range(9)]
    asked = an_inquiry(spreading(), *zone, settings=Settings())
    candidates = list(asked.snapshot.nodes.values())

    def cost(size: int) -> float:
        asked.settings.budget.left = 1_000
        finished(filtered(asked.profile, asked.pod, asked.snapshot, candidates, size=size))
        return 1_000 - asked.settings.budget.left

    cost(9)
    assert 0 < cost(9) == cost(1)


def test_a_pod_that_cannot_be_parsed_fails_in_every_step() -> None:
    zone = [node_json(f"n{i}", labels={"zone": "a"}) for i in range(9)]
    asked = an_inquiry(spreading(), *zone, settings=Settings())
    candidates = list(asked.snapshot.nodes.values())
    asked.settings.budget.left = 1
    found = finished(filtered(asked.profile, asked.pod, asked.snapshot, candidates, size=4))

    assert [status.code for status in found.statuses] == [Code.ERROR] * 9


def test_what_is_finished_is_what_was_returned() -> None:
    def work() -> Steps[int]:
        yield
        return 7

    assert finished(work()) == 7
    with pytest.raises(RuntimeError):
        finished(_broken())


def _broken() -> Steps[int]:
    yield
    raise RuntimeError
