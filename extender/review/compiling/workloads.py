"""What the rules of a pod or a pod template come to as plain tolerations and node affinity."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.errors import AnnotationError, TooManyTermsError
from extender.framework.interface import Settings
from extender.match import annotations, taints
from extender.model import documents, nulls
from extender.model.core_v1 import NodeAffinity, Taint, Toleration
from extender.model.documents import Plain
from extender.model.positions import Path
from extender.model.workloads import RuledPod
from extender.native import compiling, extended
from extender.native.plain_affinity import LabelValues, has_semver, plain_affinity
from extender.native.settings import CompileSettings
from extender.review import daemons
from extender.review.compiling import record
from extender.review.compiling.claims import DeviceTaints
from extender.review.compiling.edits import Edit, Remark, Rewriting, at, plain
from extender.review.compiling.record import AffinityRecord, Record

TEMPLATES: Final[Mapping[str, Path]] = {
    "Pod": (),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
_TEMPLATE: Final = ("spec", "template")
_TOLERATIONS: Final = ("spec", "tolerations")
_AFFINITY: Final = ("spec", "affinity", "nodeAffinity")
_STALE: Final = (
    "the list of versions is that of today's nodes: a node with another version needs a new"
    " compile, and --check finds it"
)
_REFUSED: Final = (
    "an API server without the feature gate of this operator refuses the field: carry the rule in"
    " the annotation instead"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What compiling has to know of a cluster."""

    taints: Mapping[Taint, int] = field(default_factory=dict)  # and on how many nodes each is
    labels: LabelValues | None = None  # None: no nodes were read
    devices: DeviceTaints = lambda: None


@dataclass(frozen=True, slots=True)
class _Template:
    """A pod template with its path, and who creates its pods."""

    path: Path
    data: Plain
    pod: RuledPod
    kind: str

    @property
    def annotations(self) -> Mapping[str, str]:
        return (self.pod.metadata.annotations if self.pod.metadata else None) or {}

    @property
    def affinity(self) -> NodeAffinity | None:
        affinity = self.pod.spec.affinity if self.pod.spec else None
        return affinity.node_affinity if affinity else None


def rewrite(
    data: Plain, kind: str, facts: Facts, settings: Settings, compile_settings: CompileSettings
) -> Rewriting:
    """What an object that passed validation needs; without rules and record, nothing."""
    path = TEMPLATES.get(kind, _TEMPLATE)
    found = at(data, path)
    if not isinstance(found, dict):
        return Rewriting()
    template = _Template(path, found, nulls.convert(found, RuledPod), kind)
    try:
        before = record.read(template.annotations, settings.annotation_prefix)
        listed = _Listed.of(template, before, settings, compile_settings)
        affinity = _Affinity.of(template, before, facts, settings)
    except (AnnotationError, TooManyTermsError, _EditedError, _NoNodesError) as exc:
        return Rewriting(errors=(Remark(path, str(exc)),))
    added = listed.compiled(facts, compile_settings)
    edits = [
        *listed.edits(added.added),
        *affinity.edits(),
        *_recorded(template, settings, added.added, affinity.recorded),
    ]
    return Rewriting(
        edits=tuple(Edit((*path, *edit.path), edit.value) for edit in edits),
        added=listed.growth(added.added) + affinity.growth(),
        warnings=tuple(
            Remark((*path, *each.path), each.text)
            for each in (*listed.warnings(cut=added.cut), *affinity.warnings())
        ),
    )


