"""The language of kube-scheduler: `extender/v1` bodies to arguments, verdicts to bodies.

The Go types carry no JSON tags, so keys are Go's field names; unused ones arrive as null. Inside
stand ordinary Kubernetes objects. Whole nodes stay the bytes they came as and go back untouched.
A request is answered in the field it was asked in: kube-scheduler reads only that one, and reads
a missing list as "no node fits".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, field

from extender.errors import BadRequestError
from extender.framework.interface import Code, Status
from extender.model.core_v1 import Node, Pod
from extender.wire.carried import Carried
from extender.wire.listings import Listing, listed

# kube-scheduler prints every distinct reason into one event of at most 1,024 bytes.
MAX_DETAILED_REASONS: Final = 10
MAX_DETAILED_REASON_BYTES: Final = 700
REASON_UNKNOWN_NODE: Final = "node(s) not yet known to the extender"

# What Go can decode again.
Int64 = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
T = TypeVar("T")


class _NodeList(Struct, frozen=True, gc=False):
    items: tuple[Raw, ...] | None = None


class _ExtenderArgs(Struct, frozen=True, gc=False, rename="pascal"):
    pod: Pod | None = None
    nodes: _NodeList | None = None
    node_names: tuple[str, ...] | None = None


class _ExtenderFilterResult(Struct, frozen=True, gc=False, rename="pascal"):
    nodes: _NodeList | None
    node_names: Sequence[str] | None
    failed_nodes: Mapping[str, str]
    failed_and_unresolvable_nodes: Mapping[str, str]
    error: str


class _HostPriority(Struct, frozen=True, gc=False, rename="pascal"):
    host: str
    score: int


class _MetaPod(Struct, frozen=True, gc=False):
    uid: str = field(default="", name="UID")


class MetaVictims(Struct, frozen=True, gc=False, rename="pascal"):
    """The pods that would have to leave a node, by UID."""

    pods: tuple[_MetaPod, ...] | None = None
    num_pdb_violations: Int64 = field(default=0, name="NumPDBViolations")


class _Victims(Struct, frozen=True, gc=False, rename="pascal"):
    pods: tuple[Pod, ...] | None = None
    num_pdb_violations: Int64 = field(default=0, name="NumPDBViolations")


class _ExtenderPreemptionArgs(Struct, frozen=True, gc=False, rename="pascal"):
    pod: Pod | None = None
    node_name_to_victims: dict[str, _Victims | None] | None = None
    node_name_to_meta_victims: dict[str, MetaVictims | None] | None = None


class _ExtenderPreemptionResult(Struct, frozen=True, gc=False, rename="pascal"):
    node_name_to_meta_victims: Mapping[str, MetaVictims]


_ARGS: Final = msgspec.json.Decoder(_ExtenderArgs)
_PREEMPTION_ARGS: Final = msgspec.json.Decoder(_ExtenderPreemptionArgs)
_TOP_LEVEL: Final = msgspec.json.Decoder(dict[str, Raw])
_NODE: Final = msgspec.json.Decoder(Node)
_ENCODER: Final = msgspec.json.Encoder()
_KEYS: Final = {
    name.lower(): name
    for args in (_ExtenderArgs, _ExtenderPreemptionArgs)
    for name in args.__struct_encode_fields__
}


class FilterArgs(Struct, frozen=True, gc=False):
    """What `/filter` and `/prioritize` ask about: a pod and nodes, by name or whole."""

    pod: Pod
    names: Sequence[str]
    nodes: Sequence[Node]  # those that the request carries; they win over any cache
    raw: Sequence[Raw] | None  # the carried nodes as they came; None where names were asked
    # The names once more, where the cache alone is asked about them and none is escaped.
    listing: Listing | None = None
    # Whole nodes that were recognised; `nodes` and `raw` are then empty.
    carried: Carried | None = None

    @property
    def mode(self) -> str:
        """How kube-scheduler asked."""
        return "names" if self.raw is None else "nodes"


@dataclass(frozen=True, slots=True)
class PreemptArgs:
    """A pod and, for each candidate node, who would have to leave it."""

    pod: Pod
    victims: Mapping[str, MetaVictims]
    mode: str


@dataclass(frozen=True, slots=True)
class FilterAnswer:
    """The body of an answer to `/filter`, and what it says, for the log."""

    body: bytes
    passed: int
    refused: int
    error: str


def decode_filter_args(body: bytes) -> FilterArgs:
    """The body of `/filter` and `/prioritize`."""
    require_utf8(body)
    args = _decode(_ARGS, body, "ExtenderArgs")
    if args.pod is None or (args.nodes is None and args.node_names is None):
        args = _decode(_ARGS, _with_go_keys(body), "ExtenderArgs")
    if args.pod is None:
        raise BadRequestError("ExtenderArgs: Pod is missing")
    if args.nodes is None and args.node_names is None:
        raise BadRequestError("ExtenderArgs: neither Nodes nor NodeNames is given")
    raw = (args.nodes.items if args.nodes else None) or ()
    nodes = [_decode(_NODE, item, f"ExtenderArgs: Nodes.items[{i}]") for i, item in enumerate(raw)]
    # kube-scheduler sends one of the two. Where a request has both, names were asked for and
    # the nodes are carried along.
    if args.node_names or args.nodes is None:
        asked = args.node_names or ()
        return FilterArgs(args.pod, asked, nodes, None, None if raw else listed(asked))
    names = [node.metadata.name if node.metadata else "" for node in nodes]
    return FilterArgs(args.pod, names, nodes, raw)


def decode_preemption_args(body: bytes) -> PreemptArgs:
    """The body of `/preempt`, in either of its shapes."""
    require_utf8(body)
    args = _decode(_PREEMPTION_ARGS, body, "ExtenderPreemptionArgs")
    by_uid, whole = args.node_name_to_meta_victims, args.node_name_to_victims
    if args.pod is None or (by_uid is None and whole is None):
        args = _decode(_PREEMPTION_ARGS, _with_go_keys(body), "ExtenderPreemptionArgs")
        by_uid, whole = args.node_name_to_meta_victims, args.node_name_to_victims
    if args.pod is None:
        raise BadRequestError("ExtenderPreemptionArgs: Pod is missing")
    if by_uid or whole is None:
        victims = {name: v or MetaVictims() for name, v in (by_uid or {}).items()}
        return PreemptArgs(args.pod, victims, "names")
    victims = {name: _meta_victims(v) for name, v in whole.items()}
    return PreemptArgs(args.pod, victims, "nodes")


def encode_filter(args: FilterArgs, statuses: Sequence[Status | None]) -> FilterAnswer:
    """The answer to `/filter`: one status a node in the order of the request, None if unknown.

    An unknown node is refused when another passes. When none passes it may be the one that
    would, so the answer is an Error: that is retried by itself, a refusal is not.
    """
    # Nodes share few statuses: by identity all work per node is done in C.
    ids = list(map(id, statuses))
    distinct = dict(zip(ids, statuses, strict=True))
    fault = next((s for s in distinct.values() if s is not None and s.code is Code.ERROR), None)
    if fault is not None:
        return encode_filter_error(args, ": ".join((fault.plugin, *fault.reasons)))
    texts = reason_texts(distinct)
    refused = dict(
        zip(
            compress(args.names, map(texts.__contains__, ids)),
            map(texts.__getitem__, filter(texts.__contains__, ids)),
            strict=True,
        )
    )
    passes = distinct.keys() - texts.keys()
    unknown = ids.count(id(None))
    if unknown and not passes:
        return encode_filter_error(args, f"{unknown} {REASON_UNKNOWN_NODE}")
    return _filter_answer(args, list(map(passes.__contains__, ids)), refused, "")


def encode_filter_error(args: FilterArgs, error: str) -> FilterAnswer:
    """The answer to `/filter` when nothing could be judged."""
    return _filter_answer(args, (), {}, error)


def encode_filter_fault(error: str) -> bytes:
    """The answer to `/filter` when not even the request is at hand any more."""
    return _ENCODER.encode(_ExtenderFilterResult(_NodeList(()), (), {}, {}, error))


def encode_priorities(names: Sequence[str], scores: Sequence[int]) -> bytes:
    """The answer to `/prioritize`."""
    return _ENCODER.encode(list(map(_HostPriority, names, scores)))


def encode_preemption(victims: Mapping[str, MetaVictims]) -> bytes:
    """The answer to `/preempt`."""
    return _ENCODER.encode(_ExtenderPreemptionResult(victims))


def require_utf8(body: bytes) -> None:
    """Refuse a body that is not UTF-8 throughout."""
    # msgspec does not look into fields that it skips, but whole nodes are sent back as they came.
    try:
        if not body.isascii():
            body.decode()
    except UnicodeDecodeError as exc:
        raise BadRequestError(f"the body is not UTF-8: {exc}") from exc


def _decode(decoder: msgspec.json.Decoder[T], body: bytes | Raw, what: str) -> T:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as exc:
        raise BadRequestError(f"{what}: {exc}") from exc
    except msgspec.DecodeError as exc:
        raise BadRequestError(f"{what} is not JSON: {exc}") from exc
    except RecursionError as exc:
        raise BadRequestError(f"{what} is nested too deeply") from exc


def _with_go_keys(body: bytes) -> bytes:
    """The same object with its top-level keys in Go's spelling, whatever their letter case."""
    fields = _decode(_TOP_LEVEL, body, "ExtenderArgs")
    return _ENCODER.encode({_KEYS.get(key.lower(), key): raw for key, raw in fields.items()})


