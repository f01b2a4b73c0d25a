"""Leeway and what it is compared with are asked in turn, round by round; every call is kept.

A round is short, and all servers meet the same machine in it. The ratio of a case is the median
of the ratios of its rounds: a round in which something else kept the machine busy is one of many.

A floor returns the bytes of the answer that is due, so it can be asked only after Leeway was.
To let every server be the first one in turn, the floors are one call behind.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from bench import answers
from bench.asks import Ask
from bench.processes import Child

MS: Final = 1_000.0
# A server may still count and log after its answer. Then it is idle, as a scheduler finds it.
SETTLE_SECONDS: Final = 0.0005
NO_ERROR: Final = b'"Error":""}'

LEEWAY: Final = "leeway"
LEAN: Final = "lean"
FULL: Final = "full"
GO: Final = "go"  # an extender in Go that judges the same
PLAIN: Final = "plain"  # Leeway itself, asked about the same pod without constraints


@dataclass(frozen=True, slots=True)
class Goal:
    """What a case must reach: at most so much, as a ratio to something or in milliseconds.

    In milliseconds it is what Leeway takes; compared with `PLAIN`, what it takes more.
    """

    of: str
    at_most: float
    unit: str = "x"


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table."""

    name: str
    goal: Goal
    against: Sequence[str] = (LEAN, FULL)


@dataclass(frozen=True, slots=True)
class Step:
    """The calls that are timed together, and what is done before them without being timed."""

    case: Case
    asks: Sequence[Ask]
    plain: Sequence[Ask] = ()
    before: Callable[[], None] | None = None
    counted: bool = True


@dataclass(slots=True)
class Times:
    """What the steps of one case took in one round, in seconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


Round = dict[str, Times]


@dataclass(slots=True)
class Kept:
    """Everything that was measured of a case: one entry a round."""

    case: Case
    rounds: list[Round] = field(default_factory=list)
    answer_bytes: dict[str, int] = field(default_factory=dict)


class Client(Protocol):
    """Calls a server as kube-scheduler does."""

    def call(self, server: Child, ask: Ask) -> tuple[float, bytes | None]:
        """Seconds, and the answer if the client can tell it."""


class RawClient:
    """A raw socket: what the client itself costs is nearly nothing."""

    def call(self, server: Child, ask: Ask) -> tuple[float, bytes | None]:
        """Seconds from the first byte out to the last byte in, and the answer."""
        seconds, answer = server.connection.post(f"/{ask.verb}", ask.body)
        return seconds, bytes(answer)


@dataclass(slots=True)
class Contest:
    """Leeway and the servers that it is compared with."""

    leeway: Child
    others: Mapping[str, Child]
    client: Client = field(default_factory=RawClient)
    kept: dict[str, Kept] = field(default_factory=dict)
    _calls: int = 0
    _open: list[tuple[Child, float, Times]] = field(default_factory=list)

    def run(self, steps: Iterable[Step]) -> None:
        """One round."""
        gc.collect()
        gc.disable()
        begun: set[str] = set()
        before: Step | None = None
        try:
            for step in steps:
                kept = self.kept.setdefault(step.case.name, Kept(step.case))
                if step.case.name not in begun:
                    begun.add(step.case.name)
                    kept.rounds.append({who: Times() for who in (LEEWAY, *step.case.against)})
                self._take(step, before)
                before = step
            if before is not None:
                self._take(None, before)
            self._settle()
        finally:
            gc.enable()

    def _take(self, step: Step | None, before: Step | None) -> None:
        """Ask Leeway about a step, and the others about the one before it."""
        if step is not None and step.before is not None:
            step.before()
        turns = [(who, before) for who in before.case.against] if before else []
        if step is not None:
            turns.append((LEEWAY, step))
        self._calls += 1
        first = self._calls % len(turns)
        given: list[bytes | None] = []
        for who, asked in (*turns[first:], *turns[:first]):
            told = self._ask(who, asked)
            if who == LEEWAY:
                given = told
        if step is not None:
            self._hand_over(step, given)

    def _ask(self, who: str, step: Step) -> list[bytes | None]:
        server = self.leeway if who in (LEEWAY, PLAIN) else self.others[who]
        self._settle()
        before = server.cpu()
        wall, told = 0.0, []
        for ask in step.plain if who == PLAIN else step.asks:
            seconds, answer = self.client.call(server, ask)
            wall += seconds
            told.append(answer)
        if step.counted:
            times = self.kept[step.case.name].rounds[-1][who]
            times.wall.append(wall)
            self._open.append((server, before, times))
        return told

    def _settle(self) -> None:
        """Read what the last call computed. Not at once: the kernel does not count what a
        process computes before it pauses, and a server still has some work after its answer."""
        time.sleep(SETTLE_SECONDS)
        for server, before, times in self._open:
            times.cpu.append(server.cpu() - before)
        self._open.clear()

    def _hand_over(self, step: Step, given: Sequence[bytes | None]) -> None:
        """Give the floors the answers that are due to this step."""
        self._settle()
        sizes = self.kept[step.case.name].answer_bytes
        sizes.clear()
        for ask, answer in zip(step.asks, given, strict=True):
            if answer is None:  # the same again, from a client that can tell it
                answer = RawClient().call(self.leeway, ask)[1] or b""
            if ask.verb == "filter" and not answer.rstrip().endswith(NO_ERROR):
                raise SystemExit(f"{step.case.name}: {answer[-300:]!r}")
            due = {
                who: make(ask.verb, answer, ask.names)
                for who, make in ((LEAN, answers.lean), (FULL, answers.full))
                if who in step.case.against
            }
            # None of the floors is always the one that was woken last.
            for who in list(due)[:: 1 if self._calls % 2 else -1]:
                self.others[who].put(f"/canned/{ask.verb}", due[who])
            for who, text in (due | {LEEWAY: answer}).items():
                sizes[who] = sizes.get(who, 0) + len(text)


def figures(kept: Kept) -> dict[str, Any]:
    """What the table says of a case; times in milliseconds."""
    rounds = [each for each in kept.rounds if all(times.wall for times in each.values())]
    medians = [
        {who: statistics.median(times.wall) for who, times in each.items()} for each in rounds
    ]
    others = [who for who in kept.case.against if who != PLAIN]
    ratios = {who: [each[LEEWAY] / each[who] for each in medians] for who in others}
    found: dict[str, Any] = {
        "calls": sum(len(each[LEEWAY].wall) for each in rounds),
        **{who: spread([each[who] for each in rounds]) for who in (LEEWAY, *kept.case.against)},
        "ratio": {who: round(statistics.median(of), 3) for who, of in ratios.items()},
        "rounds": {who: [round(ratio, 3) for ratio in of] for who, of in ratios.items()},
        "answer_bytes": dict(kept.answer_bytes),
    }
    if PLAIN in kept.case.against:
        adds = [(each[LEEWAY] - each[PLAIN]) * MS for each in medians]
        found["adds"] = round(statistics.median(adds), 3)
        found["rounds"][PLAIN] = [round(ms, 3) for ms in adds]
    return found


def spread(rounds: Sequence[Times]) -> dict[str, float]:
    """p50 and p99 over all steps, and the median of what the server computed for one."""
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
