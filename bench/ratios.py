"""The cases of the table, measured: Leeway beside the floor, in rounds.

Clusters are served by an API server that Leeway watches, as in production; only whole nodes need
no cluster at all.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench import processes
from bench.cases import Refusals, Scripts
from bench.events import Events
from bench.processes import Child
from bench.rounds import Kept, Pair, Step, figures

FIRST_CALL_GOAL_MS: Final = 60.0
FIRST_CALL: Final = "first call"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    nodes: int = 5_000
    whole: int = 1_000
    pods: int = 10_000
    rounds: int = 9
    calls: int = 20
    refused: int = 500
    seed: int = 1


class Ratios:
    """Measures part by part, round by round."""

    def __init__(self, folder: Path, size: Size, progress: Progress = print) -> None:
        self._folder = folder
        self._size = size
        self._progress = progress
        self._scripts = Scripts(size.nodes, size.whole, size.seed)
        self.kept: dict[str, Kept] = {}
        self.parts: dict[str, Callable[[], None]] = {
            "names": self._names,
            "refused": self._refused,
            "expressions": self._expressions,
            "whole": self._whole,
        }

    def measure(self, part: str) -> None:
        """All rounds of one part."""
        self._progress(f"measuring: {part}")
        self.parts[part]()

    def results(self) -> dict[str, Any]:
        """Figures by case, in the order in which they were measured."""
        found = {}
        for name, kept in self.kept.items():
            found[name] = figures(kept)
            if FIRST_CALL in name:
                found[name]["goal_ms"] = FIRST_CALL_GOAL_MS
            elif name in self._scripts.goals:
                found[name]["goal"] = self._scripts.goals[name]
        return found

    def _names(self) -> None:
        with ExitStack() as stack:
            pair, _ = self._watching(stack)
            self._rounds(pair, lambda: self._scripts.names_round(self._size.calls))
            idle = {"an extender that judges nothing": processes.floor()}
            if (in_go := processes.go_extender(self._folder)) is not None:
                idle["an extender in Go that judges nothing"] = in_go
            else:
                self._progress("not measured: an extender in Go, as there is no Go here")
            for name, process in idle.items():
                pair = self._pair(stack, stack.enter_context(process))
                self._rounds(pair, partial(self._scripts.idle_round, name, self._size.calls))

    def _refused(self) -> None:
        with ExitStack() as stack:
            pair, api = self._watching(stack)
            events = stack.enter_context(closing(Events(api.addresses[0])))
            refusals = Refusals(self._scripts, self._size.refused)
            first = refusals.round(events.one, asked=self._size.refused, counted=False)
            pair.run(step for step in first if step.before is None)
            pair.kept.clear()
            each = max(1, self._size.refused // self._size.rounds)
            self._rounds(pair, lambda: refusals.round(events.one, asked=each))

    def _expressions(self) -> None:
        with ExitStack() as stack:
            pair, _ = self._watching(stack, taint_sets=self._size.nodes)
            self._rounds(pair, lambda: self._scripts.expression_round(self._size.calls))

    def _whole(self) -> None:
        with ExitStack() as stack:
            pair = self._pair(stack, stack.enter_context(processes.leeway()))
            self._rounds(pair, lambda: self._scripts.whole_round(max(1, self._size.calls // 4)))

    def _watching(self, stack: ExitStack, *, taint_sets: int = 0) -> tuple[Pair, Child]:
        size = self._size
        api = stack.enter_context(
            processes.apiserver(size.nodes, pods=size.pods, taint_sets=taint_sets, seed=size.seed)
        )
        server = stack.enter_context(processes.watching(self._folder, api))
        return self._pair(stack, server), api

    def _pair(self, stack: ExitStack, server: Child) -> Pair:
        return Pair(server, stack.enter_context(processes.floor()))

    def _rounds(self, pair: Pair, steps: Callable[[], Iterator[Step]]) -> None:
        for number in range(1 + self._size.rounds):
            pair.run(steps())
            if not number:
                pair.kept.clear()  # a round to warm up
        self.kept.update(pair.kept)
