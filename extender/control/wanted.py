"""Pods that need a patch: who waits, or would be evicted, comes first."""

import asyncio

from extender.cluster.resources import Key


class Wanted:
    """Each pod once, first come, first served, with the time since when it needs a patch."""

    def __init__(self) -> None:
        self._urgent: dict[Key, float] = {}
        self._other: dict[Key, float] = {}
        self._some = asyncio.Event()

    def __len__(self) -> int:
        return len(self._urgent) + len(self._other)

    def put(self, key: Key, now: float, *, urgent: bool) -> None:
        """A pod needs a patch; one that does already keeps its place, unless it got urgent."""
        if key in self._urgent:
            return
        since = self._other.pop(key, now) if urgent else now
        queue = self._urgent if urgent else self._other
        queue.setdefault(key, since)
        self._some.set()

    def discard(self, key: Key) -> None:
        """A pod needs none any more."""
        self._urgent.pop(key, None)
        self._other.pop(key, None)

    def clear(self) -> None:
        """Nobody needs one any more."""
        self._urgent.clear()
        self._other.clear()

    def pop(self) -> tuple[Key, float] | None:
        """The next one, and since when; None if there is none."""
        queue = self._urgent or self._other
        if not queue:
            return None
        key = next(iter(queue))
        return key, queue.pop(key)

    async def some(self) -> None:
        """Wait until there is one."""
        while not len(self):
            self._some.clear()
            await self._some.wait()
