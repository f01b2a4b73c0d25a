"""The machine: runs a profile's plugins over candidates.

Each question is asked once per distinct key of its facet, so the work per node is a look-up.
The first refusal of a node stands, and a plugin is only asked about nodes that reached it.
The clock is a parameter, because the core has none.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from extender.framework.interface import (
    MAX_NODE_SCORE,
    SUCCESS,
    Code,
    ExtensionPoint,
    NodeFilter,
    NodeScorer,
    Profile,
    Status,
)
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod

MAX_EXTENDER_PRIORITY: Final = 10

Clock = Callable[[], float]
Q = TypeVar("Q", NodeFilter, NodeScorer)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How often one plugin gave which codes at one extension point of one call."""

    plugin: str
    extension_point: ExtensionPoint
    codes: Mapping[Code, int]
    seconds: float


@dataclass(slots=True)
class Ledger:
    """What a call did besides its verdicts: evaluations to count, findings to report."""

    clock: Clock
    evaluations: list[Evaluation] = field(default_factory=list)
    findings: set[Finding] = field(default_factory=set)
    faults: list[Exception] = field(default_factory=list)  # of plugins that broke, for the log

    def record(
        self, plugin: str, point: ExtensionPoint, codes: Mapping[Code, int], since: float
    ) -> None:
        """Note one evaluation that began at `since`."""
        self.evaluations.append(Evaluation(plugin, point, codes, self.clock() - since))

    def fault(self, exc: Exception) -> Status:
        """Note that a plugin broke; the status says so without its particulars."""
        self.faults.append(exc)
        return Status(Code.ERROR, (f"internal fault ({type(exc).__name__})",))


@dataclass(frozen=True, slots=True)
class FilterResult:
    """One status a candidate, in the order of the candidates."""

    statuses: Sequence[Status]
    ledger: Ledger
    settled: Status | None = None  # the pod itself was refused, whatever the node


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """One score of 0 to MAX_EXTENDER_PRIORITY a candidate, in the order of the candidates."""

    scores: Sequence[int]
    ledger: Ledger


def run_filter(
    profile: Profile, pod: Pod, snapshot: Snapshot, candidates: Sequence[NodeInfo], *, clock: Clock
) -> FilterResult:
    """Judge every candidate by every filter plugin; the first refusal of a node stands."""
    ledger = Ledger(clock)
    questions: list[tuple[str, NodeFilter]] = []
    for plugin in profile.filters:
        outcome = _parse(
            plugin.name, ExtensionPoint.PRE_FILTER, plugin.pre_filter, pod, snapshot, ledger
        )
        if not isinstance(outcome, Status):
            questions.append((plugin.name, outcome))
        elif outcome.code is not Code.SKIP:
            return FilterResult([outcome] * len(candidates), ledger, outcome)

    statuses: list[Status] = [SUCCESS] * len(candidates)
    reached: Sequence[int] = range(len(candidates))
    nodes = candidates
    for name, question in questions:
        verdicts, refuses = _judge(name, question, nodes, ledger)
        if not refuses:
            continue
        for index, verdict in zip(reached, verdicts, strict=True):
            statuses[index] = verdict
        reached = [index for index in reached if statuses[index].code is Code.SUCCESS]
        nodes = [candidates[index] for index in reached]
    return FilterResult(statuses, ledger)


