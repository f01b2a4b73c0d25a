"""Fixes for an annotation that cannot be read: quotes, brackets, a misspelt field."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from extender.errors import AnnotationError, DocumentError
from extender.framework import rules
from extender.framework.interface import Settings
from extender.match.annotations import NODE_AFFINITY, TOLERATIONS
from extender.model import documents
from extender.model.core_v1 import Pod
from extender.model.documents import Plain
from extender.review.explain import nearness
from extender.review.explain.edits import REQUIRED, Editor, text_of
from extender.review.explain.proposals import INCURABLE, Case, Edit, Estimate, Proposal
from extender.review.explain.schema import Change
from extender.review.explain.words import quoted

_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_FIELDS: Final = {
    TOLERATIONS: ("key", "operator", "value", "effect", "tolerationSeconds", "expression"),
    NODE_AFFINITY: (
        REQUIRED,
        _PREFERRED,
        "nodeSelectorTerms",
        "matchExpressions",
        "matchFields",
        "key",
        "operator",
        "values",
        "weight",
        "preference",
    ),
}
_COST: Final = 0.5
_NUMBERS: Final = frozenset({"tolerationSeconds", "weight"})


@dataclass(frozen=True, slots=True)
class AnnotationCure:
    """For any plugin that cannot read one of the pod's annotations."""

    settings: Settings
    plugin: str

    def obstacles(self, case: Case) -> int:
        """How many annotations cannot be read."""
        return len(unreadable(case.pod, self.settings))

    def facet(self, _case: Case) -> Hashable:
        """Every node is refused."""
        return None

    def estimate(self, case: Case) -> Estimate:
        """One change for each annotation."""
        count = self.obstacles(case)
        curable = sum(1 for _ in self.proposals(case)) == count
        return Estimate(count, count * _COST) if curable else INCURABLE

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """The same annotations with obvious mistakes corrected."""
        for name in unreadable(case.pod, self.settings):
            yield from self._mended(case, name)

    def _mended(self, case: Case, name: str) -> Iterator[Proposal]:
        annotations = (case.pod.metadata.annotations if case.pod.metadata else None) or {}
        full = self.settings.annotation_prefix + name
        mender = _Mender(_FIELDS[name])
        mended = mender.mended(annotations[full], self.settings, as_list=name == TOLERATIONS)
        if mended is None:
            return
        said = "; ".join(dict.fromkeys(mender.said))
        path = f"metadata.annotations[{full}]"
        change = Change(self.plugin, said, path, annotations[full], mended)
        pod = Editor(self.settings).with_annotation(case.pod, name, mended)
        if readable(pod, name, self.settings):
            yield Proposal(_COST, partial(Edit, change, pod, case.node))

    def advice(self, _case: Case) -> list[str]:
        """The reason itself says what is wrong."""
        return ["correct the annotation: every node is refused until then"]


def unreadable(pod: Pod, settings: Settings) -> list[str]:
    """The annotations that cannot be read."""
    return [name for name in _FIELDS if not readable(pod, name, settings)]


def readable(pod: Pod, name: str, settings: Settings) -> bool:
    """Whether an annotation can be read."""
    try:
        if name == TOLERATIONS:
            rules.written_tolerations(pod, settings)
        else:
            rules.annotated_affinity(pod, settings)
    except AnnotationError:
        return False
    return True


class _Mender:
    """Corrects mistakes that need no guess about the meaning of a rule."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        self._fields = fields
        self.said: list[str] = []

    def mended(self, text: str, settings: Settings, *, as_list: bool) -> str | None:
        try:
            data = documents.parse_one(text, settings.annotation_bytes, max_values=2_000)
            if as_list and isinstance(data, dict):
                self.said.append(
                    "one toleration is written where a list belongs: begin with a dash"
                )
                data = [data]
            changed = self._walk(documents.without_nulls(data), "")
        except DocumentError:
            return None
        return text_of(changed) if self.said else None

    def _walk(self, value: Plain, field: str) -> Plain:
        match value:
            case dict():
                return {self._name(key): self._walk(v, self._name(key)) for key, v in value.items()}
            case list():
                return [self._walk(each, field) for each in value]
            case bool() | int() | float() if field and field not in _NUMBERS:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                self.said.append(f"{field}: {text} is not text: put it in quotes")
                return text
            case _:
                return value

    def _name(self, key: str) -> str:
        if key in self._fields:
            return key
        meant = nearness.spelling(key, self._fields)
        if meant is None:
            return key
        self.said.append(f"field {quoted(key)} is unknown: did you mean {quoted(meant)}?")
        return meant
