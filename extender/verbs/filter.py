"""filter: who passes, and why nobody does.

A body that makes no sense is a BadRequestError. Where nothing can be judged yet, the answer says
so in its field Error: kube-scheduler retries that by itself.
"""

from typing import Final

from extender import plugins
from extender.errors import NotSyncedError
from extender.framework.results import FilterResult
from extender.framework.snapshot import Snapshot
from extender.verbs.answer import Answer
from extender.verbs.context import Context
from extender.wire import answers, extender_v1, requests
from extender.wire.extender_v1 import FilterArgs
from extender.wire.known_nodes import NodeBatch
from extender.wire.node_stream import Body

CUT_OFF: Final = "no node passes as the cluster last was, and the API server is out of reach"
IN_FLIGHT: Final = "no node passes until it is known where a pod in flight went"
TOO_LARGE: Final = "no node passes now, and the rules of the pod are too large to be looked after"
# Plugins that may refuse the pod for what the cluster has, whatever the node.
_BY_CLUSTER: Final = frozenset({"VolumeBinding"})


def answer(context: Context, body: Body, *, may_defer: bool = False) -> Answer:
    """Who passes; DeferredError if the call may be deferred and its expressions take long."""
    args = requests.read_filter_args(body, context.known)
    try:
        snapshot = context.snapshot_for(args)
    except NotSyncedError as exc:
        pieces = (extender_v1.encode_filter_error(args.mode, str(exc)),)
        return Answer(pieces, args.pod, args.mode, requests.count(args), 0, error=str(exc))
    context.cel.begin_call()
    profile = context.profiles.of(args.pod)
    batch = context.nodes_of(args, snapshot)
    result = context.runner.filter(profile, args.pod, snapshot, batch.table, batch.candidates)
    if may_defer and result.stats.faults:
        context.cel.raise_if_deferred(args.pod, batch.table, snapshot, result.stats)
    return _concluded(context, args, batch, snapshot, result)


def _concluded(
    context: Context,
    args: FilterArgs,
    batch: NodeBatch,
    snapshot: Snapshot,
    result: FilterResult,
) -> Answer:
    """The answer; from now on the pod may be on any node that it was let pass on."""
    count = len(batch.candidates)
    refused = count > 0 and not result.passed
    resources = _resources(args, result) if refused else frozenset[str]()
    unsettled = refused and result.is_unsettled()
    error = answers.error_of(result)
    if not error and (unsettled or resources):
        # Nobody tells kube-scheduler when it becomes known, but it retries an error by itself.
        error = IN_FLIGHT if unsettled else _premature(context, args, snapshot)
    pieces: answers.Pieces = (
        (extender_v1.encode_filter_error(args.mode, error),)
        if error
        else answers.encode_filter(batch, result, args.mode, context.refusals)
    )
    passed = 0 if error else result.passed
    if snapshot.pods is not None and snapshot.pods.reserves:
        passing = snapshot.table.passing_of(batch.table, batch.candidates) if passed else None
        snapshot.pods.answered(args.pod, passing, waits=unsettled)
    refused_by = count if resources and not error else 0
    return Answer(
        pieces,
        args.pod,
        args.mode,
        count,
        passed,
        result.stats,
        error,
        resources,
        snapshot.generation_of(resources) if resources else None,
        unsettled,
        # A node that we do not know yet is about to come.
        _waits(context, args, snapshot, refused_by, passed) or result.unknown > 0,
    )


def _premature(context: Context, args: FilterArgs, snapshot: Snapshot) -> str:
    """Why a refusal would be the last word although it must not be: an Error is retried."""
    if not snapshot.current:
        return CUT_OFF
    waiting = context.waiting
    return TOO_LARGE if waiting is not None and waiting.is_too_large(args.pod) else ""


def _waits(
    context: Context, args: FilterArgs, snapshot: Snapshot, refused_by: int, passed: int
) -> bool:
    """Note that the pod waits for a change, if so many nodes refuse it; whether one is due."""
    waiting = context.waiting
    if waiting is None:
        return False
    if refused_by:
        is_nodes = args.mode == "nodes"
        return waiting.refused(args.pod, snapshot, refused_by, carries_nodes=is_nodes)
    if passed:
        waiting.passed(args.pod, snapshot)
    else:
        waiting.forget(args.pod)
    return False


def _resources(args: FilterArgs, result: FilterResult) -> frozenset[str]:
    """What the refusals depend on, and may be on its way to us."""
    if result.settled is not None and result.settled.plugin not in _BY_CLUSTER:
        return frozenset()  # a rule of the pod itself cannot be read
    found = plugins.resources(result.refusing())
    if result.unknown:
        found |= {"nodes"}
    # Nobody knows the nodes better than a request that carries them.
    return found if args.mode == "names" else found - {"nodes"}
