"""Counts the changes of each resource and wakes those who wait for the next one."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping
from types import MappingProxyType


class Changes:
    """A generation for each resource, which changes exactly when a verdict may change."""

    def __init__(self) -> None:
        self._generations: Counter[str] = Counter()
        self.activity = 0  # grows with everything that makes kube-scheduler ask again
        self._waiting: dict[asyncio.Future[None], Collection[str]] = {}

    @property
    def generations(self) -> Mapping[str, int]:
        """A live view of the generations, by resource."""
        return MappingProxyType(self._generations)

    def note(self, resource: str) -> None:
        """Record a change and wake those who wait for it."""
        self._generations[resource] += 1
        self.activity += 1
        for waiter, resources in self._waiting.items():
            if resource in resources and not waiter.done():
                waiter.set_result(None)

    def stir(self) -> None:
        """Record what kube-scheduler reacts to although no verdict changes."""
        self.activity += 1

    def of(self, resources: Collection[str]) -> int:
        """One number for several resources, which changes whenever one of them does."""
        return sum(self._generations[resource] for resource in resources)

    async def wait(self, resources: Collection[str], since: int, seconds: float) -> bool:
        """Wait until one of them changes after a generation; returns whether one did."""
        if self.of(resources) == since:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting[waiter] = resources
            try:
                async with asyncio.timeout(seconds):
                    await waiter
            except TimeoutError:
                pass
            finally:
                del self._waiting[waiter]
        return self.of(resources) != since
