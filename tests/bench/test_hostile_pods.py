"""Pods as large as can be: legal, answered, and within the work and the memory of one call."""

import tracemalloc

import pytest

from bench import hostile_pods
from bench.cluster import encoded
from extender.config.schema import Config
from extender.verbs import cel_budget, prioritize
from extender.verbs import filter as filter_verb
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from tests.serving import FixedSource

# It makes, reads and judges pods of 1.5 MB each.
pytestmark = pytest.mark.timeout(240)

NODES = 200
MEGABYTES = 100
TOO_MUCH = (
    "NodeAffinity: the rules of the pod take more comparisons over these nodes than one call may do"
)
# What upstream compares with every node, too: thousands of tests, each with a verdict of its own.
UNBOUNDED = {
    "5,000 labels that nodes have in one term",
    "15,000 labels in one term, and one that differs",
    "5,000 terms of Gt",
    "5,000 terms of SemverGt",
    "5,000 terms of labels that nodes have",
}


def test_huge_pods_are_answered_within_bounds() -> None:
    source = FixedSource(*hostile_pods.make_cluster(NODES))
    errors = {}
    for name, pod in hostile_pods.cases():
        assert len(encoded(pod)) < 1_500_000, name
        context = Context(source, Profiles(Config()))
        body = hostile_pods.body(pod, NODES)
        tracemalloc.start()
        try:
            answer = filter_verb.answer(context, body)
            spent = cel_budget.CALL_BUDGET - context.profiles.settings.budget.left
            prioritize.answer(context, body)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        errors[name] = answer.error
        assert spent < cel_budget.CALL_BUDGET * 1.1, name
        assert peak < MEGABYTES << 20, name

    assert errors == {name: TOO_MUCH if name in UNBOUNDED else "" for name in errors}
    assert errors.keys() > UNBOUNDED
