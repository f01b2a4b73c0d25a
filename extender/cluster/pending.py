"""The pods that wait for a node, with the rules by which they are judged.

They come from the watch, so after a restart it is known who waits. The pods of one workload
mostly have the same rules: those are kept once, as the bytes of a pod, because decoded rules
take up to ten times the memory.
"""

from collections.abc import Collection, Iterable
from typing import Final

import msgspec
from msgspec import Struct

from extender import plugins
from extender.cluster.resources import Key
from extender.match import annotations
from extender.model.core_v1 import ObjectMeta, PendingPod, Pod, PodCondition, PodSpec
from extender.model.nulls import Decoder

# What a pod that Leeway has woken carries in its status.
SCHEDULABLE: Final = "Schedulable"
# What the rules of one pod may take, and those of all pods together. A pod whose rules are not
# kept is not looked after: filter then answers an Error, which kube-scheduler retries by itself.
MAX_POD_BYTES: Final = 1 << 20
MAX_BYTES: Final = 1 << 25

_SCHEDULED: Final = "PodScheduled"
_UNSCHEDULABLE: Final = "Unschedulable"
_ENCODE: Final = msgspec.json.Encoder(order="deterministic").encode
_POD: Final = msgspec.json.Decoder(Pod)
_LABELS: Final[Decoder[dict[str, str] | None]] = Decoder(dict[str, str] | None)


class Rules:
    """What of a pod decides where it fits, and what of the cluster that depends on."""

    __slots__ = ("body", "pods", "resources")

    def __init__(self, body: bytes, resources: frozenset[str]) -> None:
        self.body = body
        self.resources = resources
        self.pods = 0  # how many have them

    def pod(self) -> Pod:
        """A pod with these rules."""
        return _POD.decode(self.body)


class WaitingPod(Struct, frozen=True, gc=False):
    """One pod without a node."""

    key: Key
    uid: str
    scheduler_name: str
    rules: Rules | None  # None: they are too large to be kept
    refused: bool  # its last attempt failed, and the message has a reason of ours
    schedulable: str  # since when our condition is True; empty: it is not
    annotated: bool  # it has an annotation of ours


class PendingPods:
    """The pods without a node that Leeway looks after."""

    def __init__(
        self,
        scheduler_names: Collection[str] = (),
        annotation_prefix: str = "",
        *,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._scheduler_names = scheduler_names  # empty: those of all schedulers
        self._prefix = annotation_prefix
        self._left = max_bytes
        self._pods: dict[Key, WaitingPod] = {}
        self._rules: dict[bytes, Rules] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def get(self, key: Key) -> WaitingPod | None:
        """One pod, if it waits."""
        return self._pods.get(key)

    def values(self) -> Iterable[WaitingPod]:
        """All of them, the longest waiting first."""
        return self._pods.values()

    def put(self, key: Key, pod: PendingPod) -> None:
        """A pod came, or changed."""
        if pod.metadata.deletion_timestamp or pod.spec.scheduling_gates or not self._is_ours(pod):
            self.remove(key)
            return
        old = self._pods.get(key)
        rules = self._kept(pod)
        self._pods[key] = WaitingPod(
            key,
            pod.metadata.uid,
            pod.spec.scheduler_name,
            rules,
            _is_refused(pod.status.conditions or ()),
            _schedulable_since(pod.status.conditions or (), self._prefix + SCHEDULABLE),
            any(name.startswith(self._prefix) for name in pod.metadata.annotations or ()),
        )
        if old is not None:
            self._release(old.rules)

    def remove(self, key: Key) -> None:
        """A pod has a node, or is gone."""
        old = self._pods.pop(key, None)
        if old is not None:
            self._release(old.rules)

    def _is_ours(self, pod: PendingPod) -> bool:
        """Pods of other profiles are judged, too, but only by their annotation."""
        if not self._scheduler_names or pod.spec.scheduler_name in self._scheduler_names:
            return True
        return self._prefix + annotations.NODE_AFFINITY in (pod.metadata.annotations or {})

    def _kept(self, pod: PendingPod) -> Rules | None:
        ruling = _ruling(pod, self._prefix)
        body = _ENCODE(ruling)
        rules = self._rules.get(body)
        if rules is None:
            if len(body) > min(MAX_POD_BYTES, self._left):
                return None
            self._left -= len(body)
            rules = self._rules[body] = Rules(body, _resources(ruling))
        rules.pods += 1
        return rules

    def _release(self, rules: Rules | None) -> None:
        if rules is None:
            return
        rules.pods -= 1
        if not rules.pods:
            del self._rules[rules.body]
            self._left += len(rules.body)


def _ruling(pod: PendingPod, prefix: str) -> Pod:
    """Only what verdicts depend on, so that the pods of one workload look the same."""
    meta, spec = pod.metadata, pod.spec
    volumes = tuple(v for v in spec.volumes or () if v.persistent_volume_claim or v.ephemeral)
    counts = bool(spec.topology_spread_constraints)
    # The claim of a generic ephemeral volume is named after its pod, and a nominated pod counts on
    # its node for everybody but itself.
    is_known = any(v.ephemeral for v in volumes) or bool(pod.status.nominated_node_name)
    kept = {k: v for k, v in (meta.annotations or {}).items() if k.startswith(prefix)}
    return Pod(
        ObjectMeta(
            name=meta.name if is_known else "",
            namespace=meta.namespace if counts or volumes or is_known else "",
            uid=meta.uid if is_known else "",
            labels=_LABELS.decode(meta.labels) if counts else None,
            annotations=kept or None,
        ),
        PodSpec(
            scheduler_name=spec.scheduler_name,
            node_selector=spec.node_selector,
            affinity=spec.affinity,
            tolerations=spec.tolerations,
            topology_spread_constraints=spec.topology_spread_constraints,
            volumes=volumes or None,
            priority=spec.priority if counts else None,
        ),
    )


def _resources(pod: Pod) -> frozenset[str]:
    """What the verdicts on a pod depend on."""
    judges = ["TaintToleration"]
    if pod.spec is not None and pod.spec.topology_spread_constraints:
        judges.append("PodTopologySpread")
    if pod.spec is not None and pod.spec.volumes:
        judges.append("VolumeBinding")
    return plugins.resources(judges)


def _is_refused(conditions: Iterable[PodCondition]) -> bool:
    """Whether the last attempt failed, and for a reason that Leeway gives."""
    return any(
        each.type == _SCHEDULED
        and each.status == "False"
        and each.reason == _UNSCHEDULABLE
        and plugins.is_reason_in(each.message)
        for each in conditions
    )


def _schedulable_since(conditions: Iterable[PodCondition], name: str) -> str:
    found = (each for each in conditions if each.type == name and each.status == "True")
    return next((each.last_transition_time or "" for each in found), "")
