"""Assembles the report of a scan."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from extender.framework.interface import Profile
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.model.storage_v1 import StorageClass
from extender.native.settings import CompileSettings
from extender.review import compilation
from extender.review.doctor.problems import Severity
from extender.review.scan import compiled, effects, pending, values
from extender.review.scan.compiled import CompiledPod
from extender.review.scan.effects import OnlyByAnnotation, UnseenByController
from extender.review.scan.inventory import Inventory
from extender.review.scan.objects import Ref
from extender.review.scan.pending import Pending
from extender.review.scan.usage import GATES, Rule, Usage
from extender.review.scan.values import Met, Unreadable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Use:
    """One rule of one workload, and the objects that carry it."""

    gate: str
    operator: str
    annotated: bool
    path: str
    rule: str
    workload: Ref
    objects: Mapping[str, int]  # by kind


@dataclass(frozen=True, slots=True)
class Report:
    """What a scan found."""

    seen: Mapping[str, int]
    nodes: int
    uses: Sequence[Use]
    broken: Sequence[tuple[Ref, str, str]]  # unreadable annotations
    unreadable: Sequence[Unreadable]
    pending: Sequence[Pending]  # pods without a passing node
    passing: int  # pods that are pending for other reasons
    daemons: Sequence[UnseenByController]
    evicted: Sequence[OnlyByAnnotation]
    volumes: Sequence[tuple[Ref, str]]
    unread: Sequence[tuple[Ref, str]]
    compiled: Sequence[CompiledPod] = ()
    missing: Mapping[str, str] = field(default_factory=dict)  # why a resource was not listed
    mistakes: Sequence[tuple[Ref, str, str]] = ()  # misspelt and misplaced rules
    unjudged: int = 0  # pods that are pending, while there is no node to judge them on

    def severities(self) -> Iterator[Severity]:
        """The severity of each finding; using a rule is not a finding."""
        if self.broken or any(not each.nodes for each in self.unreadable):
            yield "error"
        found = (
            *(self.unreadable, self.pending, self.evicted, self.volumes, self.unread),
            self.mistakes,
        )
        if any(found) or self.missing:
            yield "warning"
        # What compile mode has yet to do is no finding: the next moment may do it.
        for daemon in self.daemons:
            yield "warning" if daemon.missing or daemon.stuck else "info"


def build(
    inventory: Inventory,
    snapshot: Snapshot,
    classes: Mapping[str, StorageClass],
    *,
    profile_of: Callable[[Pod], Profile],
    schedulers: frozenset[str],
    compile_settings: CompileSettings,
    missing: Mapping[str, str],
    step: Callable[[], None] = lambda: None,
) -> Report:
    """Judge everything that was collected, and report it."""
    settings = inventory.settings
    met = Met(snapshot.nodes.values())
    templates = by_root(inventory)
    view = compilation.view_of(snapshot.nodes.values(), compile_settings)
    pods = list(compiled.judge(inventory.live, view, settings, compile_settings, inventory.root))
    is_at_work = any(pod.found.is_seen for pod in pods)
    others = _not_compiled(templates, compile_settings) if is_at_work else templates
    pods_waiting = inventory.waiting if snapshot.nodes else {}
    waiting = list(pending.judge(pods_waiting, snapshot, profile_of, inventory.root, step))
    blocked = [each for each in waiting if not each.passed]
    return Report(
        seen=inventory.seen,
        nodes=len(snapshot.nodes),
        uses=uses(inventory),
        broken=list(_broken(inventory)),
        unreadable=list(values.unreadable(_rules(inventory), met, settings)),
        pending=blocked,
        passing=len(waiting) - len(blocked),
        daemons=list(effects.unseen_by_controller(templates, snapshot, settings, compile_settings)),
        evicted=list(effects.only_by_annotation(others, met.taints, settings)),
        volumes=list(effects.bound_too_late(inventory.volumes, classes)),
        unread=list(effects.read_by_nobody(others, schedulers, settings)),
        compiled=pods,
        missing=missing,
        mistakes=list(_mistakes(inventory)),
        unjudged=len(inventory.waiting) - len(pods_waiting),
    )


def _broken(inventory: Inventory) -> Iterator[tuple[Ref, str, str]]:
    for ref, found in _once(inventory, inventory.unreadable).items():
        for each in found:
            yield ref, each.path, each.problem


def _mistakes(inventory: Inventory) -> Iterator[tuple[Ref, str, str]]:
    """The mistakes in what people write; what controllers make of that has the same ones."""
    told: set[tuple[Ref, str, str]] = set()
    for ref, found in inventory.mistakes.items():
        root = inventory.root(ref)
        mistakes = {(root, each.field, each.text): None for each in found}
        if root == ref or not inventory.has_seen(root):
            yield from (each for each in mistakes if each not in told)
            told.update(mistakes)


def _not_compiled(
    templates: Mapping[Ref, Pod], compile_settings: CompileSettings
) -> Mapping[Ref, Pod]:
    """Those that compile mode does not read; what it reads may be for no profile of ours."""
    return {
        ref: pod
        for ref, pod in templates.items()
        if ref.kind == "DaemonSet" or not compiled.is_chosen(pod, compile_settings)
    }


def uses(inventory: Inventory) -> list[Use]:
    """Every rule of every workload, by gate, with the objects that carry it."""
    objects: dict[tuple[Ref, Usage], Counter[str]] = {}
    for ref, found in inventory.usages.items():
        for usage in found:
            objects.setdefault((inventory.root(ref), usage), Counter())[ref.kind] += 1
    found_uses = [
        Use(u.gate, u.operator, u.annotated, u.path, u.text(), root, counts)
        for (root, u), counts in objects.items()
    ]
    return sorted(
        found_uses, key=lambda use: (GATES.index(use.gate), use.operator, use.workload, use.path)
    )


def by_root(inventory: Inventory) -> dict[Ref, Pod]:
    """One pod per workload with rules: from its own template or from an object it owns."""
    return _once(inventory, inventory.templates)


def _once(inventory: Inventory, found: Mapping[Ref, T]) -> dict[Ref, T]:
    chosen: dict[Ref, T] = {}
    for ref, value in found.items():
        root = inventory.root(ref)
        if root == ref or root not in chosen:
            chosen[root] = value
    return chosen


def _rules(inventory: Inventory) -> dict[Rule, list[Ref]]:
    rules: dict[Rule, dict[Ref, None]] = {}
    for ref, found in inventory.usages.items():
        for usage in found:
            rules.setdefault(usage.rule, {})[inventory.root(ref)] = None
    return {rule: sorted(users) for rule, users in rules.items()}
