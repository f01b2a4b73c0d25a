"""What compile mode makes of a pod: where each plain toleration comes from, and what is missing.

`leeway controller` writes what is computed here. Nothing is known about whether one runs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo
from extender.match import taints
from extender.match.taints import CORDON, Tolerations
from extender.model.core_v1 import LivePod, Node, NodeSpec, Taint, Toleration
from extender.native import carried, compiling, extended, planning
from extender.native.carried import Carried
from extender.native.extended import Extended
from extender.native.planning import Plan, View
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.review.explain.words import ANNOTATION, NATIVE

# The words of the metric `leeway_compile_pods`.
State = Literal["current", "behind", "cut", "refused"]
# own: the pod's author or Kubernetes wrote it. narrowed: its key is that of a rule, and no rule
# matches it.
Origin = Literal["rule", "guard", "narrowed", "own"]


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """One extended rule as it is written, and what carries it."""

    toleration: Toleration
    carrier: str
    compiled: Extended

    def covers(self, plain: Toleration) -> bool:
        """Whether a plain toleration says what this rule says, too."""
        written = self.toleration
        if not written.expression and written.key not in ("", plain.key):
            return False  # by far the most of many rules
        return self.compiled.covers(plain)


@dataclass(frozen=True, slots=True)
class PlainToleration:
    """A plain toleration that a pod has, or that is missing, and where it comes from."""

    toleration: Toleration
    origin: Origin
    rule: WrittenRule | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Compilation:
    """How far a pod with rules is compiled."""

    plan: Plan
    tolerations: tuple[PlainToleration, ...] = ()
    left_out: tuple[PlainToleration, ...] = ()  # by compile.maxTolerations

    @property
    def state(self) -> State:
        """The pod's state, as the controller counts it."""
        if self.plan.invalid:
            return "refused"
        if self.plan.writes:
            return "behind"
        return "cut" if self.plan.cut else "current"

    @property
    def missing(self) -> tuple[Toleration, ...]:
        """What is to be added."""
        return self.plan.added + self.plan.guards

    @property
    def narrowed(self) -> tuple[Toleration, ...]:
        """What the pod tolerates although none of its rules says so any more."""
        return tuple(each.toleration for each in self.tolerations if each.origin == "narrowed")

    @property
    def is_seen(self) -> bool:
        """Whether somebody has compiled the pod: it has a guard, or a toleration of a rule."""
        had = (each for each in self.tolerations if not each.missing)
        return any(each.origin in ("rule", "guard") for each in had)


def view_of(nodes: Iterable[NodeInfo], compile_settings: CompileSettings) -> TaintUniverse:
    """The taints of a cluster, as the controller sees them."""
    universe = TaintUniverse(compile_settings.extra_taints)
    for node in nodes:
        listed = (*node.taints.hard, *node.taints.soft)
        universe.put(node.name, Node(spec=NodeSpec(node.unschedulable, listed)))
    return universe


def of_pod(
    pod: LivePod, view: View, settings: Settings, compile_settings: CompileSettings
) -> Compilation | None:
    """How far a pod is compiled; None if it never is, or has nothing to compile."""
    plan = planning.plan(pod, view, settings, compile_settings)
    carries = plan.carried
    if carries is None:
        return Compilation(plan) if plan.invalid else None
    if not carries.extended and not carries.guards:
        return None
    rules = tuple(written_rules(pod, settings, compile_settings))
    left_out: list[PlainToleration] = []
    if plan.cut:
        whole = compiling.compiled(carries.own, carries.extended, view.counts, len(view.counts))
        left_out += _missing((each for each in whole.added if each not in plan.added), rules)
    return Compilation(plan, tuple(_placed(plan, carries, rules)), tuple(left_out))


def written_rules(
    pod: LivePod, settings: Settings, compile_settings: CompileSettings
) -> Iterator[WrittenRule]:
    """The extended rules of a pod in their order; none of an annotation that is unreadable."""
    native = filter(extended.is_extended, carried.tolerations_of(pod))
    try:
        annotated = carried.annotated(pod, settings)
    except AnnotationError:
        annotated = ()
    for carrier, written in ((NATIVE, native), (ANNOTATION, annotated)):
        for each in written:
            compiled = extended.compile_rules((each,), settings, compile_settings)
            yield WrittenRule(each, carrier, compiled)


def is_daemon(pod: LivePod, settings: Settings, compile_settings: CompileSettings) -> bool:
    """Whether a pod is not compiled for no other reason than that it is a DaemonSet's."""
    free = replace(pod, metadata=replace(pod.metadata, owner_references=None))
    return (
        not planning.is_compiled(pod, compile_settings)
        and planning.is_compiled(free, compile_settings)
        and any(True for _ in written_rules(pod, settings, compile_settings))
    )


def _placed(
    plan: Plan, carries: Carried, rules: tuple[WrittenRule, ...]
) -> Iterator[PlainToleration]:
    """Every plain toleration in the order of the spec, then what is missing."""
    keys = frozenset(rule.toleration.key for rule in rules) - {""}
    guards = frozenset(carries.guards.values())
    for place, each in enumerate(carries.tolerations):
        if place in guards:
            yield PlainToleration(each, "guard")
        elif extended.is_plain(each):
            rule = _rule_of(each, rules)
            if rule is not None:
                yield PlainToleration(each, "rule", rule)
            else:
                stale = each.operator in ("", extended.EQUAL) and each.key in keys
                yield PlainToleration(each, "narrowed" if stale else "own")
    yield from _missing(plan.added, rules)
    for each in plan.guards:
        yield PlainToleration(each, "guard", missing=True)


def _missing(
    wanted: Iterable[Toleration], rules: tuple[WrittenRule, ...]
) -> Iterator[PlainToleration]:
    for each in wanted:
        yield PlainToleration(each, "rule", _rule_of(each, rules), missing=True)


def _rule_of(toleration: Toleration, rules: Iterable[WrittenRule]) -> WrittenRule | None:
    return next((rule for rule in rules if rule.covers(toleration)), None)


def text_of(toleration: Toleration) -> str:
    """A plain toleration in the form of a taint, with its seconds."""
    if toleration.operator == extended.EXISTS:
        text = toleration.key or "every key"
    else:
        text = f"{toleration.key}={toleration.value}"
    text += f":{toleration.effect}" if toleration.effect else ""
    seconds = toleration.toleration_seconds
    return text if seconds is None else f"{text} for {seconds} s"


def opened_by(tolerations: Tolerations, nodes: Iterable[NodeInfo]) -> frozenset[str]:
    """The nodes of which every hard taint, and the cordon, is tolerated."""
    return frozenset(
        node.name
        for node in nodes
        if all(tolerations.tolerates(taint, set()) for taint in hard_taints(node))
    )


def plain_tolerations(carries: Carried, settings: Settings) -> Tolerations:
    """What an unmodified scheduler reads of a pod, a copied guard included."""
    written = [each for each in carries.tolerations if extended.is_plain(each)]
    return taints.compile_tolerations(written, settings.gates, settings.programs, set())


def hard_taints(node: NodeInfo) -> tuple[Taint, ...]:
    """The taints that keep pods away, with what stands for a cordon."""
    return (*node.taints.hard, CORDON) if node.unschedulable else node.taints.hard
