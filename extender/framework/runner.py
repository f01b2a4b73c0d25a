"""The machine: runs a profile's plugins over candidates.

Nodes that are alike in all that the plugins look at are one case, judged once: what is done for
every node are look-ups that run in C. The first refusal of a node stands, and a plugin is only
asked about nodes that reached it. The clock is a parameter, because the core has none.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from extender.errors import PluginError
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
Case = tuple[Hashable, ...]
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
    judges: list[_Judge] = []
    for plugin in profile.filters:
        outcome = _parse(
            plugin.name, ExtensionPoint.PRE_FILTER, plugin.pre_filter, pod, snapshot, ledger
        )
        if not isinstance(outcome, Status):
            judges.append(_Judge(plugin.name, outcome, ledger))
        elif outcome.code is not Code.SKIP:
            return FilterResult([outcome] * len(candidates), ledger, outcome)

    cases: list[Case] = list(zip(*(judge.column(candidates) for judge in judges), strict=True))
    if not cases:
        return FilterResult([SUCCESS] * len(candidates), ledger)
    examples = dict(zip(cases, candidates, strict=True))
    sizes = Counter(cases)
    verdicts = {
        case: _first_refusal(judges, case, node, sizes[case]) for case, node in examples.items()
    }
    for judge in judges:
        judge.close()
    return FilterResult(list(map(verdicts.__getitem__, cases)), ledger)


def run_score(
    profile: Profile, pod: Pod, snapshot: Snapshot, candidates: Sequence[NodeInfo], *, clock: Clock
) -> ScoreResult:
    """The weighted mean of the plugins that have something to say, scaled for the extender.

    A plugin is silent when it skips, when it breaks (a score that cannot be computed is
    neutral) and when its scores are all equal. If all are silent every node gets 0.
    """
    ledger = Ledger(clock)
    silent = ScoreResult([0] * len(candidates), ledger)
    weighed: list[tuple[int, Sequence[Hashable], Mapping[Hashable, int]]] = []
    for plugin, weight in profile.scorers:
        outcome = _parse(plugin.name, ExtensionPoint.SCORE, plugin.pre_score, pod, snapshot, ledger)
        if not isinstance(outcome, Status):
            column, scores = _score(plugin.name, outcome, candidates, ledger)
            if len(set(scores.values())) > 1:
                weighed.append((weight, column, scores))
        elif outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return silent  # a rule of the pod cannot be read: no node is better than another
    if not weighed:
        return silent
    # sum of weight * score, divided by all weights: 0 to 100. Scaled and rounded half up.
    unit = MAX_NODE_SCORE * sum(weight for weight, _, _ in weighed)
    cases: list[Case] = list(zip(*(column for _, column, _ in weighed), strict=True))
    scaled: dict[Case, int] = {}
    for case in set(cases):
        total = sum(w * scores[key] for key, (w, _, scores) in zip(case, weighed, strict=True))
        scaled[case] = (2 * MAX_EXTENDER_PRIORITY * total + unit) // (2 * unit)
    return ScoreResult(list(map(scaled.__getitem__, cases)), ledger)


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
        if not isinstance(outcome, Status):
            judge = _Judge(plugin.name, outcome, ledger)
            outcome = judge.ask(judge.column([node])[0], node, 1)
        statuses.append(replace(outcome, plugin=plugin.name))
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
    settled = isinstance(outcome, Status)
    if settled or point is ExtensionPoint.PRE_FILTER:
        code = outcome.code if isinstance(outcome, Status) else Code.SUCCESS
        ledger.evaluations.append(Evaluation(name, point, {code: 1}, ledger.clock() - since))
    return replace(outcome, plugin=name) if isinstance(outcome, Status) else outcome


class _Judge:
    """One filter plugin's question during one call: asks once a key, signs, counts, times."""

    def __init__(self, name: str, question: NodeFilter, ledger: Ledger) -> None:
        self._name = name
        self._question = question
        self._ledger = ledger
        self._verdicts: dict[Hashable, Status] = {}
        self._codes: Counter[Code] = Counter()
        self._seconds = 0.0

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """What the verdict on each node depends on."""
        since = self._ledger.clock()
        try:
            column = self._question.facet.column(nodes)
            if len(column) != len(nodes):
                raise PluginError(f"a column of {len(column)} for {len(nodes)} nodes")  # noqa: TRY301
        except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
            column = [None] * len(nodes)
            self._verdicts[None] = replace(self._ledger.fault(exc), plugin=self._name)
        self._seconds += self._ledger.clock() - since
        return column

    def ask(self, key: Hashable, node: NodeInfo, count: int) -> Status:
        """The verdict on `count` nodes that share a key, of which `node` is one."""
        verdict = self._verdicts.get(key)
        if verdict is None:
            since = self._ledger.clock()
            try:
                verdict = self._question.filter(node)
            except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
                verdict = self._ledger.fault(exc)
            if verdict is not SUCCESS:
                self._ledger.findings |= verdict.findings
                verdict = replace(verdict, plugin=self._name)
            self._verdicts[key] = verdict
            self._seconds += self._ledger.clock() - since
        self._codes[verdict.code] += count
        return verdict

    def close(self) -> None:
        """Enter into the ledger what the plugin did."""
        self._ledger.evaluations.append(
            Evaluation(self._name, ExtensionPoint.FILTER, self._codes, self._seconds)
        )


def _first_refusal(judges: Sequence[_Judge], case: Case, node: NodeInfo, count: int) -> Status:
    for judge, key in zip(judges, case, strict=True):
        verdict = judge.ask(key, node, count)
        if verdict.code is not Code.SUCCESS:
            return verdict
    return SUCCESS


def _score(
    name: str, question: NodeScorer, nodes: Sequence[NodeInfo], ledger: Ledger
) -> tuple[Sequence[Hashable], Mapping[Hashable, int]]:
    """The key of each node, and the normalised score of each key; equal ones after a fault."""
    since = ledger.clock()
    code = Code.SUCCESS
    try:
        column = question.facet.column(nodes)
        examples = dict(zip(column, nodes, strict=True))
        raw = {key: question.score(node) for key, node in examples.items()}
        distinct = list({score.value for score in raw.values()})
        normal = dict(zip(distinct, question.normalize(distinct), strict=True))
        scores = {key: normal[score.value] for key, score in raw.items()}
        for score in raw.values():
            ledger.findings |= score.findings
    except Exception as exc:  # noqa: BLE001 - a score that cannot be computed is neutral
        code = ledger.fault(exc).code
        column, scores = [None] * len(nodes), {None: 0}
    seconds = ledger.clock() - since
    ledger.evaluations.append(Evaluation(name, ExtensionPoint.SCORE, {code: len(nodes)}, seconds))
    return column, scores
