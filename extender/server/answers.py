"""An answer to kube-scheduler, and what follows from a verdict on all nodes of a request."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final

from msgspec import Struct

from extender import plugins
from extender.framework.interface import Code, Status
from extender.framework.ledger import Ledger
from extender.framework.runner import FilterResult
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.wire import messages
from extender.wire.fragments import Pieces
from extender.wire.messages import FilterArgs

CUT_OFF: Final = "no node passes as the cluster last was, and the API server is out of reach"
IN_FLIGHT: Final = "no node passes until it is known where a pod in flight went"
# Plugins that may refuse the pod for what the cluster has, whatever the node.
_BY_CLUSTER: Final = frozenset({"VolumeBinding"})


class Answer(Struct, frozen=True, gc=False):
    """The body of an answer, and what the log and the metrics want to know about it."""

    body: bytes
    pod: Pod
    mode: str
    nodes: int
    passed: int
    ledger: Ledger | None = None
    error: str = ""
    # What news could turn a refusal into a pass, and its generation; none if no news could.
    resources: frozenset[str] = frozenset()
    generation: int | None = None
    unsettled: bool = False  # only pods in flight stand in the way
    ahead: Pieces = ()  # what stands before `body`: whole nodes, or most of an answer before


class Verdict(Struct, frozen=True, gc=False):
    """What was said of all nodes of a request to `/filter`."""

    body: bytes
    passed: int
    ledger: Ledger
    plugins: frozenset[str]  # that refused a node
    settled: Status | None = None  # the pod itself was refused, whatever the node
    error: str = ""
    unknown: bool = False  # a node was not known
    unsettled: bool = False  # a pod in flight stands in the way somewhere
    passing: Sequence[NodeInfo] = ()
    ahead: Pieces = ()  # what stands before `body`


def verdict_of(args: FilterArgs, nodes: Sequence[NodeInfo | None], result: FilterResult) -> Verdict:
    """What was said of these nodes, None for one that is not known: `result` has the others."""
    statuses: Sequence[Status | None] = result.statuses
    if len(statuses) < len(nodes):
        judged = iter(result.statuses)
        statuses = [result.settled if node is None else next(judged) for node in nodes]
    answer = messages.encode_filter(args, statuses)
    # Nodes share few statuses: by identity all work per node is done in C.
    ids = list(map(id, result.statuses))
    distinct = dict(zip(ids, result.statuses, strict=True))
    return Verdict(
        answer.body,
        answer.passed,
        result.ledger,
        frozenset(status.plugin for status in distinct.values()),
        result.settled,
        error=answer.error,
        unknown=result.settled is None and len(result.statuses) < len(nodes),
        unsettled=any(status.unsettled for status in distinct.values()),
        passing=_passing(nodes, ids, distinct) if answer.passed else (),
    )


def concluded(args: FilterArgs, snapshot: Snapshot, verdict: Verdict) -> Answer:
    """The answer to `/filter`; from now on the pod may be on any node that it was let pass on."""
    ahead, body, error = verdict.ahead, verdict.body, verdict.error
    refused = not verdict.passed and bool(args.names)
    resources = _resources(args, verdict) if refused else frozenset[str]()
    unsettled = refused and verdict.unsettled
    if not error:
        if unsettled:
            # Nobody tells kube-scheduler when it becomes known, but an error it retries by itself.
            error = IN_FLIGHT
        elif resources and not snapshot.current:
            # From a view that may be outdated an error is retried by itself, a refusal is not.
            error = CUT_OFF
        if error:
            ahead, body = (), messages.encode_filter_error(args, error).body
    if snapshot.pods is not None and snapshot.pods.reserves:
        snapshot.pods.answered(args.pod, verdict.passing, waits=unsettled)
    return Answer(
        body,
        args.pod,
        args.mode,
        len(args.names),
        verdict.passed,
        verdict.ledger,
        error,
        resources,
        snapshot.generation_of(resources) if resources else None,
        unsettled,
        ahead,
    )


def _passing(
    nodes: Sequence[NodeInfo | None], ids: Sequence[int], distinct: Mapping[int, Status]
) -> Sequence[NodeInfo]:
    passes = {key for key, status in distinct.items() if status.code is Code.SUCCESS}
    known = filter(None, nodes)
    return list(compress(known, map(passes.__contains__, ids)))


def _resources(args: FilterArgs, verdict: Verdict) -> frozenset[str]:
    """What the refusals depend on, and may be on its way to us."""
    if verdict.settled is not None and verdict.settled.plugin not in _BY_CLUSTER:
        return frozenset()  # a rule of the pod itself cannot be read
    found = _watched_for(verdict.plugins)
    if verdict.unknown:
        found |= {"nodes"}
    # Nobody knows the nodes better than a request that carries them.
    return found if args.raw is None else found - {"nodes"}


@lru_cache(maxsize=64)
def _watched_for(names: frozenset[str]) -> frozenset[str]:
    return plugins.resources(names)
