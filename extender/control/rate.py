"""How fast may be written: so many a second, and a second's worth at once after a pause."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

# A little less: what is left to wait may be too short for any clock to show.
_ONE: Final = 1 - 1e-9


class TokenBucket:
    """Hands out permission to write."""

    def __init__(
        self,
        per_second: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._left = per_second
        self._at = clock()

    async def take(self) -> None:
        """Wait until one more may be written."""
        self._fill()
        while self._left < _ONE:
            await self._sleep((1 - self._left) / self._per_second)
            self._fill()
        self._left -= 1

    def give_back(self) -> None:
        """It was not needed."""
        self._left = min(self._left + 1, self._per_second)

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._left + (now - self._at) * self._per_second, self._per_second)
        self._at = now
