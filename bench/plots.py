"""The results as pictures. matplotlib is installed by `make bench` only."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib
from matplotlib import pyplot

from bench.growth import LINES
from bench.results import RAW, WORDS, met, quartiles, seen

matplotlib.use("Agg")
COLOURS: Final = {True: "#3a7d44", False: "#b5432e"}
STYLES: Final = {"known rules": "-o", "new rules": "-^"}
DPI: Final = 110


def draw(folder: Path, found: Mapping[str, Any]) -> list[Path]:
    """Every picture that there are figures for."""
    made = []
    if found.get("cases"):
        made.append(_ratios(folder / "ratios.png", found["cases"]))
    if found.get("growth"):
        made.append(_growth(folder / "growth.png", found["growth"]))
    if found.get("memory"):
        made.append(_memory(folder / "memory.png", found["memory"]["rss"]))
    return made


def _ratios(file: Path, cases: Mapping[str, Any]) -> Path:
    """A bar for each ratio that has a goal, the middle half of its rounds, and the goal."""
    shown = {
        f"{name}, to {WORDS[case['goal']['of']]}": case
        for name, case in cases.items()
        if case["goal"]["unit"] == "x"
    }
    figure, axes = pyplot.subplots(figsize=(11, 0.36 * len(shown) + 1.6))
    for row, case in enumerate(reversed(shown.values())):
        ratio, goal = seen(case), case["goal"]["at_most"]
        axes.barh(row, ratio, color=COLOURS[met(case)], height=0.6)
        low, high = quartiles(case[RAW]["rounds"][case["goal"]["of"]])
        axes.plot([low, high], [row, row], color="black", lw=1)
        axes.plot([goal] * 2, [row - 0.4, row + 0.4], color="black", lw=2)
        axes.text(max(high, ratio, goal), row, f"  {ratio:.2f}", va="center", size=8)
    axes.set_yticks(range(len(shown)), list(reversed(shown)), size=8)
    axes.axvline(1, color="#777777", ls=":", lw=1)
    axes.set_xlabel(
        "p50 as a ratio; thick: goal; thin: middle half of the rounds; red: goal missed"
    )
    return _saved(figure, file)


def _growth(file: Path, growth: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    """What a server computes for a filter call, over each thing that grows."""
    figure, panels = pyplot.subplots(1, len(growth), figsize=(5 * len(growth), 4), squeeze=False)
    for axes, (name, points) in zip(panels[0], growth.items(), strict=True):
        at = [point[name] for point in points]
        for line in LINES:
            axes.plot(at, [point[line] for point in points], STYLES[line], ms=4, label=line)
        axes.plot(at, [point["floor"] for point in points], ":", color="black", label="lean floor")
        axes.set_xlabel(name)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("CPU of the server for a filter call, ms")
    panels[0][0].legend(fontsize=8)
    return _saved(figure, file)


def _memory(file: Path, rss: Sequence[Sequence[float]]) -> Path:
    """Memory over the requests."""
    figure, axes = pyplot.subplots(figsize=(8, 3.2))
    axes.plot([asked for asked, _ in rss], [size for _, size in rss])
    axes.set_xlabel("requests")
    axes.set_ylabel("memory of the server, MB")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    return _saved(figure, file)


def _saved(figure: Any, file: Path) -> Path:
    figure.tight_layout()
    figure.savefig(file, dpi=DPI, metadata={"Software": None})
    pyplot.close(figure)
    return file
