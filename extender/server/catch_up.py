"""Holds a total refusal for news that may be on its way.

kube-scheduler hears of a change when we do, asks within milliseconds, and does not ask again
about a pod that was refused from an older view before the next event, which may be minutes
away. So before no node at all passes, we wait a moment for a node to change, and judge again.
"""

import time
from collections.abc import Callable
from typing import Final, Literal

from extender.cluster.source import ClusterSource, Watching
from extender.server.verbs import Answer

Result = Literal["passed", "refused", "skipped"]

# At most this share of the time goes into holding: calls are serial in the scheduling loop,
# and pods that fit nowhere are asked about over and over.
SHARE: Final = 0.05
# What may be held in a row after a quiet time, in times of the limit of one hold.
BURST: Final = 4.0


class CatchUp:
    """Decides which refusals are held, and for how long."""

    def __init__(
        self,
        source: ClusterSource,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source if isinstance(source, Watching) else None
        self._seconds = seconds
        self._clock = clock
        self._allowance = seconds * BURST
        self._at = clock()

    async def hold(
        self, answer: Answer, judge: Callable[[], Answer]
    ) -> tuple[Answer, Result | None]:
        """The answer, or a later one that lets a node pass; and what came of holding it."""
        generation = answer.generation
        if self._source is None or not self._seconds or generation is None:
            return answer, None
        if answer.passed or not answer.nodes:
            return answer, None
        begun = self._clock()
        self._allowance = min(self._allowance + (begun - self._at) * SHARE, self._seconds * BURST)
        self._at = begun
        if self._allowance < self._seconds:
            return answer, "skipped"
        until = begun + self._seconds
        while (left := until - self._clock()) > 0:
            if not await self._source.changed(generation, left):
                break
            answer = judge()
            generation = answer.generation
            if answer.passed or generation is None:
                break
        self._allowance -= self._clock() - begun
        return answer, "passed" if answer.passed else "refused"