def _meta_victims(victims: _Victims | None) -> MetaVictims:
    if victims is None:
        return MetaVictims()
    uids = (pod.metadata.uid if pod.metadata else "" for pod in victims.pods or ())
    return MetaVictims(tuple(map(_MetaPod, uids)), victims.num_pdb_violations)


def _filter_answer(
    args: FilterArgs, passes: Sequence[bool], refused: Mapping[str, str], error: str
) -> FilterAnswer:
    nodes, names = None, None
    if args.raw is None:
        names = list(compress(args.names, passes))
    else:
        nodes = _NodeList(tuple(compress(args.raw, passes)))
    result = _ExtenderFilterResult(
        nodes=nodes,
        node_names=names,
        # Never FailedNodes: the preemption dry run on such a node finds no victim and ends in
        # an error whose text wakes the pod again at once.
        failed_nodes={},
        failed_and_unresolvable_nodes=refused,
        error=error,
    )
    return FilterAnswer(_ENCODER.encode(result), sum(passes), len(refused), error)


def reason_texts(
    distinct: Mapping[int, Status | None] | Mapping[int, Status], *, brief: bool = False
) -> dict[int, str]:
    """The text of each refusal among the statuses; brief ones where there are too many."""
    refusals = {
        key: status
        for key, status in distinct.items()
        if status is None or status.code is not Code.SUCCESS
    }
    detailed = {", ".join(s.reasons) for s in refusals.values() if s is not None and s.brief}
    too_many = (
        brief
        or len(detailed) > MAX_DETAILED_REASONS
        or sum(len(text.encode(errors="replace")) for text in detailed) > MAX_DETAILED_REASON_BYTES
    )
    return {key: _reason_text(status, brief=too_many) for key, status in refusals.items()}


def _reason_text(status: Status | None, *, brief: bool) -> str:
    if status is None:
        return REASON_UNKNOWN_NODE
    return ", ".join(status.brief if brief and status.brief else status.reasons)
