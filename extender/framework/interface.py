"""Open this first: what a plugin is, and what it may say. The words are kube-scheduler's.

A plugin parses a pod once (`pre_filter`, `pre_score`) into a question that is then asked of
nodes. A refusal is a Status; an exception out of a plugin is a fault, and the runner turns it
into an ERROR status. The runner signs a status, never the plugin.
"""

import enum
import functools
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from extender.framework.columns.node_table import NodeTable
from extender.framework.node_info import Facet, NodeInfo
from extender.framework.snapshot import Snapshot
from extender.match.budget import Budget
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.match.lru import LRU, CacheBudget
from extender.model.core_v1 import Pod

MAX_NODE_SCORE: Final = 100
NOTHING_FOUND: Final = frozenset[Finding]()
_REASON_BYTES: Final = 500


class Code(enum.Enum):
    """What a plugin says of a node."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    SKIP = "Skip"

    __hash__ = object.__hash__  # a member is itself only; Enum's own hash is a call in Python


class ExtensionPoint(enum.Enum):
    """Where in the cycle a plugin was asked."""

    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    SCORE = "Score"

    __hash__ = object.__hash__  # as above


class Status(Struct, frozen=True, eq=False):
    """One plugin's verdict on one node, or on all of them."""

    code: Code
    reasons: tuple[str, ...] = ()  # counted by exact text in kube-scheduler's event
    plugin: str = ""  # signed by the runner
    # What to say where one answer would hold too many different `reasons`.
    brief: tuple[str, ...] = ()
    # Values that did not parse on the way; a remembered status keeps them.
    findings: frozenset[Finding] = NOTHING_FOUND
    # Only a pod in flight stands in the way: where it went is about to be known.
    unsettled: bool = False

    def __eq__(self, other: object) -> bool:
        """Two statuses are equal if kube-scheduler could not tell them apart."""
        if not isinstance(other, Status):
            return NotImplemented
        return (self.code, self.reasons, self.plugin) == (other.code, other.reasons, other.plugin)

    def __ne__(self, other: object) -> bool:
        """A Struct compares by identity here, whatever `__eq__` says."""
        return not self == other

    def __hash__(self) -> int:
        return hash((self.code, self.reasons, self.plugin))

    def signed(self, plugin: str) -> "Status":
        """The same, said by a plugin."""
        return replace(self, plugin=plugin)


SUCCESS: Final = Status(Code.SUCCESS)
SKIP: Final = Status(Code.SKIP)


def shortened(text: str) -> str:
    """`text` in less than 500 bytes: foreign text must not flood kube-scheduler's event."""
    if len(text) < _REASON_BYTES // 4:  # a character is four bytes at most
        return text
    raw = text.encode(errors="replace")
    return (
        text
        if len(raw) < _REASON_BYTES
        else raw[: _REASON_BYTES - 4].decode(errors="ignore") + "..."
    )


def unresolvable(
    reason: str,
    *,
    brief: str = "",
    findings: frozenset[Finding] = NOTHING_FOUND,
) -> Status:
    """A refusal that no eviction cures."""
    return Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        (shortened(reason),),
        brief=(shortened(brief),) if brief else (),
        findings=findings,
    )


def success(findings: frozenset[Finding]) -> Status:
    """A pass, with what was noticed on the way."""
    return Status(Code.SUCCESS, findings=findings) if findings else SUCCESS


class Score(Struct, frozen=True, gc=False):
    """One plugin's raw score of one node."""

    value: int
    findings: frozenset[Finding] = frozenset()


@functools.lru_cache(maxsize=256)
def score_of(value: int) -> Score:
    """A score that nothing was noticed for; there are few, and they are given to many nodes."""
    return Score(value)


class NodeFilter(Protocol):
    """One pod's question, already parsed; asked once of nodes that share a key.

    It may have further abilities: BatchFilter, KeyedFilter, CompoundFilter, Narrowing,
    RemovalAware.
    """

    @property
    def facet(self) -> Facet: ...

    @property
    def findings(self) -> frozenset[Finding]:
        """What was noticed while parsing the pod."""
        ...

    def filter(self, node: NodeInfo) -> Status: ...


class BatchFilter(NodeFilter, Protocol):
    """A question that can be asked about many nodes at once, at less cost and to the same end."""

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        """What `filter` says of each, in order; equal refusals are mostly one and the same.

        None if the budget is less than it takes: one by one, some can still be asked about.
        """
        ...


