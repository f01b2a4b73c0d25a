"""Results: a file that programs read, a table that people read, and what is clearly worse."""

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.cluster import JSON

FOLDER: Final = Path(__file__).parent / "results"
FILE: Final = "results.json"
TABLE: Final = "table.md"

# A ratio is clearly worse when it is so many times the committed one. First calls are few, and
# are judged more kindly.
MARGIN: Final = 1.25
FIRST_CALL_MARGIN: Final = 1.5


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
    """Cases that are clearly worse, and how many times the committed ratio theirs is.

    The ratio of times and the ratio of CPU must both say so: on a busy machine a long call is
    interrupted more often than a short one of the floor, which costs time but no CPU.
    """
    found = {}
    for name, case in now.items():
        if name in committed:
            known = committed[name]
            factor = min(case["ratio"] / known["ratio"], _cpu(case) / _cpu(known))
            if factor > (FIRST_CALL_MARGIN if "goal_ms" in case else MARGIN):
                found[name] = round(factor, 2)
    return found


def _cpu(case: Mapping[str, Any]) -> float:
    return float(case["leeway"]["cpu"] / case["floor"]["cpu"])


def quartiles(ratios: Sequence[float]) -> tuple[float, float]:
    """Between these is the middle half of all rounds."""
    if len(ratios) < 2:
        return ratios[0], ratios[0]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return low, high


def met(case: Mapping[str, Any]) -> bool | None:
    """Whether the goal of a case is met; None if it has none."""
    if "goal_ms" in case:
        return bool(case["leeway"]["p50"] <= case["goal_ms"])
    return bool(case["ratio"] <= case["goal"]) if "goal" in case else None


def markdown(found: Mapping[str, Any]) -> str:
    """The tables of a page."""
    on = found["machine"]
    busy = ", ".join(f"{each:g}" for each in on["load"])
    parts = [
        f"Python {on['python']}, {on['cpus']} CPUs, load {busy} when it began; milliseconds.",
        "",
        "| case | calls | p50 | p99 | floor p50 | floor p99 | ratio | rounds | cpu | goal | |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
        *(_row(name, case) for name, case in found.get("cases", {}).items()),
    ]
    if "memory" in found:
        parts += ["", _memory(found["memory"])]
    if "watch" in found:
        parts += ["", "| under watch load | seen | goal | |", "|---|--:|--:|---|"]
        parts += [f"| {' | '.join(row)} |" for row in found["watch"]]
    return "\n".join(parts) + "\n"


def _row(name: str, case: Mapping[str, Any]) -> str:
    ours, floor = case["leeway"], case["floor"]
    goal = f"{case['goal_ms']:g} ms" if "goal_ms" in case else f"{case.get('goal', 0):g}x"
    rounds = "{:.2f} to {:.2f}".format(*quartiles(case["rounds"]))
    verdict = {True: "met", False: "missed", None: ""}[met(case)]
    cells = (
        name,
        case["calls"],
        f"{ours['p50']:.2f}",
        f"{ours['p99']:.2f}",
        f"{floor['p50']:.2f}",
        f"{floor['p99']:.2f}",
        f"{case['ratio']:.2f}x",
        rounds,
        f"{_cpu(case):.2f}x",
        goal if verdict else "",
        verdict,
    )
    return f"| {' | '.join(map(str, cells))} |"


def _memory(memory: Mapping[str, Any]) -> str:
    verdict = "met" if memory["growth"] <= memory["goal"] else "missed"
    return (
        f"Memory over {memory['requests']} requests: {memory['rss'][0][1]:g} MB at first, at most"
        f" {memory['by_half']:g} MB within the first half, {memory['at_the_end']:g} MB at"
        f" the end; growth over the second half {memory['growth']:g} MB, goal"
        f" {memory['goal']:g} MB: {verdict}."
    )
