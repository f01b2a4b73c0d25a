"""Many nodes at once: answers that were given are given again, until something changes them."""

import json
from typing import Any

import msgspec
import pytest

from extender.cluster.cache import ClusterCache
from extender.config.schema import Config
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Node
from extender.server import bulk
from extender.server.answers import Answer
from extender.server.profiles import Profiles
from extender.server.verbs import Verbs
from extender.wire import fragments, messages
from tests.builders import (
    JSON,
    node_json,
    pod_json,
    preferred,
    required,
    requirement,
    taint,
    toleration,
)
from tests.serving import FixedSource

NAMES = ("a", "b", "c")
SLA = taint("sla", "950")
TAINTED: list[tuple[str, list[JSON]]] = [("a", [SLA]), ("b", []), ("c", [])]


class Cluster(FixedSource):
    """A cluster that changes node by node."""

    def __init__(self, *nodes: JSON) -> None:
        self.cache = ClusterCache(reserves=True)
        self.put(*nodes)
        self.verbs = Verbs(self, Profiles(Config()), min_nodes=1)

    def snapshot(self) -> Snapshot:
        return self.cache.snapshot()

    def put(self, *nodes: JSON) -> None:
        for node in nodes:
            self.cache.nodes.put(node["metadata"]["name"], msgspec.convert(node, Node))

    def ask(self, verb: str, pod: JSON | None = None, names: tuple[str, ...] = NAMES) -> Answer:
        args = {"Pod": pod or pod_json(), "Nodes": None, "NodeNames": names}
        body = json.dumps(args, separators=(",", ":")).encode()
        answer: Answer = getattr(self.verbs, verb)(body)
        return answer

    def refused(self, pod: JSON | None = None) -> list[str]:
        return list(json.loads(self.ask("filter", pod).body)["FailedAndUnresolvableNodes"])

    def scores(self, pod: JSON | None = None) -> list[int]:
        return [each["Score"] for each in json.loads(self.ask("prioritize", pod).body)]


def cluster() -> Cluster:
    return Cluster(node_json("a", SLA), node_json("b"), node_json("c"))


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_the_same_question_has_the_very_same_answer(verb: str) -> None:
    asked = cluster()

    asked.ask(verb)  # a list is kept from its second time on
    first, again = asked.ask(verb), asked.ask(verb, pod_json(name="web-1"))

    assert first.body is again.body
    assert first.ledger is not None
    assert again.ledger is not None
    assert [e.codes for e in first.ledger.evaluations] == [
        e.codes for e in again.ledger.evaluations
    ]
    assert sum(e.seconds for e in again.ledger.evaluations) == 0
    # Counted by its identity from then on: see `metrics.tallies`.
    assert asked.ask(verb).ledger is again.ledger


def test_pods_of_other_rules_that_fare_the_same_share_an_answer() -> None:
    asked = cluster()

    asked.ask("filter")
    first = asked.ask("filter", pod_json(toleration("gpu", "Exists")))

    second = asked.ask("filter", pod_json(toleration("gpu", "Equal", "x")))
    assert second.body is first.body
    # What parsing took is counted once, though the answer was there before.
    assert second.ledger is not None
    assert sum(e.seconds for e in second.ledger.evaluations) > 0
    third = asked.ask("filter", pod_json(toleration("gpu", "Equal", "x")))
    assert third.ledger is not None
    assert sum(e.seconds for e in third.ledger.evaluations) == 0


def test_pods_of_other_rules_that_like_the_same_nodes_share_an_answer() -> None:
    asked = Cluster(*(node_json(name, labels={"n": name}) for name in NAMES))
    liking = [preferred((weight, [requirement("n", "In", "b")])) for weight in (1, 7)]

    asked.ask("prioritize")
    first = asked.ask("prioritize", pod_json(affinity=liking[0]))

    assert [each["Score"] for each in json.loads(first.body)] == [0, 10, 0]
    assert asked.ask("prioritize", pod_json(affinity=liking[1])).body is first.body


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_an_event_that_changes_no_verdict_changes_no_answer(verb: str) -> None:
    asked = cluster()
    asked.ask(verb)
    first = asked.ask(verb)
    asked.put(node_json("b", labels={"new": "label"}))

    assert asked.ask(verb).body is first.body


def test_an_event_that_changes_a_verdict_changes_the_answer() -> None:
    asked = cluster()
    soft = taint("old", effect="PreferNoSchedule")
    for _ in range(3):
        assert asked.refused() == ["a"]
        assert asked.scores() == [0, 0, 0]

    asked.put(node_json("b", SLA), node_json("c", soft))

    assert asked.refused() == ["a", "b"]
    assert asked.scores() == [10, 10, 0]


