"""Collects what a scan sees: rules and their users, pending pods, volumes and owners."""

from dataclasses import dataclass, field
from typing import Final

from extender.framework.interface import Settings
from extender.model.core_v1 import LivePod, Pod
from extender.review.scan import usage
from extender.review.scan.objects import (
    Ref,
    Scanned,
    ScannedPod,
    ScannedVolume,
    owner_of,
    ref_of,
)
from extender.review.scan.usage import Usage
from extender.review.subjects import Carrier

_MAX_OWNERS: Final = 8


@dataclass(slots=True)
class Inventory:
    """Collects objects one by one; keeps only those with rules and pending pods."""

    settings: Settings
    _names: dict[str, set[str]] = field(default_factory=dict)
    owners: dict[Ref, Ref] = field(default_factory=dict)
    usages: dict[Ref, list[Usage]] = field(default_factory=dict)
    templates: dict[Ref, Pod] = field(default_factory=dict)  # pods and templates with rules
    unreadable: dict[Ref, list[Carrier]] = field(default_factory=dict)
    waiting: dict[Ref, Pod] = field(default_factory=dict)
    live: dict[Ref, LivePod] = field(default_factory=dict)  # pods with rules, not templates
    volumes: dict[Ref, ScannedVolume] = field(default_factory=dict)  # volumes with the annotation

    def add(self, kind: str, obj: Scanned) -> None:
        """Add an object, or replace it if it comes again."""
        ref = ref_of(kind, obj.metadata)
        self._names.setdefault(kind, set()).add(f"{ref.namespace}/{ref.name}")
        self._forget(ref)
        if isinstance(obj, ScannedVolume):
            usages, broken = usage.of_volume(obj, self.settings)
            if any(each.annotated for each in usages):
                self.volumes[ref] = obj
        else:
            if isinstance(obj, ScannedPod) and obj.ended:
                return
            pod = obj.template()
            usages, broken = usage.of_pod(pod, self.settings)
            if usages or broken:
                self.templates[ref] = pod
            if isinstance(obj, ScannedPod):
                self._keep(ref, obj, pod)
        owner = owner_of(obj.metadata)
        # Pods own nothing, so pods without rules need not be kept.
        if owner is not None and (kind != "Pod" or usages or broken or ref in self.waiting):
            self.owners[ref] = owner
        if usages:
            self.usages[ref] = usages
        if broken:
            self.unreadable[ref] = broken

    def _forget(self, ref: Ref) -> None:
        for kept in (self.owners, self.usages, self.templates, self.unreadable, self.waiting):
            kept.pop(ref, None)
        self.volumes.pop(ref, None)
        self.live.pop(ref, None)

    def _keep(self, ref: Ref, obj: ScannedPod, pod: Pod) -> None:
        if ref in self.templates:
            self.live[ref] = obj.live()
        if obj.waits:
            self.waiting[ref] = pod

    @property
    def seen(self) -> dict[str, int]:
        """The number of objects by kind."""
        return {kind: len(names) for kind, names in self._names.items()}

    def root(self, ref: Ref) -> Ref:
        """The topmost owner, such as the Deployment of a ReplicaSet's pod."""
        for _ in range(_MAX_OWNERS):  # bounded: references may form a cycle
            ref = self.owners.get(ref, ref)
        return ref