def _recorded(
    template: _Template,
    settings: Settings,
    added: Sequence[Toleration],
    affinity: AffinityRecord | None,
) -> Iterator[Edit]:
    name = settings.annotation_prefix + annotations.COMPILED
    text = record.text_of((_taint_of(each) for each in added), affinity)
    if text != template.annotations.get(name):
        yield Edit(("metadata", "annotations", name), text)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The tolerations of a template: those of its author, and those that compile added."""

    listed: Sequence[Plain]  # as they stand in the file
    kept: Sequence[tuple[Plain, Toleration]]  # without what compile added
    recorded: frozenset[Taint]
    rules: extended.Extended
    own: taints.Tolerations

    @classmethod
    def of(
        cls,
        template: _Template,
        before: Record,
        settings: Settings,
        compile_settings: CompileSettings,
    ) -> "_Listed":
        found = at(template.data, _TOLERATIONS)
        listed = found if isinstance(found, list) else []
        parsed = (template.pod.spec.tolerations if template.pod.spec else None) or ()
        recorded = before.taints
        kept = [
            (written, each)
            for written, each in zip(listed, parsed, strict=True)
            if not (each.operator == extended.EQUAL and _taint_of(each) in recorded)
        ]
        annotated = annotations.tolerations(
            template.annotations, settings.annotation_prefix, settings.annotation_bytes
        )
        native = tuple(each for _, each in kept if extended.is_extended(each))
        own = [each for _, each in kept if extended.is_plain(each)]
        if template.kind == "DaemonSet":
            own += daemons.TOLERATIONS
        return cls(
            listed,
            kept,
            recorded,
            extended.compile_rules((*native, *annotated), settings, compile_settings),
            taints.compile_tolerations(own, settings.gates, settings.programs, set()),
        )

    def compiled(self, facts: Facts, compile_settings: CompileSettings) -> compiling.Compiled:
        """What to add. What was added before stays as long as a rule matches it.

        A node group that is scaled to zero must not change every template.
        """
        written = sum(self.rules.covers(each) for _, each in self.kept)
        universe = {**dict.fromkeys(self.recorded, 0), **facts.taints}
        room = compile_settings.max_tolerations - written
        return compiling.compiled(self.own, self.rules, universe, room)

    def edits(self, added: Sequence[Toleration]) -> Iterator[Edit]:
        new = [*(written for written, _ in self.kept), *map(plain, added)]
        if new != self.listed:
            yield Edit(_TOLERATIONS, new or None)

    def growth(self, added: Sequence[Toleration]) -> int:
        return sum(_taint_of(each) not in self.recorded for each in added)

    def warnings(self, *, cut: bool) -> Iterator[Remark]:
        if cut:
            yield Remark(
                _TOLERATIONS,
                "the rules match more taints than compile.maxTolerations allows: those on the"
                " fewest nodes are left out",
            )
        for place, (_, each) in enumerate(self.kept):
            if extended.is_extended(each):
                yield Remark((*_TOLERATIONS, place), _REFUSED)


@dataclass(frozen=True, slots=True)
class _Affinity:
    """The node affinity of a template, as it is and as it should be."""

    now: Plain
    wanted: Plain
    recorded: AffinityRecord | None
    is_alone: bool  # whether the pod has no affinity to other pods

    @classmethod
    def of(
        cls, template: _Template, before: Record, facts: Facts, settings: Settings
    ) -> "_Affinity":
        now = documents.without_nulls(at(template.data, _AFFINITY))
        around = documents.without_nulls(at(template.data, _AFFINITY[:-1]))
        is_alone = isinstance(around, dict) and len(around) == 1
        own = template.affinity
        if before.node_affinity is not None:
            if record.digest_of(now) != before.node_affinity.digest:
                raise _EditedError
            own = before.node_affinity.own
        annotated = annotations.node_affinity(
            template.annotations, settings.annotation_prefix, settings.annotation_bytes
        )
        if annotated is None and not has_semver(own):
            wanted = now if before.node_affinity is None else record.plain_of(own)
            return cls(now, wanted, None, is_alone)
        if facts.labels is None:
            raise _NoNodesError
        wanted = record.plain_of(plain_affinity(own, annotated, facts.labels, settings.gates))
        return cls(now, wanted, AffinityRecord(record.digest_of(wanted), own), is_alone)

    def edits(self) -> Iterator[Edit]:
        if self.wanted is None and self.now is not None and self.is_alone:
            yield Edit(_AFFINITY[:-1], None)
        elif self.wanted != self.now:
            yield Edit(_AFFINITY, self.wanted)

    def growth(self) -> int:
        return max(0, _values(self.wanted) - _values(self.now)) if self.recorded else 0

    def warnings(self) -> Iterator[Remark]:
        if self.recorded is not None and self.wanted != self.now:
            yield Remark(_AFFINITY, _STALE)


class _EditedError(Exception):
    """Somebody changed what compile wrote."""

    def __str__(self) -> str:
        return (
            "spec.affinity.nodeAffinity was changed after leeway compile wrote it: undo the change"
            " and make it in the annotation, or remove the annotation of the record to make it"
            " your own"
        )


class _NoNodesError(Exception):
    """Versions cannot be listed without nodes."""

    def __str__(self) -> str:
        return (
            "a node affinity that compares versions needs the labels of nodes: give --cluster PATH"
            " or a kubeconfig, instead of --taint"
        )


def _taint_of(toleration: Toleration) -> Taint:
    return Taint(toleration.key, toleration.value, toleration.effect)


def _values(data: Plain) -> int:
    """How many values all requirements have."""
    if isinstance(data, dict):
        values = data.get("values")
        own = len(values) if isinstance(values, list) else 0
        return own + sum(_values(each) for key, each in data.items() if key != "values")
    return sum(map(_values, data)) if isinstance(data, list) else 0