def run_score(
    profile: Profile, pod: Pod, snapshot: Snapshot, candidates: Sequence[NodeInfo], *, clock: Clock
) -> ScoreResult:
    """The weighted mean of the plugins that have something to say, scaled for the extender.

    A plugin is silent when it skips, when it breaks (a score that cannot be computed is
    neutral) and when its scores are all equal. If all are silent every node gets 0.
    """
    ledger = Ledger(clock)
    silent = ScoreResult([0] * len(candidates), ledger)
    weighed: list[tuple[int, Sequence[int]]] = []
    for plugin, weight in profile.scorers:
        outcome = _parse(plugin.name, ExtensionPoint.SCORE, plugin.pre_score, pod, snapshot, ledger)
        if not isinstance(outcome, Status):
            scores = _score(plugin.name, outcome, candidates, ledger)
            if len(set(scores)) > 1:
                weighed.append((weight, scores))
        elif outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return silent  # a rule of the pod cannot be read: no node is better than another
    total = sum(weight for weight, _ in weighed)
    if not total:
        return silent
    sums = [0] * len(candidates)
    for weight, scores in weighed:
        sums = [sum_ + weight * score for sum_, score in zip(sums, scores, strict=True)]
    # sum * 10 / (100 * total), rounded half up, in integers.
    unit = MAX_NODE_SCORE * total
    scaled = {s: (2 * MAX_EXTENDER_PRIORITY * s + unit) // (2 * unit) for s in set(sums)}
    return ScoreResult([scaled[s] for s in sums], ledger)


def explain(
    profile: Profile, pod: Pod, snapshot: Snapshot, node: NodeInfo, *, clock: Clock
) -> list[Status]:
    """What every filter plugin says of one node, without stopping at the first refusal."""
    ledger = Ledger(clock)
    statuses: list[Status] = []
    for plugin in profile.filters:
        outcome = _parse(
            plugin.name, ExtensionPoint.PRE_FILTER, plugin.pre_filter, pod, snapshot, ledger
        )
        if isinstance(outcome, Status):
            statuses.append(outcome)
        else:
            statuses += _judge(plugin.name, outcome, [node], ledger)[0]
    return statuses


def _parse(
    name: str,
    point: ExtensionPoint,
    parse: Callable[[Pod, Snapshot], Q | Status],
    pod: Pod,
    snapshot: Snapshot,
    ledger: Ledger,
) -> Q | Status:
    """Have a plugin parse the pod: its question, or a signed status that settles the matter."""
    since = ledger.clock()
    try:
        outcome = parse(pod, snapshot)
    except Exception as exc:  # noqa: BLE001 - one broken plugin must not take the call down
        outcome = ledger.fault(exc)
    ledger.findings |= outcome.findings
    if isinstance(outcome, Status):
        ledger.record(name, point, {outcome.code: 1}, since)
        return replace(outcome, plugin=name)
    if point is ExtensionPoint.PRE_FILTER:
        ledger.record(name, point, {Code.SUCCESS: 1}, since)
    return outcome


def _judge(
    name: str, question: NodeFilter, nodes: Sequence[NodeInfo], ledger: Ledger
) -> tuple[Sequence[Status], bool]:
    """One signed status a node, and whether any is not SUCCESS."""
    since = ledger.clock()
    try:
        keys = question.facet.column(nodes)
        by_key = {key: question.filter(node) for key, node in _examples(keys, nodes)}
    except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
        keys = [None] * len(nodes)
        by_key = {None: ledger.fault(exc)}
    verdicts: dict[Hashable, Status] = {}
    codes: Counter[Code] = Counter()
    for key, count in Counter(keys).items():
        status = by_key[key]
        ledger.findings |= status.findings
        verdicts[key] = replace(status, plugin=name)
        codes[status.code] += count
    ledger.record(name, ExtensionPoint.FILTER, codes, since)
    return [verdicts[key] for key in keys], codes[Code.SUCCESS] < len(nodes)


def _score(
    name: str, question: NodeScorer, nodes: Sequence[NodeInfo], ledger: Ledger
) -> Sequence[int]:
    """One normalised score a node; equal ones where the plugin breaks."""
    since = ledger.clock()
    try:
        keys = question.facet.column(nodes)
        by_key = {key: question.score(node) for key, node in _examples(keys, nodes)}
        scores = question.normalize([by_key[key].value for key in keys])
    except Exception as exc:  # noqa: BLE001 - a score that cannot be computed is neutral
        ledger.record(name, ExtensionPoint.SCORE, {ledger.fault(exc).code: len(nodes)}, since)
        return [0] * len(nodes)
    for score in by_key.values():
        ledger.findings |= score.findings
    ledger.record(name, ExtensionPoint.SCORE, {Code.SUCCESS: len(nodes)}, since)
    return scores


def _examples(
    keys: Sequence[Hashable], nodes: Sequence[NodeInfo]
) -> Iterable[tuple[Hashable, NodeInfo]]:
    """One node of each key."""
    return dict(zip(keys, nodes, strict=True)).items()
