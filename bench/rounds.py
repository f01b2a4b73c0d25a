"""Leeway and the floor are asked alternately, round by round, and every call is kept.

A round is short, and both servers meet the same machine in it. The ratio of a case is the median
of the ratios of its rounds: a round in which something else kept the machine busy is one of many.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bench.processes import Child

MS: Final = 1_000.0
SETTLE_SECONDS: Final = 0.0005
NO_ERROR: Final = b'"Error":""}'


@dataclass(frozen=True, slots=True)
class Step:
    """One call: of which case, and what is done before it without being timed."""

    case: str
    verb: str
    body: bytes
    before: Callable[[], None] | None = None
    counted: bool = True


@dataclass(slots=True)
class Times:
    """What the calls of one case took in one round, in seconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Kept:
    """Everything that was measured of a case: one entry a round."""

    leeway: list[Times] = field(default_factory=list)
    floor: list[Times] = field(default_factory=list)
    answer_bytes: int = 0


@dataclass(slots=True)
class Pair:
    """The two servers, asked alternately; who is first changes from call to call."""

    leeway: Child
    floor: Child
    kept: dict[str, Kept] = field(default_factory=dict)
    _calls: int = 0
    _sizes: set[int] = field(default_factory=set)
    _open: list[tuple[Child, float, Times]] = field(default_factory=list)

    def run(self, steps: Iterable[Step]) -> None:
        """One round."""
        gc.collect()
        gc.disable()
        begun: set[str] = set()
        try:
            for step in steps:
                kept = self.kept.setdefault(step.case, Kept())
                if step.case not in begun:
                    begun.add(step.case)
                    kept.leeway.append(Times())
                    kept.floor.append(Times())
                self._take(step, kept)
            self._settle()
        finally:
            gc.enable()

    def _settle(self) -> None:
        """Read what the last calls computed. Not at once: the kernel does not count what a
        process computes before it pauses, and a server still has some work after its answer."""
        time.sleep(SETTLE_SECONDS)
        for server, before, times in self._open:
            times.cpu.append(server.cpu() - before)
        self._open.clear()

    def _take(self, step: Step, kept: Kept) -> None:
        self._calls += 1
        self._settle()
        if step.before is not None:
            step.before()
            time.sleep(SETTLE_SECONDS)
        if self._calls % 2 and kept.answer_bytes:
            self._ask_floor(step, kept)
            self._ask_leeway(step, kept)
        else:
            self._ask_leeway(step, kept)
            self._ask_floor(step, kept)

    def _ask_leeway(self, step: Step, kept: Kept) -> None:
        before = self.leeway.cpu()
        seconds, answer = self.leeway.connection.post(f"/{step.verb}", step.body)
        if step.verb == "filter" and not bytes(answer[-12:]).endswith(NO_ERROR):
            raise SystemExit(f"{step.case}: {bytes(answer[-300:])!r}")
        kept.answer_bytes = len(answer)
        self._keep(step, kept.leeway[-1], seconds, (self.leeway, before))

    def _ask_floor(self, step: Step, kept: Kept) -> None:
        """As many bytes as the last answer of this case had."""
        path = f"/{kept.answer_bytes}"
        if kept.answer_bytes not in self._sizes:  # the floor makes them when it is asked first
            self._sizes.add(kept.answer_bytes)
            self.floor.connection.post(path, b"{}")
        before = self.floor.cpu()
        seconds, _ = self.floor.connection.post(path, step.body)
        self._keep(step, kept.floor[-1], seconds, (self.floor, before))

    def _keep(self, step: Step, times: Times, wall: float, cpu: tuple[Child, float]) -> None:
        if step.counted:
            times.wall.append(wall)
            self._open.append((*cpu, times))


def figures(kept: Kept) -> dict[str, Any]:
    """What the table says of a case; times in milliseconds."""
    rounds = [
        (ours, floors)
        for ours, floors in zip(kept.leeway, kept.floor, strict=True)
        if ours.wall and floors.wall
    ]
    ratios = [
        statistics.median(ours.wall) / statistics.median(floors.wall) for ours, floors in rounds
    ]
    return {
        "calls": sum(len(ours.wall) for ours, _ in rounds),
        "ratio": round(statistics.median(ratios), 3),
        "rounds": [round(ratio, 3) for ratio in ratios],
        "leeway": spread([ours for ours, _ in rounds]),
        "floor": spread([floors for _, floors in rounds]),
        "answer_bytes": kept.answer_bytes,
    }


def spread(rounds: Sequence[Times]) -> dict[str, float]:
    """p50 and p99 over all calls, and the median of what the server computed for one."""
    wall = sorted(seconds for times in rounds for seconds in times.wall)
    cpu = [seconds for times in rounds for seconds in times.cpu]
    return {
        "p50": quantile(wall, 0.5),
        "p99": quantile(wall, 0.99),
        "cpu": round(statistics.median(cpu) * MS, 4),
    }


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of all do not exceed, in milliseconds."""
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * MS, 4)
