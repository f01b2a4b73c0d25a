"""filter, prioritize and preempt: bytes to bytes over one snapshot.

Knows nothing of HTTP. Raises BadRequestError for a body that makes no sense, and NotSyncedError
where nothing can be judged; filter says the latter in its answer, as only it has a field for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from time import perf_counter
from typing import Final

from extender import plugins, wire
from extender.cluster.source import ClusterSource
from extender.errors import NoClusterError, NotSyncedError, PluginError
from extender.framework import preemption, runner
from extender.framework.interface import Code, Status
from extender.framework.ledger import Ledger
from extender.framework.memory import Memories
from extender.framework.runner import FilterResult
from extender.framework.snapshot import Interner, NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.server.expressions import Expressions
from extender.server.profiles import Profiles
from extender.wire import FilterArgs, PreemptArgs

CUT_OFF: Final = "no node passes as the cluster last was, and the API server is out of reach"
# Plugins that may refuse the pod for what the cluster has, whatever the node.
_BY_CLUSTER: Final = frozenset({"VolumeBinding"})
IN_FLIGHT: Final = "no node passes until it is known where a pod in flight went"


@dataclass(frozen=True, slots=True)
class Answer:
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


class Verbs:
    """The three verbs over one cluster source and one set of profiles.

    Unless it is `final`, a call may be put off: DeferredError, when its CEL expressions take
    more work than should be done at once.
    """

    def __init__(self, source: ClusterSource, profiles: Profiles) -> None:
        self._source = source
        self._profiles = profiles
        self.expressions = Expressions(profiles.settings)
        self._memories = Memories()
        # One for all requests: what is remembered of a taint set is found by its identity.
        self._interner = Interner()

    def filter(self, body: bytes, *, final: bool = True) -> Answer:
        """Who passes, and why the others do not."""
        args = wire.decode_filter_args(body)
        count = len(args.names)
        try:
            snapshot, nodes = self._resolve(args)
        except NotSyncedError as exc:
            answer = wire.encode_filter_error(args, str(exc))
            return Answer(answer.body, args.pod, args.mode, count, 0, error=answer.error)
        known = [node for node in nodes if node is not None]
        result = self._judged(args.pod, snapshot, known, final=final)
        statuses: Sequence[Status | None] = result.statuses
        if len(known) < count:
            judged = iter(result.statuses)
            statuses = [result.settled if node is None else next(judged) for node in nodes]
        answer = wire.encode_filter(args, statuses)
        refused = not answer.passed and count > 0
        resources = self._resources(args, result, statuses) if refused else frozenset[str]()
        unsettled = refused and any(status.unsettled for status in _distinct(result.statuses))
        if answer.error:
            pass
        elif unsettled:
            # Nobody tells kube-scheduler when it becomes known, but an error it retries by itself.
            answer = wire.encode_filter_error(args, IN_FLIGHT)
        elif resources and not snapshot.current:
            # From a view that may be outdated an error is retried by itself, a refusal is not.
            answer = wire.encode_filter_error(args, CUT_OFF)
        self._reserve(args.pod, snapshot, known, result, passed=answer.passed, waits=unsettled)
        return Answer(
            answer.body,
            args.pod,
            args.mode,
            count,
            answer.passed,
            result.ledger,
            answer.error,
            resources,
            snapshot.generation_of(resources) if resources else None,
            unsettled,
        )

    def prioritize(self, body: bytes, *, final: bool = True) -> Answer:
        """A score for every node asked; one that is not known has the lowest."""
        args = wire.decode_filter_args(body)
        snapshot, nodes = self._resolve(args)
        known = [node for node in nodes if node is not None]
        self.expressions.begin_call()
        result = runner.run_score(
            self._profiles.of(args.pod),
            args.pod,
            snapshot,
            known,
            clock=perf_counter,
            memory=self._memories.scoring,
        )
        if not final:
            self.expressions.put_off(args.pod, known, snapshot, result.ledger)
        scores: Sequence[int] = result.scores
        if len(known) < len(nodes):
            scored = iter(result.scores)
            scores = [0 if node is None else next(scored) for node in nodes]
        encoded = wire.encode_priorities(args.names, scores)
        return Answer(encoded, args.pod, args.mode, len(nodes), len(known), result.ledger)

    def preempt(self, body: bytes, *, final: bool = True) -> Answer:
        """The candidates on which the pod could run once the victims are gone.

        Neither a taint nor a label nor a volume is cured by eviction, so those refusals stand.
        """
        args = wire.decode_preemption_args(body)
        snapshot = self._snapshot_for_preempt(args)
        candidates = [
            (node, [pod.uid for pod in victims.pods])
            for name, victims in args.victims.items()
            # An empty victim list would fail kube-scheduler's whole preemption.
            if victims.pods and (node := snapshot.nodes.get(name)) is not None
        ]
        self.expressions.begin_call()
        result = preemption.run_preempt(
            self._profiles.of(args.pod),
            args.pod,
            snapshot,
            candidates,
            clock=perf_counter,
            memory=self._memories.filtering,
        )
        if not final:
            known = [node for node, _ in candidates]
            self.expressions.put_off(args.pod, known, snapshot, result.ledger)
        kept = {}
        for (node, _), status in zip(candidates, result.statuses, strict=True):
            if status.code is Code.ERROR:
                cause = next(iter(result.ledger.faults), None)
                raise PluginError(": ".join((status.plugin, *status.reasons))) from cause
            if status.code is Code.SUCCESS:
                kept[node.name] = args.victims[node.name]
        body = wire.encode_preemption(kept)
        return Answer(body, args.pod, args.mode, len(args.victims), len(kept), result.ledger)

    def _judged(
        self, pod: Pod, snapshot: Snapshot, nodes: Sequence[NodeInfo], *, final: bool
    ) -> FilterResult:
        self.expressions.begin_call()
        result = runner.run_filter(
            self._profiles.of(pod),
            pod,
            snapshot,
            nodes,
            clock=perf_counter,
            memory=self._memories.filtering,
            narrow=True,
        )
        if not final:
            self.expressions.put_off(pod, nodes, snapshot, result.ledger)
        return result

    def _resources(
        self, args: FilterArgs, result: FilterResult, statuses: Sequence[Status | None]
    ) -> frozenset[str]:
        """What the refusals depend on, and may be on its way to us."""
        if result.settled is not None and result.settled.plugin not in _BY_CLUSTER:
            return frozenset()  # a rule of the pod itself cannot be read
        found = plugins.resources({status.plugin for status in _distinct(result.statuses)})
        if None in statuses:
            found |= {"nodes"}
        # Nobody knows the nodes better than a request that carries them.
        return found if args.raw is None else found - {"nodes"}

    def _reserve(
        self,
        pod: Pod,
        snapshot: Snapshot,
        known: Sequence[NodeInfo],
        result: FilterResult,
        *,
        passed: int,
        waits: bool,
    ) -> None:
        """From now on the pod may be on any of the nodes that it was let pass on."""
        if snapshot.pods is None or not snapshot.pods.reserves:
            return
        nodes = known if passed else ()
        if 0 < passed < len(known):
            passing = {id(s) for s in _distinct(result.statuses) if s.code is Code.SUCCESS}
            nodes = list(compress(known, map(passing.__contains__, map(id, result.statuses))))
        snapshot.pods.answered(pod, nodes, waits=waits)

    def _snapshot_for_preempt(self, args: PreemptArgs) -> Snapshot:
        try:
            return self._source.snapshot()
        except NoClusterError:
            if args.mode == "names":
                raise
            # Whole-node mode needs no cluster, but a preemption only ever names nodes: all
            # are unknown, and unknown ones are left out.
            return Snapshot()

    def _resolve(self, args: FilterArgs) -> tuple[Snapshot, Sequence[NodeInfo | None]]:
        """The nodes that were asked about, None for a name that nobody knows."""
        carried = [self._interner.node_info(node) for node in args.nodes]
        if args.raw is not None:
            return self._snapshot_beside(args.pod), carried
        snapshot = self._source.snapshot()
        nodes = list(map(snapshot.nodes.get, args.names))
        if carried:
            by_name = {node.name: node for node in carried}
            nodes = [by_name.get(name, node) for name, node in zip(args.names, nodes, strict=True)]
        return snapshot, nodes

    def _snapshot_beside(self, pod: Pod) -> Snapshot:
        """The cluster around nodes that came with the request."""
        try:
            return self._source.snapshot()
        except NoClusterError:
            return Snapshot()
        except NotSyncedError:
            if _asks_of_the_cluster(pod):
                raise
            return Snapshot()


def _distinct(statuses: Sequence[Status]) -> Iterable[Status]:
    """Each status once; nodes share few."""
    return {id(status): status for status in statuses}.values()


def _asks_of_the_cluster(pod: Pod) -> bool:
    spec = pod.spec
    return spec is not None and bool(spec.topology_spread_constraints or spec.volumes)
