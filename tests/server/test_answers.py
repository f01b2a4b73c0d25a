"""What follows from a verdict on all nodes: an answer, an error, and a pod in flight."""

import json

from extender.framework.interface import SUCCESS, Status, unresolvable
from extender.framework.ledger import Ledger
from extender.framework.pod_index import PodIndex
from extender.framework.runner import FilterResult
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.server import answers
from extender.server.answers import CUT_OFF, Answer, Verdict
from extender.wire.messages import FilterArgs
from tests.builders import a_pod, node_json, some_nodes

A, B, C = some_nodes(*map(node_json, "abc"))
NO = Status(unresolvable("").code, ("no",), "TaintToleration")
ARGS = FilterArgs(a_pod(), ("a", "b", "c"), (), None)


def verdict_of(*statuses: Status, nodes: tuple[NodeInfo | None, ...] = (A, B, C)) -> Verdict:
    return answers.verdict_of(ARGS, nodes, FilterResult(statuses, Ledger(float)))


def concluded(verdict: Verdict, *, args: FilterArgs = ARGS, current: bool = True) -> Answer:
    snapshot = Snapshot(current=current, generations={"nodes": 3, "pods": 9})
    return answers.concluded(args, snapshot, verdict)


def test_a_pod_may_be_on_any_node_that_it_was_let_pass_on() -> None:
    index = PodIndex({}, reserves=True)

    answers.concluded(ARGS, Snapshot(pods=index), verdict_of(NO, SUCCESS, SUCCESS))

    assert [node.name for node in verdict_of(NO, SUCCESS, SUCCESS).passing] == ["b", "c"]
    assert verdict_of(NO, NO, NO).passing == ()


def test_nodes_that_are_not_known_have_no_status_of_their_own() -> None:
    verdict = verdict_of(NO, SUCCESS, nodes=(A, None, C))

    assert verdict.unknown
    assert [node.name for node in verdict.passing] == ["c"]
    assert json.loads(verdict.body)["NodeNames"] == ["c"]
    assert not verdict_of(NO, SUCCESS, SUCCESS).unknown


def test_a_total_refusal_names_what_could_cure_it() -> None:
    answer = concluded(verdict_of(NO, NO, NO))

    assert (answer.resources, answer.generation, answer.error) == (frozenset({"nodes"}), 3, "")
    assert concluded(verdict_of(NO, NO, SUCCESS)).generation is None


def test_from_an_outdated_view_a_total_refusal_is_an_error() -> None:
    answer = concluded(verdict_of(NO, NO, NO), current=False)

    assert answer.error == CUT_OFF
    assert json.loads(answer.body)["Error"] == CUT_OFF
    assert concluded(verdict_of(NO, NO, SUCCESS), current=False).error == ""


def test_nobody_knows_nodes_better_than_a_request_that_carries_them() -> None:
    whole = FilterArgs(ARGS.pod, ARGS.names, (), ())

    answer = concluded(verdict_of(NO, NO, NO), args=whole, current=False)

    assert (answer.resources, answer.error) == (frozenset(), "")
