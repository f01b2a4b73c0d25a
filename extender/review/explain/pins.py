"""Rules that name nodes: a pod that has one is helped there first."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.errors import AnnotationError
from extender.framework.interface import Profile, Settings
from extender.framework.snapshot import NodeInfo
from extender.match.selectors import NAME_FIELD
from extender.model.core_v1 import NodeSelectorTerm, Pod
from extender.plugins.node_affinity import NodeAffinity
from extender.review.explain.affinity import derivation
from extender.review.explain.schema import Pin

HOSTNAME: Final = "kubernetes.io/hostname"
MAX_NODES: Final = 10

# What names nodes, and which of them: by their name, or by the label HOSTNAME.
_Named = tuple[str, frozenset[str], bool]


def of(pod: Pod, profile: Profile, settings: Settings, nodes: Sequence[NodeInfo]) -> Pin | None:
    """The rules that name nodes, if there are any, and the nodes that all of them name."""
    plugin = next((each for each in profile.filters if isinstance(each, NodeAffinity)), None)
    if plugin is None:
        return None
    try:
        named = list(_named(pod, settings, annotation_only=plugin.annotation_only))
    except AnnotationError:
        return None
    if not named:
        return None
    found = [
        node.name
        for node in nodes
        if all(_name(node, by_label=by_label) in values for _, values, by_label in named)
    ]
    return Pin(tuple(text for text, _, _ in named), tuple(found[:MAX_NODES]))


def _named(pod: Pod, settings: Settings, *, annotation_only: bool) -> Iterator[_Named]:
    selector = (pod.spec.node_selector if pod.spec else None) or {}
    if HOSTNAME in selector and not annotation_only:
        host = selector[HOSTNAME]
        yield f"nodeSelector {HOSTNAME}={host}", frozenset({host}), True
    for carrier, required in derivation.required_selectors(
        pod, settings, annotation_only=annotation_only
    ):
        terms = required.node_selector_terms or ()
        by_term = [_by_term(term) for term in terms]
        if not by_term or not all(by_term):
            continue  # a term that names no node lets others pass
        for by_label in (True, False):
            kinds = [[each for each in found if each[1] is by_label] for found in by_term]
            if all(kinds):
                values = frozenset[str]().union(*(each[0][0] for each in kinds))
                key = HOSTNAME if by_label else NAME_FIELD
                listed = ", ".join(sorted(values)[:MAX_NODES])
                yield f"{carrier} node affinity {key} In {listed}", values, by_label


def _by_term(term: NodeSelectorTerm) -> list[tuple[frozenset[str], bool]]:
    """The nodes that a term names, by the label and by the name."""
    return [
        (frozenset(each.values or ()), by_label)
        for by_label, key, rules in (
            (True, HOSTNAME, term.match_expressions),
            (False, NAME_FIELD, term.match_fields),
        )
        for each in rules or ()
        if each.key == key and each.operator == "In"
    ]


def _name(node: NodeInfo, *, by_label: bool) -> str | None:
    return node.labels.get(HOSTNAME) if by_label else node.name