class KeyedFilter(NodeFilter, Protocol):
    """A question that most keys of its facet get the same answer to."""

    def by_key(self) -> tuple[Status, Mapping[Hashable, Status]]:
        """The verdict on most keys, and those on the others."""
        ...


@runtime_checkable
class CompoundFilter(Protocol):
    """A question of several parts, each with a facet of its own; the first refusal stands."""

    @property
    def parts(self) -> Sequence[NodeFilter]: ...


@runtime_checkable
class Narrowing(Protocol):
    """A question that may choose among the nodes that pass, for the sake of pods in flight."""

    @property
    def crowded(self) -> bool:
        """Whether it has to choose now."""
        ...

    @property
    def domains(self) -> int:
        """How many kinds of nodes it tells apart; who tells the fewest apart chooses first."""
        ...

    def keeps(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[bool]:
        """Whether each node that passes is kept, given how many are like it; at least one is."""
        ...

    @property
    def held_back(self) -> Status:
        """The verdict on a node that is not kept."""
        ...


@runtime_checkable
class RemovalAware(Protocol):
    """A question whose refusals an eviction may cure."""

    def without(self, node: NodeInfo, victims: Collection[str]) -> Status:
        """The verdict on a node once these pods, given by UID, are gone from it."""
        ...


class NodeScorer(Protocol):
    """One pod's preference, already parsed; asked once of nodes that share a key.

    It may have further abilities: BatchScorer, RelativeScorer.
    """

    @property
    def facet(self) -> Facet: ...

    @property
    def findings(self) -> frozenset[Finding]:
        """What was noticed while parsing the pod."""
        ...

    def score(self, node: NodeInfo) -> Score: ...

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """On the scale of 0 to MAX_NODE_SCORE; `scores` has what the candidates got, each once."""
        ...


class BatchScorer(NodeScorer, Protocol):
    """A preference that can be asked about many nodes at once."""

    def score_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Score] | None:
        """What `score` says of each, in order; None as with filters."""
        ...


@runtime_checkable
class RelativeScorer(Protocol):
    """A preference for a node that depends on who the other candidates are."""

    def exceptions(self, table: NodeTable) -> Mapping[int, Hashable]:
        """Rows that differ from others with the same key of the facet, each with what it has."""
        ...

    def score_among(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[int]:
        """The score of each node, given how many candidates are like it."""
        ...


class Plugin(Protocol):
    """Anything with a name of kube-scheduler's."""

    @property
    def name(self) -> str: ...

    def signature(self, pod: Pod) -> Hashable | None:
        """What of the pod a parsed question depends on, if it depends on nothing else.

        Pods with equal signatures get the same question, and its answers are remembered. None:
        the question also depends on the snapshot. Upstream's SignPod has the same purpose.
        """
        ...


class FilterPlugin(Plugin, Protocol):
    """A plugin that can refuse a node."""

    def pre_filter(self, pod: Pod, snapshot: Snapshot) -> NodeFilter | Status:
        """Parse the pod once. A Status settles every node at once; SKIP steps aside."""
        ...


class ScorePlugin(Plugin, Protocol):
    """A plugin that can prefer a node."""

    def pre_score(self, pod: Pod, snapshot: Snapshot) -> NodeScorer | Status:
        """Parse the pod once. SKIP: nothing to say for this pod."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration says to every plugin."""

    gates: FeatureGates = field(default_factory=FeatureGates)
    annotation_prefix: str = "scheduling.leeway/"
    annotation_bytes: int = 262_144
    reasons: Literal["detailed", "redacted"] = "detailed"
    no_execute: Literal["narrow", "join"] = "narrow"
    # What all caches may hold together.
    caches: CacheBudget = field(default_factory=CacheBudget, compare=False, repr=False)
    # Expressions that were compiled before, shared by all plugins.
    programs: ProgramCache = field(default_factory=ProgramCache, compare=False, repr=False)
    # Compiled tolerations by what is written: two plugins and two verbs ask for the same ones.
    compiled: LRU[Hashable, Any] = field(init=False, compare=False, repr=False)
    # What comparing may still take in this call.
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)

    def __post_init__(self) -> None:
        # The share of a pod of 1.5 MB: each plugin of a call would compile it anew otherwise.
        compiled: LRU[Hashable, Any] = LRU("tolerations", self.caches, share=0.75)
        object.__setattr__(self, "compiled", compiled)


@dataclass(frozen=True, slots=True)
class Profile:
    """The plugins that judge a pod, in order, and the weights of those that score."""

    name: str
    filters: tuple[FilterPlugin, ...]
    scorers: tuple[tuple[ScorePlugin, int], ...]
