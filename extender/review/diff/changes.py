"""Makes one cluster of another: what if a node had another taint, or a pod other tolerations?"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from msgspec.structs import replace

from extender.config import printing, reading
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match import annotations
from extender.model.core_v1 import Node, NodeSpec, Taint
from extender.review.diff.population import Member
from extender.review.explain.edits import Editor


@dataclass(frozen=True, slots=True)
class TaintChange:
    """A taint that is set on nodes, or removed from them; `node` may have wildcards."""

    node: str
    taint: Taint
    removes: bool = False

    def concerns(self, name: str) -> bool:
        """Whether it is about a node."""
        return fnmatchcase(name, self.node)

    def applied(self, node: Node) -> Node:
        """The node with the change, as `kubectl taint --overwrite` would make it."""
        spec = node.spec or NodeSpec()
        old = spec.taints or ()
        if self.removes:
            return replace(node, spec=replace(spec, taints=tuple(filter(self._stays, old))))
        taint = self.taint
        same = [(each.key, each.effect) == (taint.key, taint.effect) for each in old]
        changed = tuple(taint if is_it else each for each, is_it in zip(old, same, strict=True))
        return replace(node, spec=replace(spec, taints=changed if any(same) else (*old, taint)))

    def _stays(self, taint: Taint) -> bool:
        wanted = self.taint
        return not (
            taint.key == wanted.key
            and wanted.effect in ("", taint.effect)
            and wanted.value in ("", taint.value)
        )


def parse(text: str) -> TaintChange:
    """`NODE=KEY=VALUE:EFFECT`, or with a `-` at its end to remove it; ValueError if it is neither.

    To remove, the value and the effect may be left out.
    """
    node, _, written = text.partition("=")
    removes = written.endswith("-")
    written = written.removesuffix("-")
    if not node or not written:
        raise ValueError(f"must be NODE=KEY=VALUE:EFFECT, or NODE=KEY:EFFECT-, not {text!r}")
    any_effect = removes and ":" not in written
    (taint,) = reading.taints([f"{written}:NoSchedule" if any_effect else written])
    return TaintChange(node, replace(taint, effect="") if any_effect else taint, removes)


def apply(nodes: Iterable[Node], changes: Sequence[TaintChange]) -> Iterator[Node]:
    """The nodes with all changes."""
    for node in nodes:
        name = node.metadata.name if node.metadata else ""
        for change in changes:
            if change.concerns(name):
                node = change.applied(node)
        yield node


@dataclass(frozen=True, slots=True)
class NodeChange:
    """What is different about a node, in words."""

    name: str
    what: tuple[str, ...]


def between(before: Snapshot, after: Snapshot) -> Iterator[NodeChange]:
    """The nodes that scheduling can tell apart."""
    for name, old in before.nodes.items():
        new = after.nodes.get(name)
        what = ("is gone",) if new is None else tuple(_differences(old, new))
        if what:
            yield NodeChange(name, what)
    for name in after.nodes:
        if name not in before.nodes:
            yield NodeChange(name, ("is new",))


def _differences(old: NodeInfo, new: NodeInfo) -> Iterator[str]:
    had, has = list(_described(old)), list(_described(new))
    yield from (f"- {each}" for each in had if each not in has)
    yield from (f"+ {each}" for each in has if each not in had)


def _described(node: NodeInfo) -> Iterator[str]:
    """What scheduling reads of a node, in words."""
    if node.unschedulable:
        yield "cordon"
    for taint in (*node.taints.hard, *node.taints.soft):
        yield f"taint {printing.taint_text(taint)}"
    for key, value in node.labels.items():
        yield f"label {key}={value}"


def with_tolerations(member: Member, text: str, settings: Settings) -> Member:
    """The pod as if its annotation had these tolerations."""
    name = settings.annotation_prefix + annotations.TOLERATIONS
    pod = Editor(settings).with_annotation(member.pod, annotations.TOLERATIONS, text)
    live = member.live
    if live is not None:
        carried = {**(live.metadata.annotations or {}), name: text}
        live = replace(live, metadata=replace(live.metadata, annotations=carried))
    return dataclasses.replace(member, pod=pod, live=live)
