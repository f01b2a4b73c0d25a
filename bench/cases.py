"""What is asked: the cases of the table, each as rounds of calls.

Every case has a goal, as a ratio to the floor. In a case of a repeated workload each call is
about another pod with the same rules; where rules are new, nobody has asked about them before.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bench import cluster, workloads
from bench.cluster import encoded, name_of
from bench.rounds import Step
from bench.workloads import Names, Whole, Workload

VERBS: Final = ("filter", "prioritize")
ORDERS: Final = ("listed", "shuffled")
PODS: Final = 20
REFUSED: Final = 500
REFUSED_WORKLOADS: Final = 100

REPEATED_GOAL: Final = 1.25
NEW_GOAL: Final = 1.6
WHOLE_GOAL: Final = 1.1
EXPRESSION_GOAL: Final = 1.3
REFUSED_GOAL: Final = 1.15
EVENT_GOAL: Final = 1.6


def title(verb: str, what: str, order: str) -> str:
    """The name of a case."""
    return f"{verb}, {what}, {order}"


@dataclass
class Scripts:
    """Makes the rounds; a workload is never used twice unless it is meant to be."""

    nodes: int
    whole: int
    seed: int = 1
    goals: dict[str, float] = field(default_factory=dict)
    _workloads: int = 0
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self.names = Names([name_of(number) for number in range(self.nodes)], self._chance)

    def new_workload(
        self, rules: Callable[[int], workloads.Rules] = workloads.mixed_rules
    ) -> Workload:
        """Pods whose rules nobody has seen."""
        self._workloads += 1
        return Workload(f"app-{self._workloads:06}", rules(self._workloads))

    def _case(self, verb: str, what: str, order: str, goal: float) -> str:
        name = title(verb, what, order)
        self.goals[name] = goal
        return name

    def names_round(self, pods: int = PODS) -> Iterator[Step]:
        """Pods of one workload, then as many workloads, for both verbs and both orders."""
        what = f"{self.nodes} names"
        for order in ORDERS:
            shuffled = order == "shuffled"
            for verb in VERBS:
                known = self._case(verb, f"{what}, repeated", order, REPEATED_GOAL)
                workload = self.new_workload()
                for number in range(pods + 1):  # the first of them is new
                    body = self.names.body(workload.pod(), shuffled=shuffled)
                    yield Step(known, verb, body, counted=number > 0)
                new = self._case(verb, f"{what}, new rules", order, NEW_GOAL)
                for _ in range(pods):
                    body = self.names.body(self.new_workload().pod(), shuffled=shuffled)
                    yield Step(new, verb, body)

    def idle_round(self, extender: str, pods: int = PODS) -> Iterator[Step]:
        """For a server that lets every node pass: what reading and writing names takes."""
        for verb in VERBS:
            case = title(verb, f"{self.nodes} names", extender)
            workload = self.new_workload()
            for _ in range(pods):
                yield Step(case, verb, self.names.body(workload.pod(), shuffled=True))

    def whole_round(self, pods: int = PODS) -> Iterator[Step]:
        """Whole nodes, ten megabytes a call."""
        whole = Whole(self._whole_nodes(), self._chance)
        for order in ORDERS:
            for verb in VERBS:
                case = self._case(verb, f"{self.whole} whole nodes", order, WHOLE_GOAL)
                workload = self.new_workload()
                for number in range(pods + 1):
                    body = whole.body(workload.pod(), shuffled=order == "shuffled")
                    yield Step(case, verb, body, counted=number > 0)

    def _whole_nodes(self) -> list[bytes]:
        nodes = cluster.make_nodes(self.whole, seed=self.seed)
        # As a client keeps them: without the kind.
        return [
            encoded({key: node[key] for key in ("metadata", "spec", "status")}) for node in nodes
        ]

    def expression_round(self, pods: int = PODS) -> Iterator[Step]:
        """A CEL toleration on nodes of which each has taints of its own."""
        what = f"{self.nodes} distinct taints, CEL"

        def rules(number: int) -> workloads.Rules:
            return workloads.expression_rules(number, self.nodes // 2)

        for order in ORDERS:
            for verb in VERBS:
                first = title(verb, f"{what}, first call", order)
                case = self._case(verb, f"{what}, later calls", order, EXPRESSION_GOAL)
                workload = self.new_workload(rules)
                for number in range(pods + 1):
                    body = self.names.body(workload.pod(), shuffled=order == "shuffled")
                    yield Step(case if number else first, verb, body)


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

    def round(
        self, event: Callable[[], None], *, asked: int, counted: bool = True
    ) -> Iterator[Step]:
        """So many of the pods with nothing between two asks, then with an event each time."""
        kinds: Mapping[str, tuple[float, Callable[[], None] | None]] = {
            "refused, quiet": (REFUSED_GOAL, None),
            "refused, an event before each": (EVENT_GOAL, event),
        }
        for order in ORDERS:
            for kind, (goal, before) in kinds.items():
                what = f"{self.scripts.nodes} names, {kind}"
                case = self.scripts._case("filter", what, order, goal)
                # Nothing has happened since a pod was asked about before: so it is, once.
                warming = () if before else self._pods[:asked]
                for number, pod in enumerate((*warming, *self._pods[:asked])):
                    body = self.scripts.names.body(pod, shuffled=order == "shuffled")
                    yield Step(case, "filter", body, before, counted and number >= len(warming))
                self._pods = self._pods[asked:] + self._pods[:asked]
