"""preempt keeps the candidates on which the pod could run once the victims are gone."""

import msgspec
import pytest

from extender.cluster.source import NoSource
from extender.config.schema import Config
from extender.errors import BadRequestError, NoClusterError
from extender.verbs import preempt
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from tests.builders import JSON, node_json, pod_json, taint
from tests.serving import FixedSource

PLAIN = node_json("plain")
GOLD = node_json("gold", taint("sla", "950"))
ONE = {"Pods": [{"UID": "u"}], "NumPDBViolations": 2}
WHOLE_ONE = {"Pods": [{"metadata": {"uid": "u"}}], "NumPDBViolations": 2}


def context() -> Context:
    return Context(FixedSource(PLAIN, GOLD), Profiles(Config()))


@pytest.mark.parametrize(
    ("field", "victims", "mode"),
    [("NodeNameToMetaVictims", ONE, "names"), ("NodeNameToVictims", WHOLE_ONE, "nodes")],
)
def test_refused_unknown_and_free_nodes_are_left_out(field: str, victims: JSON, mode: str) -> None:
    candidates = {"plain": victims, "gold": victims, "new": victims, "free": {"Pods": []}}

    answer = preempt.answer(context(), msgspec.json.encode({"Pod": pod_json(), field: candidates}))

    assert msgspec.json.decode(answer.body) == {"NodeNameToMetaVictims": {"plain": ONE}}
    assert (answer.mode, answer.nodes, answer.passed) == (mode, 4, 1)


def test_no_candidates_are_an_empty_map() -> None:
    answer = preempt.answer(context(), msgspec.json.encode({"Pod": pod_json()}))

    assert answer.body == b'{"NodeNameToMetaVictims":{}}'


def test_without_a_cluster_names_are_a_fault_and_whole_victims_help_nowhere() -> None:
    nowhere = Context(NoSource(), Profiles(Config()))

    with pytest.raises(NoClusterError):
        preempt.answer(
            nowhere, msgspec.json.encode({"Pod": {}, "NodeNameToMetaVictims": {"a": ONE}})
        )
    body = msgspec.json.encode({"Pod": {}, "NodeNameToVictims": {"a": WHOLE_ONE}})
    assert preempt.answer(nowhere, body).body == b'{"NodeNameToMetaVictims":{}}'


def test_a_body_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(BadRequestError):
        preempt.answer(context(), b"[]")
