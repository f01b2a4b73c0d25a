"""Results: a file that programs read, a table that people read, and what is clearly worse."""

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from operator import truediv
from pathlib import Path
from typing import Any, Final

from bench.cluster import JSON
from bench.rounds import FULL, GO, LEAN, LEEWAY, PLAIN

FOLDER: Final = Path(__file__).parent / "results"
FILE: Final = "results.json"
TABLE: Final = "table.md"

# A ratio is clearly worse when it is so many times the committed one. Times depend more on the
# machine and are judged more kindly; below half a millisecond they are noise.
MARGIN: Final = 1.25
MS_MARGIN: Final = 1.5
LEAST_MS: Final = 0.5
RAW: Final = "raw"
GO_CLIENT: Final = "go_client"
WORDS: Final = {LEAN: "lean", FULL: "full", GO: "Go"}


def machine() -> JSON:
    """What was measured on."""
    return {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "load": [round(each, 1) for each in os.getloadavg()],
    }


def write(folder: Path, found: JSON, *, whole: bool = False) -> None:
    """Both files; unless it is the whole, parts that were not measured stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE
    known = read(file) if file.exists() and not whole else {}
    cases = {**known.get("cases", {}), **found.get("cases", {})}
    merged = {**known, **found} | ({"cases": cases} if cases else {})
    file.write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")
    (folder / TABLE).write_text(markdown(merged), encoding="utf-8")


def read(file: Path) -> JSON:
    """What was written."""
    known: JSON = json.loads(file.read_text(encoding="utf-8"))
    return known


def worse(committed: Mapping[str, JSON], now: Mapping[str, JSON]) -> dict[str, float]:
    """Cases that are clearly worse, and how many times the committed figure theirs is.

    Time and CPU must both say so: on a busy machine a long call is interrupted more often than
    a short one of the floor, which costs time but no CPU.
    """
    found = {}
    for name, case in now.items():
        if name in committed:
            known = committed[name]
            in_ms = case["goal"]["unit"] == "ms"
            now_and_then = (max(seen(each), LEAST_MS if in_ms else 0) for each in (case, known))
            factor = min(truediv(*now_and_then), _cpu(case) / _cpu(known))
            if factor > (MS_MARGIN if in_ms else MARGIN):
                found[name] = round(factor, 2)
    return found


def seen(case: Mapping[str, Any], client: str = RAW) -> float:
    """The figure that the goal of a case is about."""
    goal, figures = case["goal"], case[client]
    if goal["unit"] == "x":
        return float(figures["ratio"][goal["of"]])
    if goal["of"] == PLAIN:
        return float(figures["adds"])
    return float(figures[LEEWAY]["p50"])


def _cpu(case: Mapping[str, Any]) -> float:
    """What Leeway computes for a call, as a ratio to what it is compared with."""
    figures, of = case[RAW], case["goal"]["of"]
    other = LEAN if of == LEEWAY else of
    return float(figures[LEEWAY]["cpu"] / figures[other]["cpu"])


def quartiles(ratios: Sequence[float]) -> tuple[float, float]:
    """Between these is the middle half of all rounds."""
    if len(ratios) < 2:
        return ratios[0], ratios[0]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return low, high


def met(case: Mapping[str, Any], client: str = RAW) -> bool:
    """Whether the goal of a case is met, as one client sees it."""
    return bool(seen(case, client) <= case["goal"]["at_most"])


def verdict(case: Mapping[str, Any], client: str) -> str:
    """The figure that one client saw, and whether it meets the goal; empty if it was not asked."""
    if client not in case:
        return ""
    return f"{said(case, client)} {'met' if met(case, client) else '**missed**'}"


def markdown(found: Mapping[str, Any]) -> str:
    """The tables of a page."""
    on = found["machine"]
    busy = ", ".join(f"{each:g}" for each in on["load"])
    parts = [
        f"Python {on['python']}, {on['cpus']} CPUs, load {busy} when it began; milliseconds.",
        "",
        *(f"**Not measured: {what}.**\n" for what in found.get("not_measured", [])),
        "| case | goal | kube-scheduler's client | raw client | raw: p50 | p99 | lean | full"
        " | to lean | to full | rounds | CPU | scheduler's: p50 | to lean | to full |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(_row(name, case) for name, case in found.get("cases", {}).items()),
    ]
    if "memory" in found:
        parts += ["", _memory(found["memory"])]
    if "watch" in found:
        parts += ["", "| under watch load | seen | goal | |", "|---|--:|--:|---|"]
        parts += [f"| {' | '.join(row)} |" for row in found["watch"]]
    return "\n".join(parts) + "\n"


def _row(name: str, case: Mapping[str, Any]) -> str:
    raw, go = case[RAW], case.get(GO_CLIENT, {})
    cells = [
        name,
        *(wanted(case["goal"]), verdict(case, GO_CLIENT), verdict(case, RAW)),
        *(_ms(raw, LEEWAY), _ms(raw, LEEWAY, "p99"), _ms(raw, LEAN), _ms(raw, FULL)),
        *(_times(raw, LEAN), _times(raw, FULL), _rounds(case), f"{_cpu(case):.2f}x"),
        *(_ms(go, LEEWAY), _times(go, LEAN), _times(go, FULL)),
    ]
    return f"| {' | '.join(cells)} |"


def _ms(figures: Mapping[str, Any], who: str, what: str = "p50") -> str:
    return f"{figures[who][what]:.2f}" if who in figures else ""


def _times(figures: Mapping[str, Any], who: str) -> str:
    return f"{figures['ratio'][who]:.2f}x" if who in figures.get("ratio", {}) else ""


def _rounds(case: Mapping[str, Any]) -> str:
    """The middle half of the rounds."""
    rounds = case[RAW]["rounds"].get(case["goal"]["of"])
    return "{:.2f} to {:.2f}".format(*quartiles(rounds)) if rounds else ""


def said(case: Mapping[str, Any], client: str = RAW) -> str:
    """The figure that the goal is about, with its unit."""
    if case["goal"]["unit"] == "x":
        return f"{seen(case, client):.2f}x"
    return f"{'+' if case['goal']['of'] == PLAIN else ''}{seen(case, client):.2f} ms"


def wanted(goal: Mapping[str, Any]) -> str:
    """A goal as the table says it."""
    if goal["unit"] == "x":
        return f"{goal['at_most']:g}x {WORDS[goal['of']]}"
    return f"{goal['at_most']:g} ms{' more' if goal['of'] == PLAIN else ''}"


def _memory(memory: Mapping[str, Any]) -> str:
    flat = "met" if memory["growth"] <= memory["goal"] else "missed"
    small = "met" if memory["peak"] <= memory["rss_goal"] else "missed"
    return (
        f"Memory over {memory['requests']} requests with ever new rules, {memory['nodes']} nodes,"
        f" {memory['pods']} pods: {memory['rss'][0][1]:g} MB at first, at most"
        f" {memory['by_half']:g} MB in the first half, {memory['at_the_end']:g} MB at the end."
        f" Growth over the second half: {memory['growth']:g} MB, goal {memory['goal']:g} MB:"
        f" {flat}. At its highest: {memory['peak']:g} MB, goal {memory['rss_goal']:g} MB: {small}."
    )
