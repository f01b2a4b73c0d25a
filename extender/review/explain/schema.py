"""The data of `leeway explain -o json` and POST /explain.

The names are a stable interface: fields may be added, but are never renamed.
"""

from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

API_VERSION: Final = "leeway.scheduling/v1alpha1"
KIND: Final = "Explanation"

PASSES: Final = "Success"


class PodReference(Struct, frozen=True, rename="camel"):
    """The pod that is asked about, and the object that it was taken from."""

    namespace: str
    name: str
    scheduler_name: str
    kind: str = "Pod"  # or the workload whose template it is
    owner: str = ""  # the name of that workload


class ProfileReference(Struct, frozen=True, rename="camel"):
    """The profile of the pod, and its plugins in order."""

    name: str
    plugins: tuple[str, ...]


class Verdict(Struct, frozen=True, rename="camel"):
    """The verdict on one node; the first refusal counts."""

    node: str
    code: str
    plugin: str
    reason: str
    score: int | None = None  # 0 to 10, of nodes that pass


class Change(Struct, frozen=True, rename="camel"):
    """One edit with its reason; for a node, also the command."""

    plugin: str
    summary: str
    path: str
    before: str
    after: str
    command: str = ""


class ObjectReference(Struct, frozen=True, rename="camel"):
    """An object of the cluster, or of a manifest."""

    kind: str
    namespace: str
    name: str


class Fix(Struct, frozen=True, rename="camel"):
    """Changes that were tried on the pod.

    If `complete`, the pod passes on the node with them, else they cure only a part.
    `patch` is a strategic merge patch of `target`: of the pod, or of a workload around its
    template.
    """

    node: str
    complete: bool
    changes: tuple[Change, ...]
    advice: tuple[str, ...]  # what helps but is outside of the pod, so it cannot be tried
    passing: int  # how many nodes pass with the changes
    patch: dict[str, Any] | None = None
    cost: float = 0.0  # the smaller the nearer
    target: ObjectReference | None = None  # of the patch
    needs_new_pod: bool = False  # the pod itself cannot be changed so while it lives
    how: str = ""  # how the patch gets there, if the target is in a cluster


class Group(Struct, frozen=True, rename="camel"):
    """Nodes with the same verdict."""

    code: str
    plugin: str
    reason: str
    count: int
    nodes: tuple[str, ...]  # some of them
    fix: Fix | None = None


class SchedulerAttempt(Struct, frozen=True, rename="camel"):
    """What kube-scheduler wrote into the pod's condition PodScheduled when it last tried."""

    reason: str
    message: str
    since: str


class Pin(Struct, frozen=True, rename="camel"):
    """The rules of a pod that name nodes."""

    by: tuple[str, ...]
    nodes: tuple[str, ...]  # those that are in the cluster


class GateCheck(Struct, frozen=True, rename="camel"):
    """A feature gate that is off, and with which other nodes would pass."""

    gate: str
    passing: int  # how many nodes would pass with it


class ThresholdStep(Struct, frozen=True, rename="camel"):
    """A bound of a rule, and how many nodes pass with it."""

    value: str
    passing: int
    is_current: bool = False


class Threshold(Struct, frozen=True, rename="camel"):
    """A rule that compares with a bound, and what other bounds would change."""

    path: str
    key: str
    operator: str
    steps: tuple[ThresholdStep, ...]  # ascending


class TolerationCheck(Struct, frozen=True, rename="camel"):
    """One toleration against one taint."""

    carrier: str  # native or annotation
    index: int
    key: str
    operator: str
    value: str
    effect: str
    expression: str
    matches: bool
    why: str
    parsed_value: str | None = None  # the toleration's
    parsed_taint: str | None = None
    cost: int | None = None  # of evaluating the expression


class TaintCheck(Struct, frozen=True, rename="camel"):
    """One taint against every toleration."""

    key: str
    value: str
    effect: str
    tolerated: bool
    refuses: bool  # a PreferNoSchedule taint that is not tolerated only lowers the score
    why: str
    tolerations: tuple[TolerationCheck, ...]
    omitted: int = 0


