"""An ordinary caller beside the adversary: how long it waits. Run by `bench.adversary`.

It asks about one pod and a hundred nodes, a hundred times a second. `look` on its input makes it
say what it has seen since the last look.
"""

import json
import select
import sys
from random import Random
from typing import Final

from bench.asks import Names
from bench.client import Connection
from bench.cluster import name_of
from bench.rounds import quantile
from bench.workloads import Workload, mixed_rules

PAUSE_SECONDS: Final = 0.01
NAMES: Final = 100


def main() -> None:
    """Ask until the input ends."""
    address, nodes = sys.argv[1], int(sys.argv[2])
    names = Names([name_of(number) for number in range(min(NAMES, nodes))], Random(1))
    connection, workload = Connection(address), Workload("neighbour", mixed_rules(1))
    waited: list[float] = []
    while True:
        ask = names.ask("filter", workload.pod())
        waited.append(connection.post("/filter", ask.body)[0])
        ready, _, _ = select.select([sys.stdin], [], [], PAUSE_SECONDS)
        if ready:
            if not sys.stdin.readline():
                return
            ordered = sorted(waited)
            seen = {"p50": quantile(ordered, 0.5), "p99": quantile(ordered, 0.99)}
            most = quantile(ordered, 1.0)
            print(json.dumps({**seen, "max": most, "calls": len(waited)}), flush=True)
            waited.clear()


if __name__ == "__main__":
    main()
