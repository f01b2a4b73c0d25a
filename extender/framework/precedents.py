"""What was said before of a whole table, for pods with the same rules.

A precedent holds while the table has not changed. Then it is made anew from what the plugins
remember, which takes a few steps in C, and mostly turns out the same.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from extender.framework import judgement, preference, runner
from extender.framework.interface import Code, ExtensionPoint, Plugin, Profile, Status
from extender.framework.judgement import Judgement
from extender.framework.ledger import Clock, Evaluation, Ledger, untimed
from extender.framework.memory import Memories, Thread, weight_of
from extender.framework.node_table import NodeTable
from extender.framework.outcomes import Outcome, Outcomes
from extender.framework.preference import Preference, ScoreThread
from extender.framework.recent import Recent
from extender.framework.runner import FilterThread
from extender.framework.snapshot import Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod

MAX_PRECEDENTS: Final = 1_024
MAX_BYTES: Final = 16 << 20
# What a precedent takes beside its rows and its rules, roughly.
_USUAL_BYTES: Final = 4_096


# What was counted last: of parsing, of judging, and both in one.
Counted = tuple[Sequence[Evaluation], Sequence[Evaluation], Ledger]


@dataclass(slots=True, eq=False)
class FilterPrecedent:
    """Who passes of the nodes of one table."""

    threads: Sequence[FilterThread]
    settled: Status | None
    parsing: Sequence[Evaluation]
    findings: frozenset[Finding]
    serial: int
    repeated: bool = False
    version: int = 0
    most: int = 0
    outcome: Outcome = field(default_factory=Outcome)
    last: Counted | None = None

    @property
    def judgement(self) -> Judgement | None:
        """None: the nodes are to be judged one by one."""
        return self.outcome.judgement


@dataclass(slots=True, eq=False)
class ScorePrecedent:
    """Who is preferred of the nodes of one table; without `readable` rules nobody is."""

    threads: Sequence[ScoreThread]
    # What is counted, in order; without a code: a success for each node.
    counted: tuple[tuple[str, Code | None], ...]
    findings: frozenset[Finding]
    readable: bool
    serial: int
    version: int = 0
    most: int = 0
    preference: Preference | None = None
    last: Counted | None = None
    told: tuple[Hashable, ...] = ()  # the key of the answer that was given last
    asked: tuple[int, ...] = ()  # and which listing and version of the table it was about
    _evaluations: tuple[int, list[Evaluation]] = field(default_factory=lambda: (-1, []))

    def evaluations(self, nodes: int) -> list[Evaluation]:
        """How often each plugin gave which code; for as many nodes it is the same list."""
        if self._evaluations[0] != nodes:
            told = [
                Evaluation(
                    name,
                    ExtensionPoint.SCORE,
                    {Code.SUCCESS: nodes} if code is None else {code: 1},
                    0.0,
                )
                for name, code in self.counted
            ]
            self._evaluations = nodes, told
        return self._evaluations[1]


class Precedents:
    """The precedents of a server, by a pod's rules and the table."""

    def __init__(self, memories: Memories, clock: Clock) -> None:
        self._memories = memories
        self._clock = clock
        self._serials = count(1)
        self._outcomes = Outcomes(clock)
        self._filters: Recent[Hashable, FilterPrecedent] = Recent(MAX_PRECEDENTS, MAX_BYTES)
        self._scorers: Recent[Hashable, ScorePrecedent] = Recent(MAX_PRECEDENTS, MAX_BYTES)

    def filter(
        self, profile: Profile, pod: Pod, snapshot: Snapshot, table: NodeTable, *, most: int
    ) -> FilterPrecedent | None:
        """Who passes, asking about at most `most` keys; None if each pod is a case of its own.

        Without a judgement the nodes are to be judged one by one.
        """
        rules = _rules(profile.filters, pod)
        if rules is None:
            return None
        key = table.serial, id(profile), rules
        found = self._filters.get(key)
        if found is None or (found.version != table.version and not _kept(found.threads)):
            found = self._parse_filters(profile, pod, snapshot)
            if found is None:
                return None
            self._filters.put(key, found, _room(table, rules))
        elif not found.repeated:
            found.repeated = True
            found.parsing = untimed(found.parsing)
        if found.version != table.version or (found.judgement is None and most > found.most):
            if found.settled is not None:
                settled = judgement.settled(found.settled, table)
                found.outcome = Outcome(table.version, settled)
            else:
                found.outcome = self._outcomes.of(
                    found.threads, table, most=most, before=found.outcome
                )
            found.version, found.most = table.version, most
            for _, _, thread in found.threads:
                self._memories.filtering.note_answers(thread)
        return found

    def score(
        self, profile: Profile, pod: Pod, snapshot: Snapshot, table: NodeTable, *, most: int
    ) -> ScorePrecedent | None:
        """Who is preferred; as with filter."""
        rules = _rules((plugin for plugin, _ in profile.scorers), pod)
        if rules is None:
            return None
        key = table.serial, id(profile), rules
        found = self._scorers.get(key)
        if found is None or (found.version != table.version and not _kept(found.threads)):
            found = self._parse_scorers(profile, pod, snapshot)
            if found is None:
                return None
            self._scorers.put(key, found, _room(table, rules))
        if found.version != table.version or (found.preference is None and most > found.most):
            found.version, found.most = table.version, most
            found.preference = preference.prefer(found.threads, table, most=most)
            for _, _, thread in found.threads:
                self._memories.scoring.note_answers(thread)
        return found

    def _parse_filters(
        self, profile: Profile, pod: Pod, snapshot: Snapshot
    ) -> FilterPrecedent | None:
        ledger = Ledger(self._clock)
        threads = runner.parse_filters(profile, pod, snapshot, ledger, self._memories.filtering)
        if ledger.faults:
            return None
        settled = threads if isinstance(threads, Status) else None
        return FilterPrecedent(
            () if isinstance(threads, Status) else threads,
            settled,
            ledger.evaluations,
            frozenset(ledger.findings),
            next(self._serials),
        )

    def _parse_scorers(
        self, profile: Profile, pod: Pod, snapshot: Snapshot
    ) -> ScorePrecedent | None:
        ledger = Ledger(self._clock)
        threads: list[ScoreThread] = []
        counted: list[tuple[str, Code | None]] = []
        readable = True
        for plugin, weight in profile.scorers:
            thread = runner.parse(
                plugin,
                ExtensionPoint.SCORE,
                plugin.pre_score,
                pod,
                snapshot,
                ledger,
                self._memories.scoring,
            )
            outcome = thread.outcome
            counted.append((plugin.name, outcome.code if isinstance(outcome, Status) else None))
            if not isinstance(outcome, Status):
                threads.append((weight, outcome, thread))
            elif outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                readable = False
                break
        if ledger.faults:
            return None
        return ScorePrecedent(
            threads, tuple(counted), frozenset(ledger.findings), readable, next(self._serials)
        )


def _room(table: NodeTable, rules: Iterable[Hashable]) -> int:
    """A byte a row for what is said, another for what was told last, and the rules."""
    return 2 * len(table) + _USUAL_BYTES + sum(map(weight_of, rules))


def _rules(plugins: Iterable[Plugin], pod: Pod) -> tuple[Hashable, ...] | None:
    """What of the pod all these plugins look at; None if one of them looks further."""
    found = []
    for plugin in plugins:
        rules = plugin.rules(pod)
        if rules is None:
            return None
        found.append(rules)
    return tuple(found)


def _kept(threads: Iterable[tuple[object, object, Thread[Any, Any]]]) -> bool:
    """Whether what the plugins said is still remembered."""
    return all(thread.kept for _, _, thread in threads)
