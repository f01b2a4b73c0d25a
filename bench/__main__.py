"""`python -m bench`: everything that is measured beside a floor, in one run.

Writes its results into bench/results. With --check it writes nothing, and fails when a ratio is
clearly worse than the one that stands there. `python -m bench.pages` fills the pages.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench import bench_watch, checking, growth, pages, results
from bench.cluster import JSON
from bench.endurance import Endurance
from bench.growth import Growth
from bench.ratios import Ratios, Size

RATIOS: Final = ("names", "refused", "expressions", "spread", "whole", "go")
PARTS: Final = (*RATIOS, "growth", "memory", "watch")
ROUNDS: Final = 15
CHECK_ROUNDS: Final = 5


def measured(folder: Path, parts: list[str], size: Size) -> JSON:
    """All parts that are asked for."""
    found: JSON = {"machine": results.machine()}
    ratios = Ratios(folder, size)
    for part in RATIOS:
        if part in parts:
            ratios.measure(part)
    if ratios.kept:
        found |= {"cases": ratios.results(), "not_measured": ratios.not_measured}
    if "growth" in parts:
        grown = Growth(folder, seed=size.seed)
        found["growth"] = {}
        for axis in growth.axes(size.nodes):
            print(f"measuring: growth over {axis.name}", flush=True)
            found["growth"][axis.name] = grown.measure(axis)
    if "memory" in parts:
        print("measuring: memory", flush=True)
        found["memory"] = Endurance(folder, nodes=size.nodes, seed=size.seed).measure()
    if "watch" in parts:
        print("measuring: watch", flush=True)
        load = bench_watch.Load(rounds=10, seed=size.seed)
        found["watch"] = bench_watch.run(load).rows
    return found


def check(folder: Path, parts: list[str], size: Size, committed: Path) -> int:
    """Measure the cases and compare; the exit code."""
    known = results.read(committed)["cases"]

    def measure(part: str) -> JSON:
        ratios = Ratios(folder, size, with_go_client=False)
        ratios.measure(part)
        return ratios.results()

    failed = checking.worsened(known, [part for part in RATIOS if part in parts], measure)
    for name, factor in failed.items():
        print(f"{name}: {factor:g} times the committed {results.said(known[name])}")
    print(f"{len(failed)} case(s) clearly worse than {committed.name} says")
    return 1 if failed else 0


def main() -> int:
    """Measure, print the tables, write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of the cluster (5000)")
    parser.add_argument("--small", type=int, default=1_000, help="nodes of the small one (1000)")
    parser.add_argument("--whole", type=int, default=1_000, help="nodes sent whole (1000)")
    parser.add_argument("--rounds", type=int, help="rounds of each ratio (15; of a check 5)")
    parser.add_argument("--calls", type=int, default=20, help="calls a case and round (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    rounds = options.rounds or (CHECK_ROUNDS if options.check else ROUNDS)
    size = Size(
        *(options.nodes, options.small, options.whole),
        rounds=rounds,
        calls=options.calls,
        seed=options.seed,
    )
    parts = options.only.split(",") if options.only else list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"--only: no such part: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as name:
        if options.check:
            return check(Path(name), parts, size, options.results / results.FILE)
        found = measured(Path(name), parts, size)
    results.write(options.results, found, whole=set(parts) == set(PARTS))
    print(results.markdown(found))
    draw(options.results)
    if options.results == results.FOLDER:
        pages.main()
    return 0


def draw(folder: Path) -> None:
    """The pictures, where matplotlib is installed."""
    try:
        from bench import plots
    except ImportError:
        print("no pictures: `make bench` installs matplotlib")
        return
    for file in plots.draw(folder, results.read(folder / results.FILE)):
        print(f"drawn: {file.name}")


if __name__ == "__main__":
    sys.exit(main())
