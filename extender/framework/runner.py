"""The machine: runs a profile's plugins over the candidates of a request.

A plugin parses the pod into questions, and a question is asked once for each code of its column,
never for each node. The first refusal of a node stands, and a question that breaks only matters to
the nodes that reached it. What a question said of a code is remembered for the next pod with the
same rules. The clock is a parameter, because the core has none.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Generic, TypeVar

from extender.framework.columns.columns import Column
from extender.framework.columns.judging import Judging
from extender.framework.columns.node_table import NodeTable
from extender.framework.columns.scores import RuleScores, unit_of
from extender.framework.columns.verdicts import RuleVerdicts
from extender.framework.interface import (
    NOTHING_FOUND,
    SUCCESS,
    Code,
    ExtensionPoint,
    FilterPlugin,
    NodeFilter,
    Plugin,
    Profile,
    ScorePlugin,
    Status,
)
from extender.framework.node_info import Facet, NodeInfo
from extender.framework.results import FilterResult, ScoreResult
from extender.framework.snapshot import UNSCHEDULABLE, AttributeFacet, Snapshot
from extender.framework.stats import CallStats, Clock, Evaluation
from extender.match.findings import Finding
from extender.match.lru import LRU, CacheBudget, weight_of
from extender.model.core_v1 import Pod
from extender.rows import Candidates

R = TypeVar("R", Sequence[RuleVerdicts], RuleScores)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[R]):
    """What a plugin made of a pod: its questions with what they said, or a status."""

    plugin: Plugin  # held, so that no other plugin gets its identity while this is remembered
    outcome: R | Status
    findings: frozenset[Finding]
    # What parsing is counted as for the next pod with the same rules, which takes no time.
    evaluations: tuple[Evaluation, ...]
    key: Hashable = None  # under which it is remembered
    weight: int = 0  # of the rules alone


@dataclass(frozen=True, slots=True)
class _SameForAll:
    """The question of a pod that was settled before any node was looked at."""

    status: Status
    facet: ClassVar[AttributeFacet] = UNSCHEDULABLE
    findings: ClassVar[frozenset[Finding]] = frozenset()

    def filter(self, _node: NodeInfo) -> Status:
        return self.status


class Runner:
    """Runs plugins, and remembers what they said within a budget of bytes."""

    def __init__(self, caches: CacheBudget | None = None, *, clock: Clock) -> None:
        budget = CacheBudget() if caches is None else caches
        self._clock = clock
        self._columns: LRU[tuple[int, Facet], Column] = LRU("columns", budget)
        self._verdicts: LRU[Hashable, Parsed[Sequence[RuleVerdicts]]] = LRU("verdicts", budget)
        self._scores: LRU[Hashable, Parsed[RuleScores]] = LRU("scores", budget)

    def filter(
        self,
        profile: Profile,
        pod: Pod,
        snapshot: Snapshot,
        table: NodeTable,
        candidates: Candidates,
        *,
        narrow: bool = True,
    ) -> FilterResult:
        """Judge every candidate by every filter plugin; the first refusal of a node stands.

        Those that pass are then narrowed down, if pods in flight ask for it.
        """
        stats = CallStats(self._clock, candidates=len(candidates))
        asked: list[Parsed[Sequence[RuleVerdicts]]] = []
        settled = None
        for plugin in profile.filters:
            parsed = self._pre_filter(plugin, pod, snapshot, table, stats)
            if not isinstance(parsed.outcome, Status):
                asked.append(parsed)
            elif parsed.outcome.code is not Code.SKIP:
                settled = parsed.outcome
                break
        verdicts = _questions(asked, settled)
        judging = Judging(partial(self.column, table), candidates, stats, verdicts)
        judging.run()
        result = FilterResult(candidates, verdicts, stats, settled)
        if settled is None:
            judging.count()
            if judging.has_asked:
                self._reweigh(asked)
            if narrow and result.passed:
                judging.narrow()
        return result

    def _reweigh(self, asked: Iterable[Parsed[Sequence[RuleVerdicts]]]) -> None:
        for parsed in asked:
            if parsed.key is not None and not isinstance(parsed.outcome, Status):
                said = sum([each.nbytes for each in parsed.outcome])
                self._verdicts.reweigh(parsed.key, parsed.weight + said)

    def score(
        self,
        profile: Profile,
        pod: Pod,
        snapshot: Snapshot,
        table: NodeTable,
        candidates: Candidates,
    ) -> ScoreResult:
        """The weighted mean of the plugins that have something to say, scaled for the extender.

        A plugin is silent when it skips, when it breaks (a score that cannot be computed is
        neutral) and when its scores are all equal. If all are silent, all nodes are equal.
        """
        stats = CallStats(self._clock, candidates=len(candidates))
        neutral = ScoreResult(candidates, stats)
        columns: list[Column] = []
        tables: list[array[int]] = []
        weights: list[int] = []
        for plugin, weight in profile.scorers:
            parsed = self._pre_score(plugin, weight, pod, snapshot, table, stats)
            if isinstance(parsed.outcome, Status):
                if parsed.outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    return neutral  # a rule of the pod cannot be read: no node is better
                continue
            weighed = self._weighed(parsed, parsed.outcome, table, candidates, stats)
            if weighed is not None:
                columns.append(weighed[0])
                tables.append(weighed[1])
                weights.append(weight)
        if not weights:
            return neutral
        return ScoreResult(candidates, stats, columns, tables, unit_of(weights))

    def score_without_candidates(
        self,
        profile: Profile,
        pod: Pod,
        snapshot: Snapshot,
        table: NodeTable,
        count: Callable[[], int | None],
    ) -> CallStats | None:
        """What is counted for a pod that prefers no node to another, whoever its candidates are.

        None if it may prefer one, or if nobody can count its candidates. Most pods prefer nothing,
        and then their candidates need not be looked up.
        """
        stats = CallStats(self._clock)
        counted: dict[Code, int] = {}
        for plugin, weight in profile.scorers:
            outcome = self._pre_score(plugin, weight, pod, snapshot, table, stats).outcome
            if not isinstance(outcome, Status):
                if not self._is_flat(outcome, table):
                    return None
                stats.count(plugin.name, ExtensionPoint.SCORE, counted, 0.0)
            elif outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                break
        candidates = None if stats.faults else count()
        if candidates is None:
            return None
        stats.candidates = counted[Code.SUCCESS] = candidates
        return stats

    def explain(
        self, profile: Profile, pod: Pod, snapshot: Snapshot, node: NodeInfo
    ) -> list[Status]:
        """What every filter plugin says of one node, without stopping at the first refusal."""
        stats = CallStats(self._clock)
        statuses: list[Status] = []
        for plugin in profile.filters:
            outcome = self._pre_filter(plugin, pod, snapshot, None, stats).outcome
            if not isinstance(outcome, Status):
                try:
                    said = (each.question.filter(node) for each in outcome)
                    outcome = next(
                        (status for status in said if status.code is not Code.SUCCESS), SUCCESS
                    )
                except Exception as exc:  # noqa: BLE001 - one broken plugin is one ERROR status
                    outcome = stats.fault(exc)
                outcome = outcome.signed(plugin.name)
            statuses.append(outcome)
        return statuses

    def column(self, table: NodeTable, facet: Facet) -> Column:
        """A facet of a table as it is now."""
        facet = facet.within(table.labels)
        if not table.lasting:
            return Column(facet, table)
        key = table.serial, facet
        column = self._columns.get(key)
        if column is None:
            column = Column(facet, table)
            self._columns.put(key, column, column.nbytes + weight_of(facet))
        else:
            before = len(column)
            column.refresh(table)
            if len(column) != before:
                self._columns.reweigh(key, column.nbytes + weight_of(facet))
        return column

    def _pre_filter(
        self,
        plugin: FilterPlugin,
        pod: Pod,
        snapshot: Snapshot,
        table: NodeTable | None,
        stats: CallStats,
    ) -> Parsed[Sequence[RuleVerdicts]]:
        """Have a plugin parse the pod, unless it parsed the same rules before."""
        since = self._clock()
        key = None
        try:
            key = _key(plugin, pod, table)
            known = None if key is None else self._verdicts.get(key)
            if known is not None:
                return _again(known, stats)
            said = plugin.pre_filter(pod, snapshot)
            outcome = _signed(plugin, said) if isinstance(said, Status) else _verdicts(plugin, said)
            findings = said.findings
        except Exception as exc:  # noqa: BLE001 - one broken plugin must not take the call down
            outcome, findings, key = _signed(plugin, stats.fault(exc)), NOTHING_FOUND, None
        code = outcome.code if isinstance(outcome, Status) else Code.SUCCESS
        point = ExtensionPoint.PRE_FILTER
        stats.count(plugin.name, point, {code: 1}, self._clock() - since)
        stats.findings |= findings
        evaluations = (Evaluation(plugin.name, point, {code: 1}, 0.0),)
        parsed = Parsed(plugin, outcome, findings, evaluations, key, weight_of(key))
        if key is not None:
            self._verdicts.put(key, parsed, parsed.weight)
        return parsed

    def _pre_score(
        self,
        plugin: ScorePlugin,
        weight: int,
        pod: Pod,
        snapshot: Snapshot,
        table: NodeTable,
        stats: CallStats,
    ) -> Parsed[RuleScores]:
        """The same for a preference. It is counted here only if it has nothing to say of nodes."""
        since = self._clock()
        key = None
        try:
            key = _key(plugin, pod, table)
            known = None if key is None else self._scores.get(key)
            if known is not None:
                return _again(known, stats)
            said = plugin.pre_score(pod, snapshot)
            outcome: RuleScores | Status = (
                _signed(plugin, said)
                if isinstance(said, Status)
                else RuleScores(plugin.name, said, weight)
            )
            findings = said.findings
        except Exception as exc:  # noqa: BLE001 - one broken plugin must not take the call down
            outcome, findings, key = _signed(plugin, stats.fault(exc)), NOTHING_FOUND, None
        evaluations: tuple[Evaluation, ...] = ()
        if isinstance(outcome, Status):
            codes, point = {outcome.code: 1}, ExtensionPoint.SCORE
            stats.count(plugin.name, point, codes, self._clock() - since)
            evaluations = (Evaluation(plugin.name, point, codes, 0.0),)
        stats.findings |= findings
        parsed = Parsed(plugin, outcome, findings, evaluations, key, weight_of(key))
        if key is not None:
            self._scores.put(key, parsed, parsed.weight)
        return parsed

    def _weighed(
        self,
        parsed: Parsed[RuleScores],
        scores: RuleScores,
        table: NodeTable,
        candidates: Candidates,
        stats: CallStats,
    ) -> "tuple[Column, array[int]] | None":
        """The column of a preference and what each code adds to a node's sum; None if nothing."""
        since = self._clock()
        code = Code.SUCCESS
        known = len(candidates)
        found = None
        try:
            column = scores.column_of(self.column(table, scores.question.facet), table)
            has_new = scores.refresh(column)
            counts = candidates.reached((), (), column.codes, len(column))
            known = sum(counts)
            scores.ask(column, counts)
            for noticed, findings in scores.noticed.items():
                if counts[noticed]:
                    stats.findings |= findings
            weighed = scores.weighed(counts)
            found = None if weighed is None else (column, weighed)
            if has_new and parsed.key is not None:
                self._scores.reweigh(parsed.key, parsed.weight + scores.nbytes)
        except Exception as exc:  # noqa: BLE001 - a score that cannot be computed is neutral
            code = stats.fault(exc).code
        seconds = self._clock() - since
        stats.evaluations.append(
            Evaluation(scores.plugin, ExtensionPoint.SCORE, {code: known}, seconds)
        )
        return found

    def _is_flat(self, scores: RuleScores, table: NodeTable) -> bool:
        if scores.is_relative:
            return False
        with suppress(Exception):  # whoever asks about candidates meets it again, and tells
            column = self.column(table, scores.question.facet)
            scores.refresh(column)
            return scores.is_flat(column)
        return False


