"""filter, prioritize and preempt: bytes to bytes over one snapshot.

Knows nothing of HTTP. Raises BadRequestError for a body that makes no sense, and NotSyncedError
where nothing can be judged; filter says the latter in its answer, as only it has a field for it.
"""

import contextlib
from collections.abc import Mapping, Sequence
from operator import itemgetter
from time import perf_counter

from msgspec.structs import replace

from extender.cluster.source import ClusterSource
from extender.errors import NoClusterError, NotSyncedError, PluginError
from extender.framework import preemption, runner
from extender.framework.interface import Code, Profile
from extender.framework.memory import Memories
from extender.framework.precedents import FilterPrecedent
from extender.framework.snapshot import Interner, NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.server import answers
from extender.server.answers import Answer, Verdict
from extender.server.bulk import MIN_NODES, Bulk
from extender.server.cases import Case
from extender.server.expressions import Expressions
from extender.server.profiles import Profiles
from extender.wire import messages as wire
from extender.wire import splitting
from extender.wire.intake import Body, Intake
from extender.wire.messages import FilterArgs, PreemptArgs
from extender.wire.splitting import Known


class Verbs:
    """The three verbs over one cluster source and one set of profiles.

    Unless it is `final`, a call may be put off: DeferredError, when its CEL expressions take
    more work than should be done at once.
    """

    def __init__(
        self, source: ClusterSource, profiles: Profiles, *, min_nodes: int = MIN_NODES
    ) -> None:
        self._source = source
        self._profiles = profiles
        self.expressions = Expressions(profiles.settings)
        self._memories = Memories()
        self._known = Known()
        self._bulk = Bulk(self._memories, perf_counter, min_nodes=min_nodes)
        # One for all requests: what is remembered of a taint set is found by its identity.
        self._interner = Interner()

    def intake(self) -> Intake:
        """For a body that is worth looking at while it arrives."""
        return Intake(self._known.nodes)

    def filter(self, body: Body, *, final: bool = True) -> Answer:
        """Who passes, and why the others do not."""
        args = splitting.read_filter_args(body, self._known)
        try:
            snapshot = self._snapshot_for(args)
        except NotSyncedError as exc:
            answer = wire.encode_filter_error(args, str(exc))
            return Answer(answer.body, args.pod, args.mode, len(args.names), 0, error=answer.error)
        self.expressions.begin_call()
        profile = self._profiles.of(args.pod)
        case = self._bulk.filter_case(profile, snapshot, args)
        told = None if case is None else self._bulk.filter(case)
        if case is None or told is None:
            verdict = self._one_by_one(args, snapshot, profile, case, final=final)
        else:
            verdict = Verdict(
                told.body,
                told.passed,
                self._bulk.filter_ledger(case, told),
                told.plugins,
                case.precedent.settled,
                passing=case.passing(told),
                ahead=told.ahead,
            )
            if told.passed and case.carried is None:
                self._known.listings.offer(told.body, case.listing, told.passes)
        return answers.concluded(args, snapshot, verdict)

    def _one_by_one(
        self,
        args: FilterArgs,
        snapshot: Snapshot,
        profile: Profile,
        case: Case[FilterPrecedent] | None,
        *,
        final: bool,
    ) -> Verdict:
        nodes = self._resolve(args, snapshot)
        if args.carried is not None:
            args, case = replace(args, raw=args.carried.raw()), None
        known = list(filter(None, nodes))
        result = runner.run_filter(
            profile,
            args.pod,
            snapshot,
            known,
            clock=perf_counter,
            memory=self._memories.filtering,
            narrow=True,
        )
        if not final:
            self.expressions.put_off(args.pod, known, snapshot, result.ledger)
        verdict = answers.verdict_of(args, nodes, result)
        if case is not None and not result.ledger.faults:
            self._bulk.learn_filter(case, verdict, result.statuses)
        return verdict

    def prioritize(self, body: Body, *, final: bool = True) -> Answer:
        """A score for every node asked; one that is not known has the lowest."""
        args = splitting.read_filter_args(body, self._known)
        snapshot = self._snapshot_for(args)
        self.expressions.begin_call()
        profile = self._profiles.of(args.pod)
        case = self._bulk.score_case(profile, snapshot, args)
        told = None if case is None else self._bulk.prioritize(case)
        count = len(args.names)
        if case is not None and told is not None:
            ledger = self._bulk.score_ledger(case, told)
            return Answer(told.body, args.pod, args.mode, count, count, ledger)
        nodes = self._resolve(args, snapshot)
        known = list(filter(None, nodes))
        result = runner.run_score(
            profile,
            args.pod,
            snapshot,
            known,
            clock=perf_counter,
            memory=self._memories.scoring,
        )
        if not final:
            self.expressions.put_off(args.pod, known, snapshot, result.ledger)
        scores: Sequence[int] = result.scores
        if len(known) < count:
            scored = iter(result.scores)
            scores = [0 if node is None else next(scored) for node in nodes]
        encoded = wire.encode_priorities(args.names, scores)
        if case is not None and not result.ledger.faults:
            self._bulk.learn_scores(case, encoded, result.ledger)
        return Answer(encoded, args.pod, args.mode, count, len(known), result.ledger)

    def preempt(self, body: Body, *, final: bool = True) -> Answer:
        """The candidates on which the pod could run once the victims are gone.

        Neither a taint nor a label nor a volume is cured by eviction, so those refusals stand.
        """
        args = wire.decode_preemption_args(bytes(body))
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
        encoded = wire.encode_preemption(kept)
        return Answer(encoded, args.pod, args.mode, len(args.victims), len(kept), result.ledger)

    def _snapshot_for_preempt(self, args: PreemptArgs) -> Snapshot:
        try:
            return self._source.snapshot()
        except NoClusterError:
            if args.mode == "names":
                raise
            # Whole-node mode needs no cluster, but a preemption only ever names nodes: all
            # are unknown, and unknown ones are left out.
            return Snapshot()

    def _snapshot_for(self, args: FilterArgs) -> Snapshot:
        return self._source.snapshot() if args.raw is None else self._snapshot_beside(args.pod)

    def _resolve(self, args: FilterArgs, snapshot: Snapshot) -> Sequence[NodeInfo | None]:
        """The nodes that were asked about, None for a name that nobody knows."""
        if args.carried is not None:
            return args.carried.nodes()
        carried = [self._interner.node_info(node) for node in args.nodes]
        if args.raw is not None:
            return carried
        nodes = _looked_up(snapshot.nodes, args.names)
        if carried:
            by_name = {node.name: node for node in carried}
            nodes = [by_name.get(name, node) for name, node in zip(args.names, nodes, strict=True)]
        return nodes

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


def _looked_up(nodes: Mapping[str, NodeInfo], names: Sequence[str]) -> Sequence[NodeInfo | None]:
    """The nodes of these names, None for a name that nobody knows."""
    if len(names) > 1:
        # Mostly all are known, and this takes a third of the time that `get` of a view takes.
        with contextlib.suppress(KeyError):
            found: tuple[NodeInfo, ...] = itemgetter(*names)(nodes)
            return found
    return list(map(nodes.get, names))


def _asks_of_the_cluster(pod: Pod) -> bool:
    spec = pod.spec
    return spec is not None and bool(spec.topology_spread_constraints or spec.volumes)
