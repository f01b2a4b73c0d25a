"""A plan as one JSON patch, which the API server refuses if the pod is not as it was seen.

It tests the uid, because a name may have come to another pod, and the tolerations, because a
second writer may have been faster: then nothing is written twice, and no `Equal` behind a guard.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from extender.match import annotations
from extender.model.core_v1 import LivePod, Toleration
from extender.native.planning import Plan

Operation = Mapping[str, Any]

LIST: Final = "/spec/tolerations"
_ANNOTATIONS: Final = "/metadata/annotations"


def patch(pod: LivePod, plan: Plan, prefix: str) -> Sequence[Operation]:
    """The operations that carry a plan out; none if there is nothing to write."""
    if not plan.writes or plan.carried is None:
        return ()
    listed = msgspec.json.decode(pod.spec.tolerations)
    edit = Edit(listed, plan.carried.guards)
    edit.move(plan.moved)
    edit.add(plan.added)
    edit.guard(plan.guards)
    return [
        _op("test", "/metadata/uid", pod.metadata.uid),
        *([_op("test", LIST, listed)] if edit.operations else ()),
        *edit.operations,
        *_recorded(pod, plan, prefix),
    ]


class Edit:
    """Operations on a list of tolerations, each of which knows what those before it did."""

    def __init__(self, listed: Sequence[Any] | None, guards: Mapping[str, int]) -> None:
        self.operations: list[Operation] = []
        self._exists = listed is not None
        self._places: list[str | None] = [None] * len(listed or ())  # the key where a guard is
        for key, place in guards.items():
            self._places[place] = key

    def move(self, keys: Sequence[str]) -> None:
        """Put these guards behind all other tolerations."""
        for key in keys:
            place, last = self._places.index(key), len(self._places) - 1
            if place != last:
                self._places.append(self._places.pop(place))
                source = f"{LIST}/{place}"
                self.operations.append({"op": "move", "from": source, "path": f"{LIST}/{last}"})

    def add(self, tolerations: Sequence[Toleration]) -> None:
        """Add tolerations before every guard, in their order."""
        guarded = (n for n, key in enumerate(self._places) if key is not None)
        first = next(guarded, len(self._places))
        for offset, each in enumerate(tolerations):
            self._insert(first + offset, each, None)

    def guard(self, tolerations: Sequence[Toleration]) -> None:
        """Add guards behind all others."""
        for each in tolerations:
            self._insert(len(self._places), each, each.key)

    def remove(self, place: int) -> None:
        """Take one away, which only a pod that is not stored yet allows."""
        del self._places[place]
        self.operations.append({"op": "remove", "path": f"{LIST}/{place}"})

    def _insert(self, place: int, toleration: Toleration, key: str | None) -> None:
        if not self._exists:
            self.operations.append(_op("add", LIST, []))
            self._exists = True
        self._places.insert(place, key)
        self.operations.append(_op("add", f"{LIST}/{place}", msgspec.to_builtins(toleration)))


def _recorded(pod: LivePod, plan: Plan, prefix: str) -> Sequence[Operation]:
    """The record, where it must change, unless another one wrote it meanwhile."""
    if plan.record is None or plan.carried is None:
        return ()
    name, text = prefix + annotations.GUARDED_KEYS, msgspec.json.encode(plan.record).decode()
    if not pod.metadata.annotations:
        return [_op("test", _ANNOTATIONS, None), _op("add", _ANNOTATIONS, {name: text})]
    path = f"{_ANNOTATIONS}/{pointer(name)}"
    return [_op("test", path, plan.carried.record.text), _op("add", path, text)]


def pointer(name: str) -> str:
    """A key as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _op(op: str, path: str, value: Any) -> Operation:
    return {"op": op, "path": path, "value": value}