def test_nodes_that_change_their_rows_keep_their_verdicts() -> None:
    asked = Cluster(node_json("a", SLA), node_json("b"))
    for _ in range(3):
        assert json.loads(asked.ask("filter", names=("a", "b")).body)["NodeNames"] == ["b"]
    asked.cache.nodes.remove("a")
    asked.cache.nodes.remove("b")

    asked.put(node_json("a"), node_json("b", SLA))  # each in the row of the other

    assert json.loads(asked.ask("filter", names=("a", "b")).body)["NodeNames"] == ["a"]


def told_alike(asked: Cluster, *, names: tuple[str, ...] = NAMES) -> JSON:
    """What is answered, which is what is answered node by node."""
    plain = Cluster()
    plain.cache = asked.cache
    plain.verbs = Verbs(plain, Profiles(Config()), min_nodes=100)
    answer = asked.ask("filter", names=names)
    found: JSON = json.loads(b"".join((*answer.ahead, answer.body)))
    assert found == json.loads(plain.ask("filter", names=names).body)
    return found


def test_who_is_refused_everywhere_has_the_very_same_answer_in_any_order() -> None:
    asked = Cluster(*(node_json(name, SLA) for name in NAMES))

    first = asked.ask("filter")

    assert asked.ask("filter", names=("c", "a", "b")).body is first.body
    for names in (("c", "a", "b"), ("a", "b"), ("a", "b", "b"), ("a", "a", "b", "c")):
        assert set(told_alike(asked, names=names)["FailedAndUnresolvableNodes"]) == {*names}


def test_refusals_are_encoded_once_for_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cluster()
    asked.ask("filter")
    monkeypatch.setattr(fragments, "refused_members", None)

    assert told_alike(asked, names=("c", "a", "b"))["NodeNames"] == ["c", "b"]
    assert told_alike(asked, names=("b", "c", "a"))["NodeNames"] == ["b", "c"]


def test_refusals_of_one_plugin_are_encoded_once_for_rules_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Cluster(*(node_json(name, *taints, labels={"n": name}) for name, taints in TAINTED))
    asked.ask("filter")
    asked.ask("filter")
    encoded: list[str] = []
    plain = fragments.refused_members

    def members(names: list[str], codes: bytes, texts: dict[int, str]) -> bytes:
        encoded.extend(texts.values())
        return plain(names, codes, texts)

    monkeypatch.setattr(fragments, "refused_members", members)
    for name in "bc":
        found = asked.ask("filter", pod_json(affinity=required([requirement("n", "In", name)])))
        told = json.loads(found.body)
        assert told["NodeNames"] == [name]
        assert set(told["FailedAndUnresolvableNodes"]) == {*NAMES} - {name}

    taint_text = "node(s) had untolerated taint {sla: 950}"
    assert [text == taint_text for text in encoded] == [True, False, False]


@pytest.mark.parametrize("names", [NAMES, ("c", "a", "b")])
def test_an_event_changes_an_answer_where_it_says_something_else(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Cluster(*(node_json(name, SLA) for name in NAMES))
    asked.ask("filter", names=names)
    first = asked.ask("filter", names=names)
    monkeypatch.setattr(fragments, "refused_members", None)
    asked.put(node_json("b", taint("other", "1")))

    changed = told_alike(asked, names=names)["FailedAndUnresolvableNodes"]

    assert changed["b"] == "node(s) had untolerated taint {other: 1}"
    asked.put(node_json("b", SLA))
    assert asked.ask("filter", names=names).body is first.body


def test_of_answers_that_follow_from_each_other_the_first_and_the_last_are_kept() -> None:
    asked = Cluster(*(node_json(name, SLA) for name in NAMES))
    first = last = asked.ask("filter")
    for number in range(5):
        asked.put(node_json("b", taint("other", str(number))))
        last = asked.ask("filter")

    assert len(asked.verbs._bulk._answers) == 2
    assert asked.ask("filter").ahead is last.ahead
    asked.put(node_json("b", SLA))
    assert asked.ask("filter").body is first.body


def test_an_answer_with_many_changes_is_told_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "MAX_CHANGES", 2)
    asked = Cluster(*(node_json(name, SLA) for name in "abcdefghijklmnop"))
    made_of = []
    for number, name in enumerate("abcdef"):
        asked.put(node_json(name, taint("other", str(number))))
        told_alike(asked, names=tuple("abcdefghijklmnop"))
        made_of.append(len(asked.ask("filter", names=tuple("abcdefghijklmnop")).ahead))

    # One piece before and one for each change, and one behind them all.
    assert made_of == [0, 3, 5, 0, 3, 5]


