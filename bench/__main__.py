"""`python -m bench`: everything that is measured beside a floor, in one run."""

import argparse
import tempfile
from pathlib import Path

from bench import results
from bench.ratios import Ratios, Size


def main() -> None:
    """Measure, print the table, write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", help="names, refused, expressions, whole")
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of the cluster (5000)")
    parser.add_argument("--whole", type=int, default=1_000, help="nodes sent whole (1000)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each part (9)")
    parser.add_argument("--calls", type=int, default=20, help="calls a case and round (20)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    size = Size(
        nodes=options.nodes,
        whole=options.whole,
        rounds=options.rounds,
        calls=options.calls,
        seed=options.seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        ratios = Ratios(Path(folder), size)
        for part in ratios.parts:
            if options.only in ("", part):
                ratios.measure(part)
        print(results.table(ratios.results()))


if __name__ == "__main__":
    main()
