"""Judges the pods of two clusters, and says whose verdicts differ."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from extender.framework.interface import Code, Profile, Settings
from extender.framework.preemption import run_preempt
from extender.framework.runner import Runner
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import ObjectMeta, Pod, PodSpec
from extender.native.settings import CompileSettings
from extender.review.diff import changes, evictions
from extender.review.diff.changes import NodeChange
from extender.review.diff.evictions import Eviction
from extender.review.diff.population import Member
from extender.review.explain.inquiry import no_clock
from extender.review.scan.objects import Ref

GONE: Final = "the node is gone"
ANY: Final = "*"  # in place of the names of several pods


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two clusters, and who judges its pods."""

    snapshot: Snapshot
    members: Mapping[Ref, Member]
    profile_of: Callable[[Pod], Profile]
    settings: Settings
    compile_settings: CompileSettings


@dataclass(frozen=True, slots=True)
class Stranded:
    """A running pod that could not be placed on its node any more."""

    ref: Ref
    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evicted:
    """A running pod that Kubernetes evicts from its node."""

    ref: Ref
    node: str
    eviction: Eviction


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """What changes for pods of a workload that have the same rules."""

    workload: Ref
    pods: int  # that run or wait
    before: int  # nodes that pass
    after: int
    opened: tuple[str, ...]
    closed: tuple[str, ...]
    reasons: tuple[tuple[str, int], ...]  # why nodes are closed, the most frequent first
    stranded: tuple[Stranded, ...]
    evicted: tuple[Evicted, ...]

    @property
    def weight(self) -> tuple[int, int, int, int, str]:
        """The sort key: who is hurt most comes first."""
        return (
            -len(self.evicted),
            -len(self.stranded),
            -len(self.closed),
            -len(self.opened),
            str(self.workload),
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs between two clusters."""

    nodes_before: int
    nodes_after: int
    nodes: tuple[NodeChange, ...]
    compared: int  # pods, and workloads without pods
    workloads: tuple[WorkloadChange, ...]
    only_before: int = 0  # pods that are in one of the clusters only: they are not compared
    only_after: int = 0

    @property
    def stranded(self) -> int:
        """How many running pods could not be placed where they run."""
        return sum(len(each.stranded) for each in self.workloads)

    @property
    def evicted(self) -> int:
        """How many running pods are evicted."""
        return sum(len(each.evicted) for each in self.workloads)


def compare(
    before: Side, after: Side, step: Callable[[int], None] = lambda _pods: None
) -> Difference:
    """Judge every pod of both clusters; `step` is told how many pods are done."""
    old, new = _Judge(before), _Judge(after)
    groups: dict[tuple[Ref, bytes, bytes], list[tuple[Member, Member]]] = {}
    for ref, member in before.members.items():
        now = after.members.get(ref)
        if now is not None:
            key = _grouped(member), old.key(member), new.key(now)
            groups.setdefault(key, []).append((member, now))
    found = []
    for (group, _, _), pairs in groups.items():
        workload = pairs[0][0].workload if len(pairs) == 1 else group
        change = _change(workload, pairs, old, new)
        if change is not None:
            found.append(change)
        step(len(pairs))
    compared = sum(map(len, groups.values()))
    return Difference(
        nodes_before=len(before.snapshot.nodes),
        nodes_after=len(after.snapshot.nodes),
        nodes=tuple(changes.between(before.snapshot, after.snapshot)),
        compared=compared,
        workloads=tuple(sorted(found, key=lambda each: each.weight)),
        only_before=len(before.members) - compared,
        only_after=len(after.members) - compared,
    )


def _grouped(member: Member) -> Ref:
    """The workload of a pod; those without an owner are one group in each namespace."""
    if member.live is not None and member.workload == member.ref:
        return Ref(member.ref.kind, member.ref.namespace, ANY)
    return member.workload


@dataclass(slots=True)
class _Judge:
    """The verdicts of one cluster; pods with the same rules are judged once."""

    side: Side
    _runner: Runner = field(default_factory=lambda: Runner(clock=no_clock))
    _passing: dict[bytes, frozenset[str]] = field(default_factory=dict)

    def key(self, member: Member) -> bytes:
        """What the verdicts on a pod depend on; a daemon's is only about its own node."""
        pod = member.pod
        if member.is_daemon:
            return b"daemon"
        meta, spec = pod.metadata or ObjectMeta(), pod.spec or PodSpec()
        prefix = self.side.settings.annotation_prefix
        ours = sorted(
            (name, text)
            for name, text in (meta.annotations or {}).items()
            if name.startswith(prefix)
        )
        made = any(volume.ephemeral is not None for volume in spec.volumes or ())
        return msgspec.json.encode(
            (
                meta.namespace,
                ours,
                spec.scheduler_name,
                spec.node_selector,
                spec.affinity,
                spec.tolerations,
                spec.topology_spread_constraints,
                spec.volumes,
                spec.priority,
                meta.labels if spec.topology_spread_constraints else None,
                (meta.name, meta.uid) if made else None,
            )
        )

    def passing(self, member: Member) -> frozenset[str]:
        """The nodes that pass for a pod; of a daemon's only its own is looked at."""
        if member.is_daemon:
            return frozenset() if self.refusal(member) else frozenset({member.node})
        key = self.key(member)
        found = self._passing.get(key)
        if found is None:
            table = self.side.snapshot.table
            candidates = table.candidates()
            self._runner.filter(
                self.side.profile_of(member.pod),
                member.pod,
                self.side.snapshot,
                table,
                candidates,
                narrow=False,
            )
            found = frozenset(node.name for node in table.nodes_of(candidates))
            self._passing[key] = found
        return found

    def reasons(self, member: Member, nodes: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Why these nodes are refused, and how many of them."""
        known = [name for name in nodes if name in self.side.snapshot.nodes]
        if len(known) < len(nodes):
            yield GONE, len(nodes) - len(known)
        result = self._runner.filter(
            self.side.profile_of(member.pod),
            member.pod,
            self.side.snapshot,
            self.side.snapshot.table,
            self.side.snapshot.table.find(known),
            narrow=False,
        )
        for place, status in result.refusals():
            yield ", ".join(status.reasons), result.candidates.counts[place]

    def refusal(self, member: Member) -> str:
        """Why a running pod could not be placed on its node, if it were not there; empty if not.

        A spread constraint counts the pod itself as long as it runs. For other pods one node is
        asked about directly: the way for many nodes takes 20 times as long for one.
        """
        snapshot, pod = self.side.snapshot, member.pod
        node = snapshot.nodes.get(member.node)
        if node is None:
            return GONE
        profile = self.side.profile_of(pod)
        if not is_spread(pod):
            statuses = self._runner.explain(profile, pod, snapshot, node)
        else:
            victims = {node.name: [pod.metadata.uid if pod.metadata else ""]}
            _, found = run_preempt(self._runner, profile, pod, snapshot, victims)
            statuses = list(found.values())
        refused = (each for each in statuses if each.code not in (Code.SUCCESS, Code.SKIP))
        return ", ".join(next((each.reasons for each in refused), ()))


def is_spread(pod: Pod) -> bool:
    """Whether the pod has spread constraints."""
    return pod.spec is not None and bool(pod.spec.topology_spread_constraints)


def _change(
    workload: Ref, pairs: Sequence[tuple[Member, Member]], old: _Judge, new: _Judge
) -> WorkloadChange | None:
    """What changes for pods with the same rules; None if nothing does."""
    daemons = [pair for pair in pairs if pair[0].is_daemon]
    shown = daemons or pairs[:1]
    before = frozenset[str]().union(*(old.passing(member) for member, _ in shown))
    after = frozenset[str]().union(*(new.passing(member) for _, member in shown))
    opened, closed = tuple(sorted(after - before)), tuple(sorted(before - after))
    stranded = tuple(_stranded(pairs, before, after, old, new))
    evicted = tuple(_evicted(pairs, old.side, new.side))
    if not (opened or closed or stranded or evicted):
        return None
    reasons: Counter[str] = Counter()
    if closed and not daemons:
        reasons.update(dict(new.reasons(pairs[0][1], closed)))
    else:
        reasons.update(each.reason for each in stranded)
    return WorkloadChange(
        workload=workload,
        pods=sum(member.live is not None for _, member in pairs),
        before=len(before),
        after=len(after),
        opened=opened,
        closed=closed,
        reasons=tuple(reasons.most_common()),
        stranded=stranded,
        evicted=evicted,
    )


def _stranded(
    pairs: Sequence[tuple[Member, Member]],
    before: frozenset[str],
    after: frozenset[str],
    old: _Judge,
    new: _Judge,
) -> Iterator[Stranded]:
    """The running pods that could be placed where they run before, and could not afterwards."""
    for was, now in pairs:
        node = was.node
        if not node or not (is_spread(was.pod) or (node in before and node not in after)):
            continue
        reason = new.refusal(replace(now, node=node))
        if reason and not old.refusal(was):
            yield Stranded(was.ref, node, reason)


def _evicted(pairs: Sequence[tuple[Member, Member]], old: Side, new: Side) -> Iterator[Evicted]:
    for was, now in pairs:
        node = new.snapshot.nodes.get(was.node)
        if now.live is None or node is None or was.node != now.node:
            continue
        before = old.snapshot.nodes.get(was.node)
        found = evictions.of(now.live, before, node, new.settings, new.compile_settings)
        if found is not None:
            yield Evicted(was.ref, was.node, found)
