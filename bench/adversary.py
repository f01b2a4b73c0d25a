"""Whether adversarial but legal traffic makes memory grow, and what a neighbour notices.

Run with `make bench-memory` (MINUTES=20). Kinds of requests take turns of two seconds: so the
report can say which kind the memory went to. Leeway watches 5,000 nodes and 5,000 pods.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from bench import lines, processes, results
from bench.asks import Ask
from bench.endurance import GROWTH_GOAL_MB, RSS_GOAL_MB
from bench.hostile_traffic import Traffic
from bench.processes import Child

FILE: Final = "adversary.json"
TURN_SECONDS: Final = 2.0
QUIET_SECONDS: Final = 5.0
# Afterwards a neighbour's call takes at most so many times what it took before.
RECOVERY_GOAL: Final = 1.5


@dataclass
class Adversary:
    """Asks for some minutes, and looks at memory after each turn."""

    server: Child
    traffic: Traffic
    seconds: float
    turn_seconds: float = TURN_SECONDS
    seen: list[tuple[float, float]] = field(default_factory=list)
    grown: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)

    def run(self) -> None:
        """Turn by turn, the kinds in turn."""
        begun = time.monotonic()
        self.seen.append((0.0, self.server.rss()))
        for kind in cycle(self.traffic.kinds):
            before = self.seen[-1][1]
            until = time.monotonic() + self.turn_seconds
            while time.monotonic() < until:
                self._ask(kind, self.traffic.kinds[kind]())
            now = self.server.rss()
            self.seen.append((round(time.monotonic() - begun, 1), round(now, 1)))
            self.grown[kind] += round((now - before) * 1_024)
            if time.monotonic() - begun >= self.seconds:
                break

    def _ask(self, kind: str, ask: Ask) -> None:
        seconds, status, answer = self.server.connection.exchange(f"/{ask.verb}", ask.body)
        failed = ask.verb == "filter" and not bytes(answer[-12:]).rstrip().endswith(b'"Error":""}')
        self.answers[f"{status}{' with an error' if failed and status == 200 else ''}"] += 1
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), round(seconds * 1_000, 1))

    def report(self) -> dict[str, Any]:
        """What was seen; memory in MB, times in ms."""
        half = self.seen[-1][0] / 2
        first = max(rss for at, rss in self.seen if at <= half)
        second = max(rss for at, rss in self.seen if at > half)
        return {
            "minutes": round(self.seen[-1][0] / 60, 1),
            "answers": dict(self.answers),
            "rss": self.seen,
            "first_half": first,
            "second_half": second,
            "growth": round(second - first, 1),
            "peak": max(round(self.server.peak(), 1), first, second),
            "grown": {kind: round(kb / 1_024, 1) for kind, kb in self.grown.most_common()},
            "slowest": dict(sorted(self.slowest.items(), key=lambda each: -each[1])),
            "goal": GROWTH_GOAL_MB,
            "rss_goal": RSS_GOAL_MB,
        }


def measured(
    folder: Path,
    minutes: float,
    *,
    nodes: int = 5_000,
    pods: int = 5_000,
    turn_seconds: float = TURN_SECONDS,
    quiet_seconds: float = QUIET_SECONDS,
) -> dict[str, Any]:
    """One server, one adversary, one neighbour."""
    with ExitStack() as stack:
        api = stack.enter_context(processes.apiserver(nodes, pods=pods))
        server = stack.enter_context(processes.watching(folder, api))
        neighbour = stack.enter_context(
            lines.child("bench.neighbour", server.addresses[0], str(nodes))
        )
        time.sleep(quiet_seconds)
        alone = neighbour.ask("look")
        adversary = Adversary(server, Traffic(nodes), minutes * 60, turn_seconds)
        adversary.run()
        beside = neighbour.ask("look")
        time.sleep(quiet_seconds)
        after = neighbour.ask("look")
        waits = {"alone": alone, "meanwhile": beside, "afterwards": after}
        size = {"nodes": nodes, "pods": pods, "machine": results.machine()}
        return size | adversary.report() | {"neighbour": waits}


def recovery(found: dict[str, Any]) -> float:
    """What a neighbour's call takes afterwards, to what it took before."""
    waits = found["neighbour"]
    return float(waits["afterwards"]["p50"] / waits["alone"]["p50"])


def verdicts(found: dict[str, Any]) -> dict[str, bool]:
    """Which goals are met."""
    return {
        "flat": found["growth"] <= found["goal"],
        "small": found["peak"] <= found["rss_goal"],
        "recovers": recovery(found) <= RECOVERY_GOAL,
    }


def text(found: dict[str, Any]) -> str:
    """What was seen, as a page shows it."""
    met = {name: "met" if good else "missed" for name, good in verdicts(found).items()}
    waits = found["neighbour"]
    said = [
        f"{found['minutes']:g} minutes of adversarial traffic, {found['nodes']} nodes,"
        f" {found['pods']} pods: {found['rss'][0][1]:.0f} MB at first, at most"
        f" {found['first_half']:.0f} MB in the first half and {found['second_half']:.0f} MB in the"
        f" second one. Growth: {found['growth']:g} MB, goal {found['goal']:g} MB: {met['flat']}."
        f" At its highest: {found['peak']:.0f} MB, goal {found['rss_goal']:g} MB: {met['small']}.",
        "",
        "| kind of request | memory grew in its turns | slowest call |",
        "|---|--:|--:|",
        *(
            f"| {kind} | {grown:.1f} MB | {found['slowest'][kind]:.0f} ms |"
            for kind, grown in found["grown"].items()
        ),
        "",
        "| a neighbour's filter call, 100 nodes | p50 | p99 | slowest |",
        "|---|--:|--:|--:|",
        *(
            f"| {when} | {seen['p50']:.2f} ms | {seen['p99']:.2f} ms | {seen['max']:.0f} ms |"
            for when, seen in waits.items()
        ),
        "",
        f"Afterwards to alone: {recovery(found):.2f}x, goal {RECOVERY_GOAL:g}x: {met['recovers']}.",
    ]
    return "\n".join(said) + "\n"


def main() -> int:
    """Measure, print, write; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.adversary", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=5_000)
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = measured(Path(name), options.minutes, nodes=options.nodes, pods=options.pods)
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / FILE
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(text(found))
    print(f"answers: {found['answers']}")
    return 0 if all(verdicts(found).values()) else 1


if __name__ == "__main__":
    sys.exit(main())
