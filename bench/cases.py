"""What is asked: the cases of the table, each as rounds of calls.

Every call names the nodes in kube-scheduler's order, which is new each time. Where rules are
known, each call is about another pod with the same rules; where they are new, nobody has asked
about them before.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench import cluster, workloads
from bench.asks import VERBS, Names, Whole
from bench.cluster import JSON, encoded, name_of
from bench.rounds import FULL, GO, LEAN, LEEWAY, PLAIN, Case, Goal, Step
from bench.workloads import Rules, Workload

PODS: Final = 20
REFUSED: Final = 500
REFUSED_WORKLOADS: Final = 100

KNOWN_GOAL: Final = Goal(LEAN, 1.15)
EQUAL_GOAL: Final = Goal(LEAN, 1.25)
DIFFER_GOAL: Final = Goal(FULL, 1.25)
NEW_GOAL: Final = Goal(LEAN, 1.35)
REFUSED_GOAL: Final = Goal(LEAN, 1.15)
EVENT_GOAL: Final = Goal(LEAN, 1.35)
EXPRESSION_GOAL: Final = Goal(LEAN, 1.35)
FIRST_GOAL: Final = Goal(LEEWAY, 40, "ms")
SPREAD_GOAL: Final = Goal(PLAIN, 2, "ms")
WHOLE_GOAL: Final = Goal(FULL, 1.1)
GO_GOAL: Final = Goal(GO, 0.35)

ZONE: Final = "topology.kubernetes.io/zone"
HOST: Final = "kubernetes.io/hostname"
SPREAD_KEYS: Final = {"zone": [ZONE], "hostname": [HOST], "zone and hostname": [ZONE, HOST]}
ACTIONS: Final = {"filter": "DoNotSchedule", "prioritize": "ScheduleAnyway"}


@dataclass
class Scripts:
    """Makes the rounds; a workload is never used twice unless it is meant to be."""

    nodes: int
    whole: int
    seed: int = 1
    _workloads: int = 0
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self.names = Names([name_of(number) for number in range(self.nodes)], self._chance)

    def new_workload(self, rules: Callable[[int], Rules] = workloads.mixed_rules) -> Workload:
        """Pods whose rules nobody has seen."""
        self._workloads += 1
        return Workload(f"app-{self._workloads:06}", rules(self._workloads))

    def names_round(self, pods: int = PODS) -> Iterator[Step]:
        """Pods of one workload: filter, prioritize without and with preferences."""
        what = f"{self.nodes} names"
        filtered = Case(f"filter, {what}, known rules", KNOWN_GOAL)
        equal = Case(f"prioritize, {what}, no preferences", EQUAL_GOAL)
        differ = Case(f"prioritize, {what}, scores differ", DIFFER_GOAL)
        yield from self._known(filtered, "filter", self.new_workload(), pods)
        unopinionated = self.new_workload(workloads.unopinionated_rules)
        yield from self._known(equal, "prioritize", unopinionated, pods)
        yield from self._known(differ, "prioritize", self.new_workload(), pods)

    def _known(self, case: Case, verb: str, workload: Workload, pods: int) -> Iterator[Step]:
        for number in range(pods + 1):  # the first of them is new
            yield Step(case, [self.names.ask(verb, workload.pod())], counted=number > 0)

    def new_rules_round(self, pods: int = PODS) -> Iterator[Step]:
        """Another workload in every call."""
        for verb in VERBS:
            case = Case(f"{verb}, {self.nodes} names, new rules", NEW_GOAL)
            for _ in range(pods):
                yield Step(case, [self.names.ask(verb, self.new_workload().pod())])

    def go_round(self, pods: int = PODS) -> Iterator[Step]:
        """Both calls about one pod, beside an extender in Go that judges the same."""
        case = Case(f"filter and prioritize, {self.nodes} names, known rules", GO_GOAL, (GO, LEAN))
        workload = self.new_workload()
        for number in range(pods + 1):
            pod = workload.pod()
            asks = [self.names.ask(verb, pod) for verb in VERBS]
            yield Step(case, asks, counted=number > 0)

    def whole_round(self, pods: int = PODS) -> Iterator[Step]:
        """Whole nodes, ten megabytes a call."""
        whole = Whole(self._whole_nodes(), self._chance)
        for verb in VERBS:
            case = Case(f"{verb}, {self.whole} whole nodes", WHOLE_GOAL)
            workload = self.new_workload()
            for number in range(pods + 1):
                yield Step(case, [whole.ask(verb, workload.pod())], counted=number > 0)

    def _whole_nodes(self) -> dict[str, bytes]:
        nodes = cluster.make_nodes(self.whole, seed=self.seed)
        # As a client keeps them: without the kind.
        return {
            node["metadata"]["name"]: encoded(
                {key: node[key] for key in ("metadata", "spec", "status")}
            )
            for node in nodes
        }

    def expression_round(self, pods: int = PODS) -> Iterator[Step]:
        """A CEL toleration on nodes of which each has taints of its own."""
        what = f"{self.nodes} distinct taints, CEL"

        def rules(number: int) -> Rules:
            return workloads.expression_rules(number, self.nodes // 2)

        for verb in VERBS:
            first = Case(f"{verb}, {what}, first call", FIRST_GOAL)
            later = Case(f"{verb}, {what}, later calls", EXPRESSION_GOAL)
            workload = self.new_workload(rules)
            for number in range(pods + 1):
                ask = self.names.ask(verb, workload.pod())
                yield Step(later if number else first, [ask])

    def spread_round(self, pods: int = PODS) -> Iterator[Step]:
        """A pod with spread constraints, and the same pod without them."""
        for verb in VERBS:
            for what, keys in SPREAD_KEYS.items():
                case = Case(
                    f"{verb}, {self.nodes} names, spread over {what}", SPREAD_GOAL, (PLAIN, LEAN)
                )
                tolerant: Sequence[JSON] = [{"operator": "Exists"}]
                made = [constraint(key, ACTIONS[verb]) for key in keys]
                # One pod, asked about again: another one would count as waiting for its node.
                spread = Workload("web", Rules(tolerant, constraints=made)).pod(0)
                plain = Workload("web", Rules(tolerant)).pod(1)
                for number in range(pods + 1):
                    asks = [self.names.ask(verb, spread)]
                    without = [self.names.ask(verb, plain)]
                    yield Step(case, asks, plain=without, counted=number > 0)


def constraint(key: str, action: str) -> JSON:
    """A spread constraint over pods of the workload `web` that leaves many nodes to choose from."""
    return {
        "maxSkew": 5_000 if key == ZONE else 1,
        "topologyKey": key,
        "whenUnsatisfiable": action,
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": "Honor",
    }


@dataclass
class Refusals:
    """Pods that fit nowhere, asked about again and again, in turn."""

    scripts: Scripts
    pods: int = REFUSED
    _pods: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        count = max(1, min(REFUSED_WORKLOADS, self.pods))
        made = [self.scripts.new_workload(workloads.refused_rules) for _ in range(count)]
        self._pods = [made[number % count].pod() for number in range(self.pods)]

    def round(self, event: Callable[[], None], *, asked: int) -> Iterator[Step]:
        """So many of the pods with nothing between two asks, then with an event each time."""
        what = f"filter, {self.scripts.nodes} names, refused"
        quiet = Case(f"{what}, asked again", REFUSED_GOAL, (LEAN,))
        after_event = Case(f"{what}, an event before each", EVENT_GOAL, (LEAN,))
        for case, before in ((quiet, None), (after_event, event)):
            # Nothing has happened since a pod was asked about before: so it is, once.
            warming = () if before else self._pods[:asked]
            for number, pod in enumerate((*warming, *self._pods[:asked])):
                asks = [self.scripts.names.ask("filter", pod)]
                yield Step(case, asks, before=before, counted=number >= len(warming))
            self._pods = self._pods[asked:] + self._pods[:asked]
