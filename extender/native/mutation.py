"""What the mutating webhook does to a pod on its way into the cluster.

A new pod loses guards that were copied from another pod, and gets what its rules come to. A pod
that is updated gets back what a manifest without it would have dropped: the API server refuses to
take tolerations from a living pod.
"""

from collections.abc import Collection, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from extender.errors import AllowanceError, AnnotationError
from extender.framework.interface import Settings
from extender.match import annotations
from extender.model.core_v1 import LivePod, Toleration
from extender.native import carried, patches
from extender.native.carried import Record
from extender.native.extended import Extended, compile_rules
from extender.native.patches import Edit, Operation
from extender.native.planning import DEFAULT_SCHEDULER, View, is_compiled, plan
from extender.native.settings import CompileSettings

Result = Literal["compiled", "unchanged", "restored", "refused"]

NODE_AFFINITY_REFUSED = (
    "compile mode cannot express node affinity, and a scheduler that does not know the annotation"
    " would place the pod anywhere: use spec.affinity, or a schedulerName that Leeway extends"
)


class Mutation(Struct, frozen=True, gc=False):
    """How a pod is changed, or why it is refused."""

    result: Result
    operations: Sequence[Operation] = ()
    refusal: str = ""


_UNCHANGED = Mutation("unchanged")
_REFUSED = Mutation("refused", refusal=NODE_AFFINITY_REFUSED)


class Mutator:
    """Answers for one configuration; `extended_schedulers` enforce node affinity themselves."""

    def __init__(
        self,
        settings: Settings,
        compile_settings: CompileSettings,
        extended_schedulers: Collection[str] = (),
    ) -> None:
        self._settings = settings
        self._compile = compile_settings
        self._extended_schedulers = frozenset(extended_schedulers)

    def created(self, pod: LivePod, view: View) -> Mutation:
        """A new pod: without copied guards, with what its rules come to."""
        if self._has_lost_affinity(pod, None):
            return _REFUSED
        written = carried.tolerations_of(pod)
        record = carried.record_of(pod, self._settings)
        edit = Edit(_listed(pod), {})
        copied = _copied(written, record)
        for place in reversed(copied):
            edit.remove(place)
        clean = self._without(pod, written, copied)
        edit.add(self._added(clean, view))
        operations = [*edit.operations, *self._forgotten(record)]
        return Mutation("compiled", operations) if operations else _UNCHANGED

    def updated(self, pod: LivePod, old: LivePod) -> Mutation:
        """A pod that changes: with what Leeway had written to it."""
        if self._has_lost_affinity(pod, old):
            return _REFUSED
        if not is_compiled(pod, self._compile):
            return _UNCHANGED
        record = carried.record_of(old, self._settings)
        written, now = carried.tolerations_of(old), carried.tolerations_of(pod)
        guards = carried.guards_among(written, record)
        kept = {_bare(each) for each in now}
        dropped = [n for n, each in enumerate(written) if _bare(each) not in kept]
        before, after = self._rules(old), self._rules(pod)
        places = frozenset(guards.values())
        edit = Edit(_listed(pod), carried.guards_among(now, record))
        edit.add(
            [
                written[n]
                for n in dropped
                if n not in places and (before.covers(written[n]) or after.covers(written[n]))
            ]
        )
        edit.guard([written[n] for n in dropped if n in places])
        operations = [*edit.operations, *self._remembered(pod, record, guards)]
        return Mutation("restored", operations) if operations else _UNCHANGED

    def _added(self, pod: LivePod, view: View) -> Sequence[Toleration]:
        """What rules come to. A guard is never put on a new pod: the controller soon sees it."""
        try:
            return plan(pod, view, self._settings, self._compile).added
        except AllowanceError:
            return ()  # the controller has more time

    def _has_lost_affinity(self, pod: LivePod, old: LivePod | None) -> bool:
        """Whether nobody would enforce the node affinity of an annotation that is new."""
        name = self._settings.annotation_prefix + annotations.NODE_AFFINITY
        text = (pod.metadata.annotations or {}).get(name)
        known = (old.metadata.annotations or {}).get(name) if old is not None else None
        scheduler = pod.spec.scheduler_name or DEFAULT_SCHEDULER
        return (
            text is not None
            and text != known
            and not pod.spec.node_name
            and scheduler not in self._extended_schedulers
            and is_compiled(pod, self._compile)
            and not self._has_plain_affinity(pod)
        )

    def _has_plain_affinity(self, pod: LivePod) -> bool:
        """Whether `leeway compile` wrote the annotation's affinity into the spec."""
        name = self._settings.annotation_prefix + annotations.COMPILED
        text = (pod.metadata.annotations or {}).get(name, "")
        return '"nodeAffinity":' in text

    def _rules(self, pod: LivePod) -> Extended:
        try:
            return carried.extended_of(pod, self._settings, self._compile)
        except (AnnotationError, AllowanceError):
            return compile_rules((), self._settings, self._compile)

    def _without(
        self, pod: LivePod, written: Sequence[Toleration], places: Collection[int]
    ) -> LivePod:
        """The pod without copied guards and their record."""
        left = [each for n, each in enumerate(written) if n not in places]
        kept = {
            name: text
            for name, text in (pod.metadata.annotations or {}).items()
            if name != self._record_name
        }
        return replace(
            pod,
            metadata=replace(pod.metadata, annotations=kept),
            spec=replace(pod.spec, tolerations=msgspec.Raw(msgspec.json.encode(left))),
        )

    def _forgotten(self, record: Record) -> Sequence[Operation]:
        if record.text is None:
            return ()
        return [{"op": "remove", "path": f"/metadata/annotations/{self._record_path}"}]

    def _remembered(
        self, pod: LivePod, record: Record, guards: Collection[str]
    ) -> Sequence[Operation]:
        """The record of the guards that stay, where the update would lose it."""
        now = carried.record_of(pod, self._settings)
        if not guards or (not now.problem and now.keys >= frozenset(guards)):
            return ()
        text = msgspec.json.encode(sorted(record.keys | now.keys | frozenset(guards))).decode()
        if not pod.metadata.annotations:
            return [
                {"op": "add", "path": "/metadata/annotations", "value": {self._record_name: text}}
            ]
        path = f"/metadata/annotations/{self._record_path}"
        return [{"op": "add", "path": path, "value": text}]

    @property
    def _record_name(self) -> str:
        return self._settings.annotation_prefix + annotations.GUARDED_KEYS

    @property
    def _record_path(self) -> str:
        return patches.pointer(self._record_name)


def _copied(written: Sequence[Toleration], record: Record) -> Sequence[int]:
    """The places of guards that came with a record; a key may have several."""
    return [n for n, each in enumerate(written) if carried.is_guard(each, record)]


def _bare(toleration: Toleration) -> Toleration:
    """The toleration without its seconds, which alone may change on a living pod."""
    return replace(toleration, toleration_seconds=None)


def _listed(pod: LivePod) -> Sequence[object] | None:
    listed: Sequence[object] | None = msgspec.json.decode(pod.spec.tolerations)
    return listed
