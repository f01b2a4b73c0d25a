"""prioritize: which nodes are better than others, and nothing about those that are not.

kube-scheduler adds scores up, so a host that is left out counts as 0: only differences are told.
"""

from functools import partial

from extender import rows
from extender.verbs.answer import Answer
from extender.verbs.context import Context
from extender.wire import requests
from extender.wire.node_stream import Body


def answer(context: Context, body: Body, *, may_defer: bool = False) -> Answer:
    """The hosts whose score is above the lowest one; DeferredError as in filter.

    NotSyncedError where nothing can be judged: prioritize has no field to say so.
    """
    args = requests.read_filter_args(body, context.known)
    snapshot = context.snapshot_for(args)
    context.cel.begin_call()
    profile = context.profiles.of(args.pod)
    if args.names_at:
        stats = context.runner.score_without_candidates(
            profile,
            args.pod,
            snapshot,
            snapshot.table,
            partial(rows.count_names, args.body, args.names_at),
        )
        if stats is not None:
            count = stats.candidates
            return Answer((b"[]",), args.pod, args.mode, count, count, stats)
    batch = context.nodes_of(args, snapshot)
    result = context.runner.score(profile, args.pod, snapshot, batch.table, batch.candidates)
    if may_defer and result.stats.faults:
        context.cel.raise_if_deferred(args.pod, batch.table, snapshot, result.stats)
    count = len(batch.candidates)
    return Answer((result.encoded(),), args.pod, args.mode, count, count, result.stats)
