"""The language of kube-scheduler: `extender/v1` bodies to arguments, verdicts to bodies.

The Go types carry no JSON tags, so keys are Go's field names; unused ones arrive as null. Inside
stand ordinary Kubernetes objects. Whole nodes stay the bytes they came as and go back untouched.
A request is answered in the field it was asked in: kube-scheduler reads only that one, and reads
a missing list as "no node fits".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, field

from extender.errors import BadRequestError, RequestTooLargeError
from extender.model.core_v1 import Node, Pod
from extender.model.nulls import Decoder
from extender.wire.known_nodes import ParsedNodes

# The API server takes objects of up to 3 MiB. What is read of a pod takes ten times its text.
MAX_POD_BYTES: Final = 4 << 20
# What Go can decode again.
Int64 = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
T = TypeVar("T")


class _NodeList(Struct, frozen=True, gc=False):
    items: tuple[Raw, ...] | None = None


class _ExtenderArgs(Struct, frozen=True, gc=False, rename="pascal"):
    pod: Pod | None = None
    nodes: _NodeList | None = None
    node_names: tuple[str, ...] | None = None


class _PodOf(Struct, frozen=True, gc=False, rename="pascal"):
    pod: Raw = Raw(b"null")


class _ExtenderFilterResult(Struct, frozen=True, gc=False, rename="pascal"):
    nodes: _NodeList | None
    node_names: Sequence[str] | None
    failed_nodes: Mapping[str, str]
    failed_and_unresolvable_nodes: Mapping[str, str]
    error: str


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


_ARGS: Final[Decoder[_ExtenderArgs]] = Decoder(_ExtenderArgs)
_PREEMPTION_ARGS: Final[Decoder[_ExtenderPreemptionArgs]] = Decoder(_ExtenderPreemptionArgs)
_POD_OF: Final[Decoder[_PodOf]] = Decoder(_PodOf)
_TOP_LEVEL: Final[Decoder[dict[str, Raw]]] = Decoder(dict[str, Raw])
_NODE: Final[Decoder[Node | None]] = Decoder(Node | None)
_ENCODER: Final = msgspec.json.Encoder()
_KEYS: Final = {
    name.lower(): name
    for args in (_ExtenderArgs, _ExtenderPreemptionArgs)
    for name in args.__struct_encode_fields__
}


class FilterArgs(Struct, frozen=True, gc=False):
    """What `/filter` and `/prioritize` ask about: a pod and nodes, by name or whole.

    The nodes are given in one of three ways, the first two as kube-scheduler writes them: a plain
    list of names that begins somewhere in the body, whole nodes that were parsed while they
    arrived, or names and nodes decoded.
    """

    pod: Pod
    mode: Literal["names", "nodes"]
    body: bytes = b""
    names_at: int = 0
    parsed: ParsedNodes | None = None
    names: Sequence[str] = ()
    nodes: Sequence[Node] = ()  # those that the request carries; they win over any cache
    raw: Sequence[Raw] = ()  # the same as they came


@dataclass(frozen=True, slots=True)
class PreemptArgs:
    """A pod and, for each candidate node, who would have to leave it."""

    pod: Pod
    victims: Mapping[str, MetaVictims]
    mode: str


def decode_filter_args(body: bytes) -> FilterArgs:
    """The body of `/filter` and `/prioritize`."""
    require_utf8(body)
    args = _decode_args(_ARGS, body, "ExtenderArgs")
    if args.pod is None or (args.nodes is None and args.node_names is None):
        args = _decode_args(_ARGS, _with_go_keys(body), "ExtenderArgs")
    if args.pod is None:
        raise BadRequestError("ExtenderArgs: Pod is missing")
    if args.nodes is None and args.node_names is None:
        raise BadRequestError("ExtenderArgs: neither Nodes nor NodeNames is given")
    raw = (args.nodes.items if args.nodes else None) or ()
    nodes = [
        _decode(_NODE, item, f"ExtenderArgs: Nodes.items[{i}]") or Node()
        for i, item in enumerate(raw)
    ]
    # kube-scheduler sends one of the two. Where a request has both, names were asked for and
    # the nodes are carried along.
    if args.node_names or args.nodes is None:
        return FilterArgs(args.pod, "names", names=args.node_names or (), nodes=nodes)
    names = [node.metadata.name if node.metadata else "" for node in nodes]
    return FilterArgs(args.pod, "nodes", names=names, nodes=nodes, raw=raw)


def decode_preemption_args(body: bytes) -> PreemptArgs:
    """The body of `/preempt`, in either of its shapes."""
    require_utf8(body)
    args = _decode_args(_PREEMPTION_ARGS, body, "ExtenderPreemptionArgs")
    by_uid, whole = args.node_name_to_meta_victims, args.node_name_to_victims
    if args.pod is None or (by_uid is None and whole is None):
        args = _decode_args(_PREEMPTION_ARGS, _with_go_keys(body), "ExtenderPreemptionArgs")
        by_uid, whole = args.node_name_to_meta_victims, args.node_name_to_victims
    if args.pod is None:
        raise BadRequestError("ExtenderPreemptionArgs: Pod is missing")
    if by_uid or whole is None:
        victims = {name: v or MetaVictims() for name, v in (by_uid or {}).items()}
        return PreemptArgs(args.pod, victims, "names")
    victims = {name: _meta_victims(v) for name, v in whole.items()}
    return PreemptArgs(args.pod, victims, "nodes")


def encode_filter_error(mode: str | None, error: str) -> bytes:
    """The answer to `/filter` when nothing could be judged; None where the mode is not known."""
    nodes = None if mode == "names" else _NodeList(())
    names = None if mode == "nodes" else ()
    return _ENCODER.encode(_ExtenderFilterResult(nodes, names, {}, {}, error))


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


def _decode_args(decoder: Decoder[T], body: bytes, what: str) -> T:
    """The arguments, unless their pod is larger than any that the API server takes."""
    if len(body) > MAX_POD_BYTES:
        size = len(memoryview(_decode(_POD_OF, body, what).pod))
        if size > MAX_POD_BYTES:
            raise RequestTooLargeError(
                f"{what}: a pod of {size} bytes is larger than the limit of {MAX_POD_BYTES}"
            )
    return _decode(decoder, body, what)


def _decode(decoder: Decoder[T], body: bytes | Raw, what: str) -> T:
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