def test_an_event_that_lets_a_node_pass_makes_another_answer() -> None:
    asked = Cluster(*(node_json(name, SLA) for name in NAMES))
    asked.ask("filter")
    for names in (NAMES, ("c", "a", "b")):
        asked.put(node_json("b"))
        assert told_alike(asked, names=names)["NodeNames"] == ["b"]
        asked.put(node_json("b", SLA))
        assert told_alike(asked, names=names)["NodeNames"] == []


def test_few_nodes_are_judged_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cluster()
    asked.verbs = Verbs(asked, Profiles(Config()), min_nodes=4)
    monkeypatch.setattr(fragments, "filter_answer", None)
    monkeypatch.setattr(bulk, "Hosts", None)

    assert asked.refused() == ["a"]
    assert asked.scores() == [0, 0, 0]


def test_what_is_found_one_by_one_is_kept_until_something_changes() -> None:
    # More different refusals than fit a byte, even in brief, and as many scores.
    names = tuple(f"n{i}" for i in range(300))
    asked = Cluster(*(node_json(n, taint(n), labels={"n": str(i)}) for i, n in enumerate(names)))
    terms = [(1, [requirement("n", "Gt", str(i))]) for i in range(299)]
    pod = pod_json(affinity=preferred(*terms))
    asked.ask("filter", pod, names)
    first, scored = asked.ask("filter", pod, names), asked.ask("prioritize", pod, names)

    again = asked.ask("filter", pod_json(name="web-1", affinity=preferred(*terms)), names)

    assert again.body is first.body
    assert asked.ask("prioritize", pod, names).body is scored.body
    assert len({each["Score"] for each in json.loads(scored.body)}) == 11
    assert first.ledger is not None
    assert again.ledger is not None
    assert [e.codes for e in again.ledger.evaluations] == [
        e.codes for e in first.ledger.evaluations
    ]
    asked.put(node_json("n7"))
    assert json.loads(asked.ask("filter", pod, names).body)["NodeNames"] == ["n7"]
    assert asked.ask("prioritize", pod, names).body is not scored.body


def test_many_reasons_are_told_in_brief_whoever_is_asked_about() -> None:
    names = tuple(f"n{i}" for i in range(300))
    asked = Cluster(*(node_json(name, taint("slot", name)) for name in names))
    plain = Cluster(*(node_json(name, taint("slot", name)) for name in names))
    plain.verbs = Verbs(plain, Profiles(Config()), min_nodes=1_000)

    for some in (names, names[:11], names[:10], (names[0],) * 12, names[::-1]):
        for _ in range(3):
            answer = asked.ask("filter", names=some)
            assert json.loads(answer.body) == json.loads(plain.ask("filter", names=some).body)
    brief = "node(s) had untolerated taint {slot}"
    assert asked.ask("filter", names=names).body.decode().count(brief) == 300


def test_a_score_that_cannot_be_compared_is_left_to_who_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> Any:
        raise ArithmeticError

    asked = cluster()
    monkeypatch.setattr("extender.plugins.taint_toleration._SoftTaints.normalize", broken)

    answer = asked.ask("prioritize")

    assert answer.ledger is not None
    assert [type(fault) for fault in answer.ledger.faults] == [ArithmeticError]
    assert asked.scores() == [0, 0, 0]


def test_who_passes_is_in_flight() -> None:
    asked = cluster()
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    spreading = pod_json(name="other")
    spreading["metadata"]["labels"] = {"app": "web"}
    spreading["spec"]["topologySpreadConstraints"] = [constraint]
    asked.ask("filter", spreading)
    plain = pod_json(name="plain")
    plain["metadata"] |= {"labels": {"app": "web"}, "uid": "plain"}

    asked.ask("filter", plain)

    assert asked.cache.index.in_flight == 1


def test_answers_are_bounded_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MAX_BYTES", 100)
    asked = cluster()
    asked.ask("filter")

    first = asked.ask("filter")

    assert asked.ask("filter").body is not first.body
    assert json.loads(asked.ask("filter").body) == json.loads(first.body)


def test_an_answer_is_what_the_encoder_writes() -> None:
    asked, plain = cluster(), cluster()
    plain.verbs = Verbs(plain, Profiles(Config()), min_nodes=100)

    assert asked.ask("filter").body == plain.ask("filter").body
    assert messages.REASON_UNKNOWN_NODE in asked.ask("filter", names=("b", "new")).body.decode()


def test_where_others_pass_a_changed_answer_is_one_piece() -> None:
    asked = Cluster(*(node_json(name, SLA) for name in NAMES), node_json("d"))
    names = (*NAMES, "d")
    for _ in range(2):
        asked.ask("filter", names=names)
    asked.put(node_json("b", taint("other", "1")))
    changed = told_alike(asked, names=names)

    assert changed["FailedAndUnresolvableNodes"]["b"] == "node(s) had untolerated taint {other: 1}"
    assert asked.ask("filter", names=names).ahead == ()
