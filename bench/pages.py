"""Puts the figures of bench/results into the pages that show them, so that nobody copies any.

`python -m bench.pages` writes; a test fails when a page says something else than the results.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bench import results, scheduler_throughput

ROOT: Final = Path(__file__).parent.parent
SHORT: Final = {
    "filter, 5,000 names, repeated workload": "filter, 5000 names, repeated",
    "filter, 5,000 names, new workload": "filter, 5000 names, new rules",
    "prioritize, 5,000 names, repeated workload": "prioritize, 5000 names, repeated",
    "prioritize, 5,000 names, new workload": "prioritize, 5000 names, new rules",
    "5,000 different taints and a CEL toleration, later calls": (
        "filter, 5000 distinct taints, CEL, later calls"
    ),
    "a pod that fits nowhere, asked again": "filter, 5000 names, refused, quiet",
    "the same, a node changed before each": "filter, 5000 names, refused, an event before each",
    "filter, 1,000 whole nodes": "filter, 1000 whole nodes",
}


def short(found: Mapping[str, Any]) -> str:
    """The table of the front page."""
    lines = [
        "| | p50 | to the floor | in shuffled order | goal |",
        "|---|--:|--:|--:|--:|",
    ]
    for title, case in SHORT.items():
        listed, shuffled = (found["cases"][f"{case}, {order}"] for order in ("listed", "shuffled"))
        cells = (
            title,
            f"{listed['leeway']['p50']:.2f} ms",
            f"{listed['ratio']:.2f}x",
            f"{shuffled['ratio']:.2f}x",
            f"{listed['goal']:g}x",
        )
        lines.append(f"| {' | '.join(cells)} |")
    in_go = found["cases"].get("filter, 5000 names, an extender in Go that judges nothing")
    if in_go is not None:
        p50, ratio = f"{in_go['leeway']['p50']:.2f} ms", f"{in_go['ratio']:.2f}x"
        # It was asked in shuffled order only, which is all the same to it.
        lines.append(f"| *filter by an extender in Go that judges nothing* | {p50} | | {ratio} | |")
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
    shown = (ROOT / "README.md", ROOT / "bench/README.md", ROOT / "docs/performance.md")
    return {page: filled(page.read_text(encoding="utf-8"), tables) for page in shown}


def main() -> None:
    """Write."""
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
