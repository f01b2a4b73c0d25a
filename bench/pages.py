"""Puts the figures of bench/results into the pages that show them, so that nobody copies any.

`python -m bench.pages` writes; a test fails when a page says something else than the results.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bench import adversary, results, scheduler_throughput
from bench.results import GO_CLIENT, RAW
from bench.rounds import LEEWAY

ROOT: Final = Path(__file__).parent.parent
SHORT: Final = {
    "filter, 1,000 nodes": "filter, 1000 names, known rules",
    "filter, 5,000 nodes": "filter, 5000 names, known rules",
    "filter, 5,000 nodes, rules that nobody has asked about": "filter, 5000 names, new rules",
    "prioritize, 5,000 nodes, pod without preferences": "prioritize, 5000 names, no preferences",
    "prioritize, 5,000 nodes, scores differ": "prioritize, 5000 names, scores differ",
    "a pod that fits nowhere, asked again": "filter, 5000 names, refused, asked again",
    "the same, a node changed before each": "filter, 5000 names, refused, an event before each",
    "5,000 different taints and a CEL toleration, later calls": (
        "filter, 5000 distinct taints, CEL, later calls"
    ),
    "what spread over zone and hostname adds": (
        "filter, 5000 names, spread over zone and hostname"
    ),
    "filter, 1,000 whole nodes": "filter, 1000 whole nodes",
    "filter and prioritize, beside an extender in Go": (
        "filter and prioritize, 5000 names, known rules"
    ),
}


def short(found: Mapping[str, Any]) -> str:
    """The table of the front page."""
    lines = [
        "| | p50 | goal | kube-scheduler's client | raw client |",
        "|---|--:|--:|--:|--:|",
    ]
    for title, name in SHORT.items():
        case = found["cases"].get(name)
        if case is None:  # there was no Go
            continue
        cells = (
            title,
            f"{case[RAW][LEEWAY]['p50']:.2f} ms",
            results.wanted(case["goal"]),
            results.verdict(case, GO_CLIENT),
            results.verdict(case, RAW),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(text: str, tables: Mapping[str, str]) -> str:
    """The page with each table between its marks."""
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, mark, rest = text.partition(begin)
        if mark:
            text = f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return text


def pages(folder: Path = results.FOLDER) -> dict[Path, str]:
    """Every page that shows figures, as it has to be."""
    found = results.read(folder / results.FILE)
    tables = {"short table": short(found), "whole table": results.markdown(found)}
    scheduler = folder / scheduler_throughput.FILE
    if scheduler.exists():
        tables["scheduler table"] = scheduler_throughput.table(results.read(scheduler))
    hostile = folder / adversary.FILE
    if hostile.exists():
        tables["adversary table"] = adversary.text(results.read(hostile))
    shown = (ROOT / "README.md", ROOT / "docs/performance.md")
    return {page: filled(page.read_text(encoding="utf-8"), tables) for page in shown}


def main() -> None:
    """Write."""
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
