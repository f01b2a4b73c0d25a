"""Collects what a scan sees: rules and their users, pending pods, volumes and owners."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from extender.framework.interface import Settings
from extender.model.core_v1 import LivePod, Pod
from extender.review.pitfalls import Pitfall
from extender.review.scan import usage
from extender.review.scan.objects import (
    Ref,
    Scanned,
    ScannedPod,
    ScannedVolume,
    cron_job_of,
    deployment_of,
    owner_of,
    ref_of,
    ruled_of,
)
from extender.review.scan.selection import Selection
from extender.review.scan.usage import Usage
from extender.review.subjects import Carrier
from extender.review.validation import Review

_MAX_OWNERS: Final = 8


@dataclass(slots=True)
class Inventory:
    """Collects objects one by one; keeps only those with rules and pending pods."""

    settings: Settings
    selection: Selection = field(default_factory=Selection)
    _names: dict[str, set[str]] = field(default_factory=dict)
    owners: dict[Ref, Ref] = field(default_factory=dict)
    usages: dict[Ref, list[Usage]] = field(default_factory=dict)
    templates: dict[Ref, Pod] = field(default_factory=dict)  # pods and templates with rules
    unreadable: dict[Ref, list[Carrier]] = field(default_factory=dict)
    waiting: dict[Ref, Pod] = field(default_factory=dict)
    live: dict[Ref, LivePod] = field(default_factory=dict)  # pods with rules, not templates
    volumes: dict[Ref, ScannedVolume] = field(default_factory=dict)  # volumes with the annotation
    mistakes: dict[Ref, tuple[Pitfall, ...]] = field(default_factory=dict)  # of spelling and place
    _workloads: set[Ref] = field(default_factory=set)  # all that were seen, selected or not
    _named_owners: dict[Ref, Ref] = field(default_factory=dict)  # of ReplicaSets that were not seen
    _known_mistakes: dict[bytes, tuple[Pitfall, ...]] = field(default_factory=dict)

    def add(self, kind: str, obj: Scanned) -> None:
        """Add an object, or replace it if it comes again."""
        ref = ref_of(kind, obj.metadata)
        self._forget(ref)
        if kind != "Pod":
            self._workloads.add(ref)
        if self.selection.takes(obj):
            self._names.setdefault(kind, set()).add(f"{ref.namespace}/{ref.name}")
            self._collect(ref, obj)
        else:
            self._keep_owner(ref, obj)

    def _collect(self, ref: Ref, obj: Scanned) -> None:
        self._look_for_mistakes(ref, obj)
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
        # Pods own nothing, so pods without rules need not be kept.
        if ref.kind != "Pod" or usages or broken or ref in self.waiting or ref in self.mistakes:
            self._keep_owner(ref, obj)
        if usages:
            self.usages[ref] = usages
        if broken:
            self.unreadable[ref] = broken

    def _keep_owner(self, ref: Ref, obj: Scanned) -> None:
        owner = owner_of(obj.metadata)
        if owner is None:
            return
        self.owners[ref] = owner
        deployment = deployment_of(owner, obj.metadata.labels)
        if deployment is not None:
            self._named_owners[owner] = deployment

    def _look_for_mistakes(self, ref: Ref, obj: Scanned) -> None:
        """Find misspelt and misplaced rules; thousands of pods have the same ones, or none."""
        ruled = ruled_of(obj, self.settings.annotation_prefix)
        lives = bool(obj.metadata.uid)
        key = msgspec.json.encode((ref.kind, lives, ruled))
        found = self._known_mistakes.get(key)
        if found is None:
            found = Review(ruled, None, self.settings).mistakes(lives=lives)
            self._known_mistakes[key] = found
        if found:
            self.mistakes[ref] = found

    def _forget(self, ref: Ref) -> None:
        for kept in (self.owners, self.usages, self.templates, self.unreadable, self.waiting):
            kept.pop(ref, None)
        self.volumes.pop(ref, None)
        self.mistakes.pop(ref, None)
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
            owner = self._owner(ref)
            if owner is None:
                break
            ref = owner
        return ref

    def has_seen(self, ref: Ref) -> bool:
        """Whether a workload or volume was seen, selected or not."""
        return ref in self._workloads

    def _owner(self, ref: Ref) -> Ref | None:
        """The owner of an object; of one that is only named, what its name and its pods tell."""
        if ref in self.owners or self.has_seen(ref):
            return self.owners.get(ref)
        maker = cron_job_of(ref)
        if maker is not None and self.has_seen(maker):
            return maker
        return self._named_owners.get(ref)
