"""What is to be written to a pod, and what is to be said about it. Nothing is ever taken away."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from extender.errors import AnnotationError
from extender.framework.interface import Settings, shortened
from extender.model.core_v1 import LivePod, Taint, Toleration
from extender.native import notes
from extender.native.carried import Carried, carried, is_evicting, tolerations_of
from extender.native.compiling import compiled, compiled_on_node
from extender.native.extended import Extended
from extender.native.guards import guards
from extender.native.notes import Note
from extender.native.settings import CompileSettings

DEFAULT_SCHEDULER: Final = "default-scheduler"
_MIRROR: Final = "kubernetes.io/config.mirror"
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


class View(Protocol):
    """The taints of the cluster."""

    @property
    def counts(self) -> Mapping[Taint, int]: ...

    def on(self, node: str) -> Iterable[Taint]: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written to a pod."""

    added: tuple[Toleration, ...] = ()
    guards: tuple[Toleration, ...] = ()
    moved: tuple[str, ...] = ()  # keys of guards that somebody has put a toleration behind
    record: tuple[str, ...] | None = None  # the guarded keys; None: the record stands
    cut: bool = False
    invalid: bool = False  # the rules cannot be read
    notes: tuple[Note, ...] = ()
    carried: Carried | None = None  # what the pod carries, where its rules could be read

    @property
    def writes(self) -> bool:
        """Whether anything is to be written."""
        return bool(self.added or self.guards or self.moved or self.record is not None)


def is_compiled(pod: LivePod, compile_settings: CompileSettings) -> bool:
    """Whether the rules of a pod are compiled at all."""
    meta, names = pod.metadata, compile_settings.scheduler_names
    if names and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) not in names:
        return False
    if meta.deletion_timestamp is not None or pod.status.phase in _FINISHED:
        return False
    # A DaemonSet's controller places pods by the tolerations of its template.
    owners = meta.owner_references or ()
    if any(each.controller and each.kind == "DaemonSet" for each in owners):
        return False
    return _MIRROR not in (meta.annotations or {})


def plan(
    pod: LivePod,
    view: View,
    settings: Settings,
    compile_settings: CompileSettings,
    remembered: Collection[str] = (),
) -> Plan:
    """What is to be written to a pod now; a pod that is not compiled is left alone."""
    if not is_compiled(pod, compile_settings):
        return Plan()
    try:
        carries = carried(pod, settings, compile_settings, remembered)
    except AnnotationError as exc:
        return Plan(invalid=True, notes=(Note(notes.RULE_INVALID, shortened(str(exc))),))
    if pod.spec.node_name:
        return _bound(carries, tuple(view.on(pod.spec.node_name)), compile_settings)
    return _pending(carries, view.counts, compile_settings)


def _pending(
    carries: Carried, counts: Mapping[Taint, int], compile_settings: CompileSettings
) -> Plan:
    room = compile_settings.max_tolerations - carries.written
    found = compiled(carries.own, carries.extended, counts, room)
    said = (_cut(compile_settings),) if found.cut else ()
    return Plan(added=found.added, cut=found.cut, notes=(*carries.notes, *said), carried=carries)


def _bound(carries: Carried, taints: tuple[Taint, ...], compile_settings: CompileSettings) -> Plan:
    added = compiled_on_node(carries.own, carries.extended, taints)
    new = guards(carries, taints, compile_settings.max_tolerations)
    keys = carries.guards.keys() | {each.key for each in new}
    known = frozenset() if carries.record.problem else carries.record.keys
    return Plan(
        added=added,
        guards=new,
        moved=tuple(sorted(_misplaced(carries))),
        record=tuple(sorted(keys | known)) if keys - known else None,
        notes=carries.notes,
        carried=carries,
    )


def _misplaced(carries: Carried) -> Iterable[str]:
    """The keys of guards that stand before a toleration which taint-eviction should find first."""
    # A pod may have 10,000 of either: each is looked at once.
    last = {each.key: n for n, each in carries.unguarded() if is_evicting(each)}
    for key, place in carries.guards.items():
        if max(last.get(key, 0), last.get("", 0)) > place:
            yield key


def _cut(compile_settings: CompileSettings) -> Note:
    return Note(
        notes.CUT,
        "the rules match more taints of the cluster than compile.maxTolerations of"
        f" {compile_settings.max_tolerations} allows: those on the fewest nodes are left out",
    )


def narrowed(pod: LivePod, before: Extended, now: Extended | None) -> Note | None:
    """What is to be said if a plain toleration stays that a rule matched and none does any more.

    `now` is None if the pod has no rules any more.
    """
    stale = [
        each
        for each in tolerations_of(pod)
        if before.covers(each) and not (now and now.covers(each))
    ]
    if not stale:
        return None
    shown = ", ".join(f"{each.key}={each.value}:{each.effect}" for each in stale[:3])
    more = " and others" if len(stale) > 3 else ""
    return Note(
        notes.RULE_NARROWED,
        shortened(
            f"no rule of the pod matches {shown}{more} any more, but tolerations cannot be taken"
            " from a pod: create it anew to narrow them"
        ),
    )
