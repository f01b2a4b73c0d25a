"""Pods that need a patch: who would be evicted comes first, then who waits for a node."""

import asyncio
import itertools
from enum import IntEnum
from typing import Final

from extender.cluster.resources import Key
from extender.control.turns import Turns


class Rank(IntEnum):
    """How urgent a patch is."""

    EVICTED = 0  # without it, Kubernetes evicts the pod
    WAITING = 1  # the pod waits for a node
    GUARD = 2  # everything else


# Every fourth patch goes to those who are less urgent: somebody who edits pods all the time would
# keep the guards of all others from being written.
_FIRST: Final = (Rank.EVICTED, Rank.WAITING, Rank.GUARD)
_ORDERS: Final = (
    *(_FIRST, _FIRST, _FIRST, (Rank.WAITING, Rank.GUARD, Rank.EVICTED)),
    *(_FIRST, _FIRST, _FIRST, (Rank.GUARD, Rank.WAITING, Rank.EVICTED)),
)


class Wanted:
    """Each pod once, by rank and namespace, with the time since when it needs a patch."""

    def __init__(self) -> None:
        self._queues: dict[Rank, Turns[float]] = {rank: Turns() for rank in Rank}
        self._orders = itertools.cycle(_ORDERS)
        self._some = asyncio.Event()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def put(self, key: Key, now: float, rank: Rank) -> None:
        """A pod needs a patch; one that does already keeps its place, unless it got more urgent."""
        if any(key in self._queues[each] for each in Rank if each <= rank):
            return
        since = [self._queues[each].discard(key) for each in Rank if each > rank]
        self._queues[rank].put(key, next((each for each in since if each is not None), now))
        self._some.set()

    def discard(self, key: Key) -> None:
        """A pod needs none any more."""
        for queue in self._queues.values():
            queue.discard(key)

    def clear(self) -> None:
        """Nobody needs one any more."""
        for queue in self._queues.values():
            queue.clear()

    def pop(self) -> tuple[Key, float] | None:
        """The next one, and since when; None if there is none."""
        for rank in next(self._orders):
            found = self._queues[rank].pop()
            if found is not None:
                return found
        return None

    async def some(self) -> None:
        """Wait until there is one."""
        while not any(self._queues.values()):
            self._some.clear()
            await self._some.wait()
