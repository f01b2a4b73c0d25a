"""Work in steps comes to the same as work at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    work = filtered(asked.profile, asked.pod, asked.snapshot, list(asked.snapshot.nodes.values()))

    assert sum(1 for _ in work) == 2
    assert finished(filtered(asked.profile, asked.pod, asked.snapshot, [])).statuses == []


def test_with_pods_in_flight_all_nodes_are_judged_at_once() -> None:
    asked = an_inquiry(spreading(), *nodes())
    snapshot = a_snapshot(nodes(), reserves=True)
    assert snapshot.pods is not None
    candidates = list(snapshot.nodes.values())
    finished(filtered(asked.profile, asked.pod, snapshot, candidates))
    snapshot.pods.answered(spreading(), builders.let_pass(snapshot.table, *snapshot.nodes))

    assert sum(1 for _ in filtered(asked.profile, asked.pod, snapshot, candidates, size=1)) == 1


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
