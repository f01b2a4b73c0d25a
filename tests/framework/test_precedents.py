"""Pods with equal rules are one case; a change of the table makes it a new one."""

from collections.abc import Sequence
from typing import Any

import msgspec

from extender import plugins
from extender.framework import precedents
from extender.framework.interface import NodeFilter, NodeScorer, Score, Settings, Status
from extender.framework.memory import Memories, Memory
from extender.framework.node_table import NodeTable
from extender.framework.precedents import FilterPrecedent, Precedents, ScorePrecedent
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from tests.builders import JSON, node_json, pod_json, preferred, requirement, some_nodes, taint

PROFILE = plugins.profile("test", plugins.DEFAULT_WEIGHTS, Settings())
GOLD = node_json("gold", taint("sla", "950"), labels={"tier": "gold"})
PLAIN = node_json("plain")
SOFT = node_json("soft", taint("old", effect="PreferNoSchedule"))
SPREADING: JSON = {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone"}]}


class Court:
    """Asks for precedents over one table."""

    def __init__(self, *nodes: JSON, memories: Memories | None = None) -> None:
        self.table = NodeTable(some_nodes(*(nodes or (GOLD, PLAIN, SOFT))))
        self.memories = memories or Memories()
        self._precedents = Precedents(self.memories, lambda: 7.0)

    def filter(
        self, pod: JSON | None = None, *, most: int = 99, **spec: Any
    ) -> FilterPrecedent | None:
        return self._precedents.filter(
            PROFILE, in_full(pod, spec), Snapshot(), self.table, most=most
        )

    def score(
        self, pod: JSON | None = None, *, most: int = 99, **spec: Any
    ) -> ScorePrecedent | None:
        return self._precedents.score(
            PROFILE, in_full(pod, spec), Snapshot(), self.table, most=most
        )


def in_full(pod: JSON | None, spec: JSON) -> Pod:
    pod = pod or pod_json()
    return msgspec.convert({**pod, "spec": {**pod["spec"], **spec}}, Pod)


def codes(found: FilterPrecedent | ScorePrecedent | None) -> Sequence[int]:
    assert found is not None
    held = found.judgement if isinstance(found, FilterPrecedent) else found.preference
    assert held is not None
    return list(held.codes)


def test_pods_with_equal_rules_are_one_case() -> None:
    court = Court()

    first, again = court.filter(pod_json(name="web-0")), court.filter(pod_json(name="web-1"))

    assert first is again
    assert codes(first) == [1, 0, 0]
    assert court.score(pod_json(name="web-0")) is court.score(pod_json(name="web-1"))


def test_other_rules_or_another_table_are_another_case() -> None:
    court = Court()
    first = court.filter()

    assert court.filter(nodeSelector={"tier": "gold"}) is not first
    assert codes(court.filter(nodeSelector={"tier": "gold"})) == [1, 2, 2]
    court.table = NodeTable(some_nodes(PLAIN, GOLD, SOFT))
    assert codes(court.filter()) == [0, 1, 0]
    assert codes(court.score()) == [0, 0, 1]


def test_a_case_that_looks_further_than_the_rules_is_none() -> None:
    claim = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]

    assert Court().filter(**SPREADING) is None
    assert Court().score(**SPREADING) is None
    assert Court().filter(volumes=claim) is None
    assert Court().score(volumes=claim) is not None


def test_a_change_is_judged_and_what_is_remembered_is_not_asked_again() -> None:
    court = Court()
    found, liked = court.filter(), court.score()
    asked = court.memories.filtering.answers, court.memories.scoring.answers
    court.table.put("gold", some_nodes(node_json("gold"))[0])
    court.table.put("soft", some_nodes(node_json("soft"))[0])

    assert court.filter() is found
    assert codes(found) == [0, 0, 0]
    assert court.score() is liked
    assert codes(liked) == [0, 0, 0]
    assert min(asked) > 0


def test_what_was_forgotten_is_parsed_anew() -> None:
    memories = Memories(
        Memory[NodeFilter, Status](max_questions=1), Memory[NodeScorer, Score](max_questions=1)
    )
    court = Court(memories=memories)
    found, liked = court.filter(), court.score()
    assert court.filter() is found  # it needs nobody's memory while nothing changes
    court.table.put("gold", some_nodes(node_json("gold"))[0])

    assert court.filter() is not found
    assert codes(court.filter()) == [0, 0, 0]
    assert court.score() is not liked


def test_time_that_was_taken_once_is_told_once() -> None:
    ticks = iter(range(1_000))
    court = Precedents(Memories(), lambda: float(next(ticks)))
    table = NodeTable(some_nodes(GOLD))

    def seconds() -> list[float]:
        found = court.filter(PROFILE, in_full(None, {}), Snapshot(), table, most=9)
        assert found is not None
        return [evaluation.seconds for evaluation in found.parsing]

    assert all(taken > 0 for taken in seconds())
    assert seconds() == seconds() == [0.0] * 5


def test_a_rule_that_cannot_be_read() -> None:
    pod = pod_json(annotated_tolerations="[{")
    found, liked = Court().filter(pod), Court().score(pod)

    assert found is not None
    assert found.settled is not None
    assert codes(found) == [1, 1, 1]
    assert liked is not None
    assert not liked.readable
    assert [e.plugin for e in liked.evaluations(3)] == ["TaintToleration"]


def test_what_is_counted_for_scores() -> None:
    found = Court().score(pod_json(affinity=preferred((1, [requirement("tier", "Exists")]))))

    assert found is not None
    counts = [(e.plugin, {c.value: n for c, n in e.codes.items()}) for e in found.evaluations(3)]
    assert counts == [
        ("TaintToleration", {"Success": 3}),
        ("NodeAffinity", {"Success": 3}),
        ("PodTopologySpread", {"Skip": 1}),
    ]


def test_a_fault_is_left_to_who_judges_one_by_one() -> None:
    settings = Settings()
    settings.programs.allowance = 0
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, settings)
    pod = in_full(pod_json(annotated_tolerations=[{"expression": "true"}]), {})
    court, table = Precedents(Memories(), float), NodeTable(some_nodes(GOLD))

    assert court.filter(profile, pod, Snapshot(), table, most=9) is None
    assert court.score(profile, pod, Snapshot(), table, most=9) is None


def test_many_keys_are_asked_about_once_enough_is_asked() -> None:
    court = Court()

    few = court.filter(most=1), court.score(most=1)
    assert few[0] is not None
    assert few[0].judgement is None
    assert few[1] is not None
    assert few[1].preference is None
    assert codes(court.filter(most=9)) == [1, 0, 0]
    assert codes(court.score(most=9)) == [0, 0, 1]
    assert codes(court.filter(most=1)) == [1, 0, 0]


def test_precedents_are_bounded() -> None:
    court = Court()
    first = court.filter(nodeSelector={"tier": "x"})
    for number in range(precedents.MAX_PRECEDENTS):
        court.filter(nodeSelector={"tier": str(number)})

    assert court.filter(nodeSelector={"tier": "x"}) is not first


def test_heavy_rules_are_bounded_by_their_weight() -> None:
    """Sixteen characters of memory for each of the text, for both plugins that look at it."""
    court = Court()
    heavy = [
        pod_json(annotated_tolerations=[{"key": f"{number:03}" * 20_000}]) for number in range(12)
    ]
    first = court.filter(heavy[0])
    assert court.filter(heavy[0]) is first
    for pod in heavy:
        court.filter(pod)

    assert court.filter(heavy[0]) is not first
    assert court.filter(heavy[11]) is court.filter(heavy[11])
