"""How the time of a server grows: over nodes, over distinct taint sets, over tolerations of a pod.

Time is what the server process computes for a call, the median of many. The lean floor stands
beside it: it also has to read the names and to write as many bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench import processes, workloads
from bench.cases import KNOWN_GOAL, Scripts
from bench.cluster import MIXED, SLOT
from bench.rounds import LEAN, LEEWAY, Case, Contest, Step, figures
from bench.workloads import Rules

NODES: Final = (100, 1_000, 5_000, 10_000, 15_000)
TAINT_SETS: Final = (1, 100, 1_000, 2_500, 5_000)
TOLERATIONS: Final = (1, 4, 16, 64, 128, 256)
LINES: Final = ("known rules", "new rules")


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that grows."""

    name: str
    points: Sequence[int]
    nodes: Callable[[int], int]
    taint_sets: Callable[[int], int]
    rules: Callable[[int, int], Rules]  # of a point and the number of a workload


def slot_rules(sets: int, workload: int) -> Rules:
    """Tolerates about half of the slots, by a threshold."""
    threshold = {"key": SLOT, "operator": "Lt", "value": str(max(1, sets // 2))}
    other = {"key": "example.com/build", "operator": "Equal", "value": f"build-{workload}"}
    return Rules([threshold, other])


def axes(nodes: int, points: Sequence[int] = NODES) -> list[Axis]:
    """The three; all but the first at so many nodes."""
    sets = [count for count in TAINT_SETS if count <= nodes]
    return [
        Axis(
            "nodes",
            points,
            nodes=lambda point: point,
            taint_sets=lambda _: MIXED,
            rules=lambda _, workload: workloads.mixed_rules(workload),
        ),
        Axis(
            "distinct taint sets",
            sets,
            nodes=lambda _: nodes,
            taint_sets=lambda point: point,
            rules=slot_rules,
        ),
        Axis(
            "tolerations of a pod",
            TOLERATIONS,
            nodes=lambda _: nodes,
            taint_sets=lambda _: MIXED,
            rules=lambda point, workload: workloads.many_rules(workload, point),
        ),
    ]


@dataclass
class Growth:
    """Measures an axis, point by point."""

    folder: Path
    rounds: int = 3
    calls: int = 15
    seed: int = 1
    _scripts: dict[int, Scripts] = field(default_factory=dict)

    def measure(self, axis: Axis) -> list[dict[str, Any]]:
        """What was seen at each point: a line's name to CPU milliseconds."""
        found: list[dict[str, Any]] = []
        shape = None
        with ExitStack() as outer:
            stack = outer.enter_context(ExitStack())
            contest: Contest | None = None
            for point in axis.points:
                wanted = axis.nodes(point), axis.taint_sets(point)
                if contest is None or shape != wanted:
                    stack.close()
                    contest, shape = self._servers(stack, *wanted), wanted
                found.append(self._point(contest, axis, point))
        return found

    def _servers(self, stack: ExitStack, nodes: int, taint_sets: int) -> Contest:
        api = stack.enter_context(processes.apiserver(nodes, taint_sets=taint_sets, seed=self.seed))
        server = stack.enter_context(processes.watching(self.folder, api))
        return Contest(server, {LEAN: stack.enter_context(processes.floor())})

    def _point(self, contest: Contest, axis: Axis, point: int) -> dict[str, Any]:
        nodes = axis.nodes(point)
        # Kept, so that no point asks about the workloads of another one.
        scripts = self._scripts.setdefault(nodes, Scripts(nodes, 0, self.seed))
        contest.kept.clear()
        for number in range(1 + self.rounds):
            contest.run(self._round(scripts, axis, point))
            if not number:
                contest.kept.clear()
        seen = {line: figures(contest.kept[line]) for line in LINES}
        floors = [figure[LEAN]["cpu"] for figure in seen.values()]
        return {
            axis.name: point,
            **{line: figure[LEEWAY]["cpu"] for line, figure in seen.items()},
            "floor": sorted(floors)[len(floors) // 2],
        }

    def _round(self, scripts: Scripts, axis: Axis, point: int) -> Iterator[Step]:
        def rules(workload: int) -> Rules:
            return axis.rules(point, workload)

        for line in LINES:
            case = Case(line, KNOWN_GOAL, against=(LEAN,))
            workload = scripts.new_workload(rules)
            for number in range(self.calls + 1):
                if line.startswith("new"):
                    workload = scripts.new_workload(rules)
                ask = scripts.names.ask("filter", workload.pod())
                yield Step(case, [ask], counted=number > 0)
