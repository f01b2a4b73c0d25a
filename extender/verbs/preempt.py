"""preempt: on which nodes the pod could run once the victims are gone.

Neither a taint nor a label nor a volume is cured by eviction, so those refusals stand.
"""

from extender.errors import NoClusterError, PluginError
from extender.framework import preemption
from extender.framework.interface import Code
from extender.framework.snapshot import Snapshot
from extender.verbs.answer import Answer
from extender.verbs.context import Context
from extender.wire import extender_v1
from extender.wire.extender_v1 import PreemptArgs
from extender.wire.node_stream import Body


def answer(context: Context, body: Body, *, may_defer: bool = False) -> Answer:
    """The candidates that would help; PluginError where a plugin cannot tell."""
    args = extender_v1.decode_preemption_args(bytes(body))
    snapshot = _snapshot_for(context, args)
    victims = {
        name: [pod.uid for pod in victims.pods]
        for name, victims in args.victims.items()
        # An empty victim list would fail kube-scheduler's whole preemption.
        if victims.pods and name in snapshot.nodes
    }
    context.cel.begin_call()
    profile = context.profiles.of(args.pod)
    result, statuses = preemption.run_preempt(context.runner, profile, args.pod, snapshot, victims)
    if may_defer and result.stats.faults:
        context.cel.raise_if_deferred(args.pod, snapshot.table, snapshot, result.stats)
    for status in statuses.values():
        if status.code is Code.ERROR:
            cause = next(iter(result.stats.faults), None)
            raise PluginError(": ".join((status.plugin, *status.reasons))) from cause
    kept = {
        name: args.victims[name] for name, status in statuses.items() if status.code is Code.SUCCESS
    }
    pieces = (extender_v1.encode_preemption(kept),)
    return Answer(pieces, args.pod, args.mode, len(args.victims), len(kept), result.stats)


def _snapshot_for(context: Context, args: PreemptArgs) -> Snapshot:
    try:
        return context.source.snapshot()
    except NoClusterError:
        if args.mode == "names":
            raise
        # Whole-node mode needs no cluster, but a preemption only ever names nodes: all are
        # unknown, and unknown ones are left out.
        return Snapshot()