def _key(plugin: Plugin, pod: Pod, table: NodeTable | None) -> Hashable:
    """Under which what a plugin makes of a pod is remembered; None if it is not."""
    if table is None or not table.lasting:
        return None
    signature = plugin.signature(pod)
    return None if signature is None else (table.serial, id(plugin), signature)


def _again(known: Parsed[R], stats: CallStats) -> Parsed[R]:
    """Count what was parsed before as parsed once more."""
    stats.evaluations += known.evaluations
    if known.findings:
        stats.findings |= known.findings
    return known


def _signed(plugin: Plugin, status: Status) -> Status:
    return status.signed(plugin.name)


def _questions(
    asked: Iterable[Parsed[Sequence[RuleVerdicts]]], settled: Status | None
) -> list[RuleVerdicts]:
    """What is asked of nodes, in order; a pod that is settled gets the same status everywhere."""
    if settled is not None:
        return [RuleVerdicts(settled.plugin, _SameForAll(settled))]
    outcomes = [parsed.outcome for parsed in asked]
    return [each for said in outcomes if not isinstance(said, Status) for each in said]


def _verdicts(plugin: Plugin, question: NodeFilter) -> Sequence[RuleVerdicts]:
    parts: Sequence[NodeFilter] = getattr(question, "parts", (question,))
    return [RuleVerdicts(plugin.name, part) for part in parts]
