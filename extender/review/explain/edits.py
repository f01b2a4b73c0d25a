"""Changes one rule of a pod, and makes the patch for the change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import yaml
from msgspec import structs
from msgspec.structs import replace

from extender.framework import rules
from extender.framework.interface import Settings
from extender.match.annotations import NODE_AFFINITY, TOLERATIONS
from extender.model.core_v1 import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    ObjectMeta,
    Pod,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
)
from extender.model.documents import Plain
from extender.review.explain.words import NATIVE

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_UNLIMITED: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Editor:
    """Makes changed copies of pods."""

    settings: Settings
    implicit: tuple[Toleration, ...] = ()  # added by a controller, so not part of a patch

    def path(self, carrier: str) -> str:
        """The path of a carrier's tolerations."""
        if carrier == NATIVE:
            return "spec.tolerations"
        return f"metadata.annotations[{self.settings.annotation_prefix}{TOLERATIONS}]"

    def tolerations(self, pod: Pod, carrier: str) -> list[Toleration]:
        """The tolerations of one carrier."""
        native, annotated = rules.written_tolerations(pod, self.settings)
        return list(native if carrier == NATIVE else annotated)

    def with_tolerations(self, pod: Pod, carrier: str, changed: Sequence[Toleration]) -> Pod:
        """The pod with these tolerations in one carrier."""
        if carrier == NATIVE:
            return with_spec(pod, tolerations=tuple(changed))
        return self.with_annotation(pod, TOLERATIONS, text_of(list(map(brief, changed))))

    def with_required(self, pod: Pod, carrier: str, changed: NodeSelector) -> Pod:
        """The pod with these required terms in one carrier."""
        if carrier == NATIVE:
            old = rules.native_affinity(pod) or NodeAffinity()
            return with_spec(pod, affinity=Affinity(replace(old, required=changed)))
        affinity = rules.annotated_affinity(pod, self.settings) or NodeAffinity()
        plain = brief(affinity) | {REQUIRED: brief(changed)}
        return self.with_annotation(pod, NODE_AFFINITY, text_of(plain))

    def required(self, pod: Pod, carrier: str) -> NodeSelector:
        """The required terms of one carrier."""
        native = carrier == NATIVE
        held = (
            rules.native_affinity(pod) if native else rules.annotated_affinity(pod, self.settings)
        )
        return (held and held.required) or NodeSelector()

    def with_requirement(
        self, pod: Pod, carrier: str, index: int, place: int, changed: NodeSelectorRequirement
    ) -> Pod:
        """The pod with another requirement in a required term."""
        terms = list(self.required(pod, carrier).node_selector_terms or ())
        expressions = list(terms[index].match_expressions or ())
        expressions[place] = changed
        terms[index] = replace(terms[index], match_expressions=tuple(expressions))
        return self.with_required(pod, carrier, NodeSelector(tuple(terms)))

    def with_annotation(self, pod: Pod, name: str, text: str) -> Pod:
        """The pod with another text in one of our annotations."""
        meta = pod.metadata or ObjectMeta()
        annotations = (meta.annotations or {}) | {self.settings.annotation_prefix + name: text}
        return replace(pod, metadata=replace(meta, annotations=annotations))

    def patch(self, before: Pod, after: Pod) -> dict[str, Plain]:
        """The strategic merge patch from one pod to the other."""
        patch: dict[str, Plain] = {}
        old = (before.metadata.annotations if before.metadata else None) or {}
        new = (after.metadata.annotations if after.metadata else None) or {}
        changed: dict[str, Plain] = {k: v for k, v in new.items() if old.get(k) != v}
        if changed:
            patch["metadata"] = {"annotations": changed}
        spec = self._changed_spec(before.spec or PodSpec(), after.spec or PodSpec())
        if spec:
            patch["spec"] = spec
        return patch

    def _changed_spec(self, before: PodSpec, after: PodSpec) -> dict[str, Plain]:
        spec: dict[str, Plain] = {}
        if before.node_selector != after.node_selector:
            selector: dict[str, Plain] = dict(after.node_selector or {})
            # A patch removes a key by setting it to null.
            gone = dict.fromkeys(key for key in before.node_selector or {} if key not in selector)
            spec["nodeSelector"] = selector | gone
        if before.affinity != after.affinity and after.affinity and after.affinity.node_affinity:
            required = after.affinity.node_affinity.required
            spec["affinity"] = {"nodeAffinity": {REQUIRED: brief(required)}}
        if before.tolerations != after.tolerations:
            spec["tolerations"] = [
                brief(each) for each in after.tolerations or () if each not in self.implicit
            ]
        if before.topology_spread_constraints != after.topology_spread_constraints:
            spec["topologySpreadConstraints"] = _constraints(after)
        if before.volumes != after.volumes:
            # Volumes are merged by name; we know only those from claims.
            old = before.volumes or ()
            spec["volumes"] = [brief(each) for each in after.volumes or () if each not in old]
        return spec


def _constraints(spec: PodSpec) -> list[Plain]:
    """All constraints; a patch merges them by their topology key, so that must be unique."""
    written = spec.topology_spread_constraints or ()
    listed: list[Plain] = [brief(each) for each in written]
    if len({each.topology_key for each in written}) < len(written):
        listed.insert(0, {"$patch": "replace"})
    return listed


def terms_path(carrier: str, settings: Settings) -> str:
    """The path of a carrier's required terms."""
    native = "spec.affinity.nodeAffinity"
    annotation = f"metadata.annotations[{settings.annotation_prefix}{NODE_AFFINITY}]"
    return f"{native if carrier == NATIVE else annotation}.{REQUIRED}.nodeSelectorTerms"


def with_spec(pod: Pod, **changes: Any) -> Pod:
    """The pod with other fields in its spec."""
    return replace(pod, spec=replace(pod.spec or PodSpec(), **changes))


def with_constraint(pod: Pod, index: int, changed: TopologySpreadConstraint) -> Pod:
    """The pod with one spread constraint changed."""
    constraints = list((pod.spec.topology_spread_constraints if pod.spec else None) or ())
    constraints[index] = changed
    return with_spec(pod, topology_spread_constraints=tuple(constraints))


def brief(value: Any) -> Any:
    """Structs as plain data, without default values."""
    match value:
        case msgspec.Struct():
            fields = ((each, getattr(value, each.name)) for each in structs.fields(value))
            return {each.encode_name: brief(own) for each, own in fields if own != each.default}
        case tuple():
            return [brief(each) for each in value]
        case _:
            return value


class _Dumper(yaml.SafeDumper):
    """YAML as people write it: long texts as blocks, and no anchors."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _text)


def text_of(data: Plain, *, one_line: bool = False) -> str:
    """Plain data as YAML, the innermost collections on one line, or all of it."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=one_line or None,
        allow_unicode=True,
        width=_UNLIMITED,
    )


def line_of(struct: msgspec.Struct) -> str:
    """A rule on one line, as it is written."""
    return text_of(brief(struct), one_line=True).strip()
