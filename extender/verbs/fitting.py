"""Whether a pod that was refused everywhere would fit by now."""

from extender.cluster.pending import Rules
from extender.errors import PluginError
from extender.framework.snapshot import Snapshot
from extender.verbs.context import Context
from extender.verbs.waiting import View


def node_for(
    context: Context, snapshot: Snapshot, rules: Rules, since: View | None = None
) -> str | None:
    """A node that lets pods with these rules pass, of those that changed since a view, or of all.

    DeferredError if their expressions take long; PluginError if it cannot be said.
    """
    table = snapshot.table
    changed = None if since is None else table.changed_since(since.nodes)
    rows = range(len(table)) if changed is None else sorted(set(changed))
    present = [row for row in rows if table.nodes[row] is not None]
    if not present:
        return None
    candidates = table.candidates_of(present)
    pod = rules.pod()
    context.cel.begin_call()
    profile = context.profiles.of(pod)
    result = context.runner.filter(profile, pod, snapshot, table, candidates, narrow=False)
    if result.stats.faults:
        context.cel.raise_if_deferred(pod, table, snapshot, result.stats)
    if result.passed:
        return table.nodes_of(candidates)[0].name
    fault = result.fault()
    if fault is not None:
        raise PluginError(": ".join((fault.plugin, *fault.reasons)))
    return None