class RequirementCheck(Struct, frozen=True, rename="camel"):
    """One requirement against the label, or the field, of the node."""

    key: str
    operator: str
    values: tuple[str, ...]
    actual: str | None  # None: the node has no such label
    matches: bool
    why: str
    parsed_value: str | None = None  # the rule's
    parsed_actual: str | None = None


class TermCheck(Struct, frozen=True, rename="camel"):
    """One term: all of its requirements must hold."""

    carrier: str  # nodeSelector, native or annotation
    index: int
    matches: bool
    why: str
    requirements: tuple[RequirementCheck, ...]


class ClaimCheck(Struct, frozen=True, rename="camel"):
    """One claim of the pod."""

    claim: str
    ephemeral: bool
    volume: str  # that it is bound to
    bound: bool
    matches: bool
    why: str
    terms: tuple[TermCheck, ...] = ()


class Domain(Struct, frozen=True, rename="camel"):
    """One domain of a topology key."""

    name: str
    nodes: int
    pods: int


class SpreadCheck(Struct, frozen=True, rename="camel"):
    """One hard constraint: `matching + itself - minimum = skew`, at most `maxSkew`."""

    topology_key: str
    max_skew: int
    min_domains: int
    node_affinity_policy: str
    node_taints_policy: str
    selector: str
    domain: str | None  # of the node
    included: bool  # whether the node itself counts
    matching: int
    itself: int
    minimum: int
    skew: int
    matches: bool
    why: str
    domains: tuple[Domain, ...] = ()
    omitted: int = 0


class PluginCheck(Struct, frozen=True, rename="camel"):
    """The verdict of one plugin, whatever the others say."""

    plugin: str
    code: str
    reason: str
    why: str


class Derivation(Struct, frozen=True, rename="camel"):
    """The rules behind the verdict on one node."""

    node: str
    code: str
    plugin: str
    reason: str
    plugins: tuple[PluginCheck, ...]
    cordon: TaintCheck | None = None  # of a cordoned node: the taint that stands for it
    taints: tuple[TaintCheck, ...] = ()
    terms: tuple[TermCheck, ...] = ()
    claims: tuple[ClaimCheck, ...] = ()
    spread: tuple[SpreadCheck, ...] = ()
    fix: Fix | None = None


class PlainToleration(Struct, frozen=True, rename="camel"):
    """One plain toleration, and where it comes from."""

    key: str
    operator: str
    value: str
    effect: str
    toleration_seconds: int | None
    text: str  # such as sla=950:NoSchedule
    missing: bool  # the pod does not have it yet
    origin: str  # rule, guard, narrowed (its key is a rule's, and no rule matches it) or own
    why: str
    rule: str = ""  # of origin rule
    carrier: str = ""  # of that rule: native or annotation


class Compilation(Struct, frozen=True, rename="camel"):
    """What compile mode makes of the pod."""

    state: str  # current, behind, cut or refused
    why: str
    tolerations: tuple[PlainToleration, ...]
    left_out: tuple[PlainToleration, ...]  # by compile.maxTolerations
    # By taints alone, and not for a pod that has a node already.
    open_by_tolerations: int | None = None  # nodes that the plain tolerations open
    open_by_rules: int | None = None  # nodes that the rules and the plain tolerations open
    only_by_rules: tuple[str, ...] = ()  # some nodes that the plain tolerations do not open


class Explanation(Struct, frozen=True, rename="camel"):
    """Why a pod passes or is refused."""

    pod: PodReference
    profile: ProfileReference
    nodes: int
    passing: int
    message: str  # in kube-scheduler's words
    groups: tuple[Group, ...]
    verdicts: tuple[Verdict, ...]
    omitted: int  # verdicts that were left out
    fix: Fix | None
    notes: tuple[str, ...]
    derivation: Derivation | None = None
    # Only of pods with rules and a scheduler whose pods are compiled.
    compilation: Compilation | UnsetType = UNSET
    attempt: SchedulerAttempt | None = None
    pin: Pin | None = None
    gates: tuple[GateCheck, ...] = ()  # that are off and decide
    thresholds: tuple[Threshold, ...] = ()
    api_version: str = API_VERSION
    kind: str = KIND
