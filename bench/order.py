"""The order in which kube-scheduler names nodes: a new one in every call.

kube-scheduler runs its own filters in 16 workers. Each takes a chunk of nodes at a time and
appends every node that passes to one list, under one atomic counter (parallelize.Until and
findNodesThatPassFilters in pkg/scheduler). So the chunks mix node by node, and neighbours rarely
stay neighbours: a run of the old order is 1.1 nodes long.
"""

import math
import random
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Final, TypeVar

T = TypeVar("T")
WORKERS: Final = 16


def chunk_size(nodes: int) -> int:
    """As chunkSizeFor in framework/parallelize/parallelism.go."""
    return max(1, min(math.isqrt(nodes), nodes // WORKERS + 1))


def scheduler_order(nodes: Sequence[T], chance: random.Random) -> list[T]:
    """The nodes as one call of kube-scheduler may list them."""
    remaining = iter(nodes)
    size = chunk_size(len(nodes))
    # Each worker holds the rest of its chunk, next node last.
    workers = [chunk for _ in range(WORKERS) if (chunk := list(islice(remaining, size))[::-1])]
    listed: list[T] = []
    while workers:
        at = int(chance.random() * len(workers))
        chunk = workers[at]
        listed.append(chunk.pop())
        if not chunk:
            workers[at] = list(islice(remaining, size))[::-1]
            if not workers[at]:
                del workers[at]
    return listed


def run_length(listed: Sequence[str]) -> float:
    """How many nodes stay side by side on average, of nodes that were sorted by name."""
    if not listed:
        return 0.0
    after = dict(zip(sorted(listed), sorted(listed)[1:], strict=False))
    breaks = sum(after.get(one) != other for one, other in pairwise(listed))
    return len(listed) / (breaks + 1)
