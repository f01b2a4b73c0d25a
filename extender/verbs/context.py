"""What the three verbs share: the cluster, the profiles, and what is remembered."""

from time import perf_counter

from extender.cluster.source import ClusterSource, Watching
from extender.errors import NoClusterError, NotSyncedError
from extender.framework.runner import Runner
from extender.framework.snapshot import Interner, Snapshot
from extender.model.core_v1 import Pod
from extender.verbs.cel_budget import CelBudget
from extender.verbs.profiles import Profiles
from extender.verbs.waiting import WaitingPods
from extender.wire import requests
from extender.wire.answers import Refusals
from extender.wire.extender_v1 import FilterArgs
from extender.wire.known_nodes import KnownNodes, NodeBatch
from extender.wire.node_stream import NodeStreamReader


class Context:
    """One cluster source and one set of profiles."""

    def __init__(
        self, source: ClusterSource, profiles: Profiles, *, refusals: Refusals = "needed"
    ) -> None:
        self.source = source
        self.profiles = profiles
        self.refusals: Refusals = refusals
        caches = profiles.settings.caches
        self.cel = CelBudget(profiles.settings)
        self.runner = Runner(caches, clock=perf_counter)
        self.known = KnownNodes(caches)
        # Where nothing changes by itself, nobody waits for it.
        self.waiting = (
            WaitingPods(source, is_configured=profiles.configured)
            if isinstance(source, Watching)
            else None
        )
        # One for all requests: nodes with the same taints share what is remembered of them.
        self._interner = Interner()

    def node_stream(self) -> NodeStreamReader:
        """For a body that is worth reading while it arrives."""
        return NodeStreamReader(self.known)

    def snapshot_for(self, args: FilterArgs) -> Snapshot:
        """The cluster; NotSyncedError where nothing can be judged without it."""
        if args.mode == "names":
            return self.source.snapshot()
        try:
            return self.source.snapshot()
        except NoClusterError:
            return Snapshot()
        except NotSyncedError:
            if _asks_of_the_cluster(args.pod):
                raise
            return Snapshot()

    def nodes_of(self, args: FilterArgs, snapshot: Snapshot) -> NodeBatch:
        """The nodes that a request asks about."""
        return requests.nodes_of(args, snapshot.table, self.known, self._interner)


def _asks_of_the_cluster(pod: Pod) -> bool:
    """Whether a pod may be judged by more than the nodes of its request."""
    spec = pod.spec
    return spec is not None and bool(spec.topology_spread_constraints or spec.volumes)
