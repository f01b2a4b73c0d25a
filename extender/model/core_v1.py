"""`core/v1` objects, only the fields that scheduling reads.

Decoding skips unknown fields. Go sends `null` for an empty list, map or pointer, so each of those
accepts None. It takes a `null` for anything else as well: that is read by `model.nulls`.
`gc=False`: a decoded object is a tree, so the cycle collector need not visit it.
`omit_defaults`: what rules take in memory is estimated from their text, see `match.lru`.
"""

from msgspec import Raw, Struct, field


class Taint(Struct, frozen=True, gc=False):
    """One taint of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""


class Toleration(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One toleration of a pod; `expression` is KEP-5500's field."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None
    expression: str = ""


class NodeSelectorRequirement(Struct, frozen=True, gc=False, omit_defaults=True):
    """A key, an operator and its values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Requirements that must all hold."""

    match_expressions: tuple[NodeSelectorRequirement, ...] | None = None
    match_fields: tuple[NodeSelectorRequirement, ...] | None = None


class NodeSelector(Struct, frozen=True, gc=False, rename="camel"):
    """Terms; at least one must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredSchedulingTerm(Struct, frozen=True, gc=False):
    """A term that adds its weight to the score of a node it matches."""

    weight: int = 0
    preference: NodeSelectorTerm | None = None


class NodeAffinity(Struct, frozen=True, gc=False):
    """Which nodes a pod requires, and which it prefers."""

    required: NodeSelector | None = field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredSchedulingTerm, ...] | None = field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Struct, frozen=True, gc=False, rename="camel"):
    """The part of a pod's affinity that is about nodes."""

    node_affinity: NodeAffinity | None = None


class ObjectMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Name, namespace, UID, labels and annotations of an object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class LabelSelectorRequirement(Struct, frozen=True, gc=False):
    """A key, an operator and its values, compared with the labels of a pod."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Struct, frozen=True, gc=False, rename="camel"):
    """Selects pods; every part must match."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] | None = None


class TopologySpreadConstraint(Struct, frozen=True, gc=False, rename="camel"):
    """How evenly pods must be spread over the domains of a topology key."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class ClaimSource(Struct, frozen=True, gc=False, rename="camel"):
    """A claim that a pod names."""

    claim_name: str = ""


class EphemeralSource(Struct, frozen=True, gc=False):
    """A claim that is created for the pod; its template is not read."""


class Volume(Struct, frozen=True, gc=False, rename="camel"):
    """One volume of a pod; only volumes from claims matter."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None


class PodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What a pod asks of a node."""

    scheduler_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    priority: int | None = None


class Pod(Struct, frozen=True, gc=False):
    """A pod to schedule, or a victim of preemption."""

    metadata: ObjectMeta | None = None
    spec: PodSpec | None = None


class NodeSpec(Struct, frozen=True, gc=False):
    """The taints and the cordon of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class Node(Struct, frozen=True, gc=False):
    """A node, from the API server or from a request."""

    metadata: ObjectMeta | None = None
    spec: NodeSpec | None = None


class PlacedPodMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Metadata of a pod; the labels stay raw bytes, which are the key of a lookup."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: Raw = Raw(b"null")


class PlacedPodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The node that a pod is bound to, and its priority."""

    node_name: str = ""
    priority: int | None = None


class PlacedPodStatus(Struct, frozen=True, gc=False, rename="camel"):
    """The phase of a pod, and the node that it is nominated to."""

    phase: str = ""
    nominated_node_name: str = ""


class PlacedPod(Struct, frozen=True, gc=False):
    """A pod from the watch: where it counts, not what it requires."""

    metadata: PlacedPodMeta
    spec: PlacedPodSpec = field(default_factory=PlacedPodSpec)
    status: PlacedPodStatus = field(default_factory=PlacedPodStatus)


class PodCondition(Struct, frozen=True, gc=False, rename="camel"):
    """One thing that is said of a pod, and since when."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class SchedulingGate(Struct, frozen=True, gc=False):
    """Somebody who does not want the pod scheduled yet."""


class PendingPodMeta(PlacedPodMeta, frozen=True, gc=False, rename="camel"):
    """The same with the annotations."""

    annotations: dict[str, str] | None = None


class PendingPodSpec(PlacedPodSpec, frozen=True, gc=False, rename="camel"):
    """The same with what the pod asks of a node."""

    scheduler_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None


class PendingPodStatus(PlacedPodStatus, frozen=True, gc=False, rename="camel"):
    """The same with what is said of the pod."""

    conditions: tuple[PodCondition, ...] | None = None


class PendingPod(PlacedPod, frozen=True, gc=False):
    """A pod from the watch that has no node yet: what it requires, too."""

    metadata: PendingPodMeta
    spec: PendingPodSpec = field(default_factory=PendingPodSpec)
    status: PendingPodStatus = field(default_factory=PendingPodStatus)


class OwnerReference(Struct, frozen=True, gc=False):
    """An object that a pod belongs to."""

    kind: str = ""
    name: str = ""
    controller: bool | None = None


class LivePodMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Who a pod is, what it carries and whom it belongs to."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class LivePodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The tolerations of a pod, as bytes that a patch can be tested against, and its node."""

    node_name: str = ""
    scheduler_name: str = ""
    tolerations: Raw = Raw(b"null")


class LivePodStatus(Struct, frozen=True, gc=False):
    """The phase of a pod."""

    phase: str = ""


class LivePod(Struct, frozen=True, gc=False):
    """A pod whose rules are written as plain tolerations."""

    metadata: LivePodMeta = field(default_factory=LivePodMeta)
    spec: LivePodSpec = field(default_factory=LivePodSpec)
    status: LivePodStatus = field(default_factory=LivePodStatus)
