"""The machine: runs a profile's plugins over candidates.

Nodes that are alike in what a plugin looks at are judged once: what is done for every node are
look-ups that run in C. The first refusal of a node stands, and a plugin is only asked about nodes
that reached it. The clock is a parameter, because the core has none.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from operator import not_
from typing import TypeVar

from extender.framework import means, narrowing
from extender.framework.interface import (
    SUCCESS,
    Code,
    ExtensionPoint,
    NodeFilter,
    NodeScorer,
    Plugin,
    Profile,
    Score,
    Status,
)
from extender.framework.ledger import Clock, Evaluation, Ledger
from extender.framework.memory import Memory, Thread, weight_of
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod

# A plugin's name, its question, and what is remembered of it.
FilterThread = tuple[str, NodeFilter, Thread[NodeFilter, Status]]
Q = TypeVar("Q", NodeFilter, NodeScorer)
A = TypeVar("A", Status, Score)


@dataclass(frozen=True, slots=True)
class FilterResult:
    """One status a candidate, in the order of the candidates."""

    statuses: Sequence[Status]
    ledger: Ledger
    settled: Status | None = None  # the pod itself was refused, whatever the node
    questions: Mapping[str, NodeFilter] = field(default_factory=dict)  # by plugin


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """One score of 0 to 10 a candidate, in the order of the candidates."""

    scores: Sequence[int]
    ledger: Ledger


def run_filter(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    candidates: Sequence[NodeInfo],
    *,
    clock: Clock,
    memory: Memory[NodeFilter, Status] | None = None,
    narrow: bool = False,
) -> FilterResult:
    """Judge every candidate by every filter plugin; the first refusal of a node stands.

    Those that pass every plugin may then be narrowed down for the sake of pods in flight.
    """
    ledger = Ledger(clock)
    memory = Memory() if memory is None else memory
    threads = parse_filters(profile, pod, snapshot, ledger, memory)
    if isinstance(threads, Status):
        return FilterResult([threads] * len(candidates), ledger, threads)

    refusals: dict[int, Status] = {}
    reached: Sequence[int] = range(len(candidates))
    nodes = candidates
    for name, question, thread in threads:
        if not nodes:
            break
        column, verdicts = _judge(name, question, thread.answers, nodes, ledger)
        memory.note_answers(thread)
        passing = {key for key, verdict in verdicts.items() if verdict.code is Code.SUCCESS}
        if len(passing) == len(verdicts):
            continue
        passes = list(map(passing.__contains__, column))
        refusals.update(_refusals(reached, column, verdicts, passes))
        reached = list(compress(reached, passes))
        nodes = list(compress(nodes, passes))
    statuses = list(map(refusals.get, range(len(candidates)), repeat(SUCCESS)))
    questions = {name: question for name, question, _ in threads}
    if narrow and nodes:
        narrowing.narrow(questions, statuses, reached, nodes, ledger)
    return FilterResult(statuses, ledger, questions=questions)


def _refusals(
    reached: Sequence[int],
    column: Sequence[Hashable],
    verdicts: Mapping[Hashable, Status],
    passes: Sequence[bool],
) -> Iterable[tuple[int, Status]]:
    """The places that do not pass, each with what was said of it."""
    fails = list(map(not_, passes))
    said = map(verdicts.__getitem__, compress(column, fails))
    return zip(compress(reached, fails), said, strict=True)


def parse_filters(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    ledger: Ledger,
    memory: Memory[NodeFilter, Status],
) -> list[FilterThread] | Status:
    """The questions of every plugin that has one, or the status that settles every node."""
    threads = []
    for plugin in profile.filters:
        thread = parse(
            plugin, ExtensionPoint.PRE_FILTER, plugin.pre_filter, pod, snapshot, ledger, memory
        )
        if not isinstance(thread.outcome, Status):
            threads.append((plugin.name, thread.outcome, thread))
        elif thread.outcome.code is not Code.SKIP:
            return thread.outcome
    return threads


def run_score(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    candidates: Sequence[NodeInfo],
    *,
    clock: Clock,
    memory: Memory[NodeScorer, Score] | None = None,
) -> ScoreResult:
    """The weighted mean of the plugins that have something to say, scaled for the extender.

    A plugin is silent when it skips, when it breaks (a score that cannot be computed is
    neutral) and when its scores are all equal. If all are silent every node gets 0.
    """
    ledger = Ledger(clock)
    memory = Memory() if memory is None else memory
    silent = ScoreResult([0] * len(candidates), ledger)
    weighed: list[tuple[int, Sequence[Hashable], Mapping[Hashable, int]]] = []
    for plugin, weight in profile.scorers:
        thread = parse(
            plugin, ExtensionPoint.SCORE, plugin.pre_score, pod, snapshot, ledger, memory
        )
        if not isinstance(thread.outcome, Status):
            column, scores = _score(plugin.name, thread.outcome, thread, candidates, ledger)
            memory.note_answers(thread)
            if len(set(scores.values())) > 1:
                weighed.append((weight, column, scores))
        elif thread.outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return silent  # a rule of the pod cannot be read: no node is better than another
    return ScoreResult(means.weighted_means(weighed), ledger) if weighed else silent


def explain(
    profile: Profile, pod: Pod, snapshot: Snapshot, node: NodeInfo, *, clock: Clock
) -> list[Status]:
    """What every filter plugin says of one node, without stopping at the first refusal."""
    ledger = Ledger(clock)
    memory: Memory[NodeFilter, Status] = Memory()
    statuses: list[Status] = []
    for plugin in profile.filters:
        thread = parse(
            plugin, ExtensionPoint.PRE_FILTER, plugin.pre_filter, pod, snapshot, ledger, memory
        )
        outcome = thread.outcome
        if not isinstance(outcome, Status):
            (key,), verdicts = _judge(plugin.name, outcome, thread.answers, [node], ledger)
            outcome = verdicts[key].signed(plugin.name)
        statuses.append(outcome)
    return statuses


def parse(
    plugin: Plugin,
    point: ExtensionPoint,
    begin: Callable[[Pod, Snapshot], Q | Status],
    pod: Pod,
    snapshot: Snapshot,
    ledger: Ledger,
    memory: Memory[Q, A],
) -> Thread[Q, A]:
    """Have a plugin parse the pod, unless it parsed the like before.

    The thread begins with the plugin's question, or with a signed status that settles the matter.
    """
    since = ledger.clock()
    try:
        rules = plugin.rules(pod)
        key = None if rules is None else (id(plugin), rules)
        thread = None if key is None else memory.recall(key)
        if thread is None:
            outcome = begin(pod, snapshot)
            thread = Thread(outcome.signed(plugin.name) if isinstance(outcome, Status) else outcome)
            if key is not None:
                memory.keep(key, thread, weight_of(rules))
        ledger.findings |= thread.outcome.findings
    except Exception as exc:  # noqa: BLE001 - one broken plugin must not take the call down
        thread = Thread(ledger.fault(exc).signed(plugin.name))
    settled = isinstance(thread.outcome, Status)
    if settled or point is ExtensionPoint.PRE_FILTER:
        code = thread.outcome.code if isinstance(thread.outcome, Status) else Code.SUCCESS
        seconds = ledger.clock() - since
        ledger.evaluations.append(Evaluation(plugin.name, point, {code: 1}, seconds))
    return thread


def signed_verdict(name: str, question: NodeFilter, node: NodeInfo) -> Status:
    """What a plugin says of a node, with the name of the plugin to it."""
    verdict = question.filter(node)
    return verdict if verdict is SUCCESS else verdict.signed(name)


def _judge(
    name: str,
    question: NodeFilter,
    answers: dict[Hashable, Status],
    nodes: Sequence[NodeInfo],
    ledger: Ledger,
) -> tuple[Sequence[Hashable], Mapping[Hashable, Status]]:
    """The key of each node, and the signed verdict on each key; ERROR for all after a fault."""
    since = ledger.clock()
    verdicts: dict[Hashable, Status] = {}
    try:
        column = question.facet.column(nodes)
        counts = Counter(column)
        if not counts.keys() <= answers.keys():
            for key, node in dict(zip(column, nodes, strict=True)).items():
                if key not in answers:
                    answers[key] = signed_verdict(name, question, node)
        verdicts = {key: answers[key] for key in counts}
    except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
        column = [None] * len(nodes)
        counts = Counter(column)
        verdicts = {None: ledger.fault(exc).signed(name)}
    codes: Counter[Code] = Counter()
    for key, count in counts.items():
        codes[verdicts[key].code] += count
        ledger.findings |= verdicts[key].findings
    seconds = ledger.clock() - since
    ledger.evaluations.append(Evaluation(name, ExtensionPoint.FILTER, codes, seconds))
    return column, verdicts


def _score(
    name: str,
    question: NodeScorer,
    thread: Thread[NodeScorer, Score],
    nodes: Sequence[NodeInfo],
    ledger: Ledger,
) -> tuple[Sequence[Hashable], Mapping[Hashable, int]]:
    """The key of each node, and the normalised score of each key; equal ones after a fault."""
    since = ledger.clock()
    code = Code.SUCCESS
    try:
        column = question.facet.column(nodes)
        raw = {}
        for key, node in dict(zip(column, nodes, strict=True)).items():
            score = thread.answers.get(key)
            if score is None:
                score = thread.answers[key] = question.score(node)
            raw[key] = score.value
            ledger.findings |= score.findings
        distinct = list(set(raw.values()))
        normal = dict(zip(distinct, question.normalize(distinct), strict=True))
        scores = {key: normal[value] for key, value in raw.items()}
    except Exception as exc:  # noqa: BLE001 - a score that cannot be computed is neutral
        code = ledger.fault(exc).code
        column, scores = [None] * len(nodes), {None: 0}
    seconds = ledger.clock() - since
    ledger.evaluations.append(Evaluation(name, ExtensionPoint.SCORE, {code: len(nodes)}, seconds))
    return column, scores
