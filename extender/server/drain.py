"""Answers that are still owed: a listener closes behind the last one."""

import asyncio
import logging

log = logging.getLogger("leeway.server")


class Owed:
    """Knows how many requests have begun that are not answered yet."""

    def __init__(self) -> None:
        self._owed = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.draining = False

    def begin(self) -> None:
        """One more answer is owed."""
        self._owed += 1
        self._idle.clear()

    def finish(self) -> None:
        """It was given, or never will be."""
        self._owed -= 1
        if not self._owed:
            self._idle.set()

    async def wait_idle(self, seconds: float) -> int:
        """Wait until every request that has begun is answered; how many still are not."""
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            log.warning("gave up on %d request(s) after %g s of draining", self._owed, seconds)
        return self._owed
