"""Pods that compile mode has not brought up to date, or that tolerate more than their rules say."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.model.core_v1 import LivePod, LivePodMeta, LivePodSpec, Pod, Toleration
from extender.native import carried, compiling
from extender.native.planning import DEFAULT_SCHEDULER, View
from extender.native.settings import CompileSettings
from extender.review import compilation
from extender.review.compilation import Compilation
from extender.review.scan.objects import Ref


@dataclass(frozen=True, slots=True)
class CompiledPod:
    """A pod with rules, and how far it is compiled."""

    ref: Ref
    workload: Ref
    found: Compilation


def judge(
    live: Mapping[Ref, LivePod],
    view: View,
    settings: Settings,
    compile_settings: CompileSettings,
    root: Callable[[Ref], Ref],
) -> Iterator[CompiledPod]:
    """Every pod that compile mode is for."""
    for ref, pod in live.items():
        found = compilation.of_pod(pod, view, settings, compile_settings)
        if found is not None:
            yield CompiledPod(ref, root(ref), found)


def is_chosen(pod: Pod, compile_settings: CompileSettings) -> bool:
    """Whether compile mode is for pods of this one's scheduler."""
    names = compile_settings.scheduler_names
    scheduler = (pod.spec.scheduler_name if pod.spec else "") or DEFAULT_SCHEDULER
    return not names or scheduler in names


def plain_tolerations(
    pod: Pod, view: View, settings: Settings, compile_settings: CompileSettings
) -> tuple[Toleration, ...]:
    """What the rules of a template come to: its author has to write it where nobody else does."""
    annotations = pod.metadata.annotations if pod.metadata else None
    native = (pod.spec.tolerations if pod.spec else None) or ()
    spec = LivePodSpec(tolerations=Raw(msgspec.json.encode(native)))
    live = LivePod(LivePodMeta(annotations=annotations), spec)
    try:
        carries = carried.carried(live, settings, compile_settings)
    except AnnotationError:
        return ()
    return compiling.compiled(
        carries.own, carries.extended, view.counts, room=len(view.counts)
    ).added
