"""Who is evicted when the taints of a node change.

Taint-eviction reads `spec.tolerations` alone, and takes the first toleration that matches a taint.
"""

from dataclasses import dataclass

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo
from extender.match import taints
from extender.match.taints import NO_EXECUTE
from extender.model.core_v1 import LivePod, Taint, Toleration
from extender.native import carried, extended
from extender.native.extended import Extended
from extender.native.settings import CompileSettings


@dataclass(frozen=True, slots=True)
class Eviction:
    """The taint that evicts a pod, and after how many seconds."""

    taint: Taint
    seconds: int = 0


def of(
    pod: LivePod,
    before: NodeInfo | None,
    after: NodeInfo,
    settings: Settings,
    compile_settings: CompileSettings,
) -> Eviction | None:
    """The eviction of a running pod that a change of its node causes; None if there is none."""
    old = _evicting(before) if before is not None else ()
    arrived = [taint for taint in _evicting(after) if taint not in old]
    if not arrived:
        return None
    written = carried.tolerations_of(pod)
    guards = carried.guards_among(written, carried.record_of(pod, settings))
    rules = _rules(pod, settings, compile_settings)
    found = []
    for taint in arrived:
        place = _first(written, taint, settings)
        if place is None:
            found.append(Eviction(taint))
            continue
        seconds = written[place].toleration_seconds
        if guards.get(taint.key) == place and rules is not None:
            # The controller that wrote the guard adds what the rule says before it runs out.
            rule = rules.first(taint)
            seconds = extended.seconds_of(rule) if rule is not None else seconds
        if seconds is not None:
            found.append(Eviction(taint, max(seconds, 0)))
    return min(found, key=lambda each: each.seconds, default=None)


def _evicting(node: NodeInfo) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.taints.hard if taint.effect == NO_EXECUTE)


def _first(written: tuple[Toleration, ...], taint: Taint, settings: Settings) -> int | None:
    """The place of the first toleration that matches."""
    for place, toleration in enumerate(written):
        if toleration.key not in ("", taint.key) or not carried.is_evicting(toleration):
            continue
        matchers = taints.compile_tolerations(
            (toleration,), settings.gates, settings.programs, set()
        ).matchers
        if any(matcher.tolerates(taint, set()) for matcher in matchers):
            return place
    return None


def _rules(pod: LivePod, settings: Settings, compile_settings: CompileSettings) -> Extended | None:
    try:
        return carried.extended_of(pod, settings, compile_settings)
    except AnnotationError:
        return None
