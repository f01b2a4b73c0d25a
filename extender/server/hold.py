"""Holds a total refusal for news that is on its way.

kube-scheduler hears of a change when we do, and asks within milliseconds. If it asks again about
a refused pod and we have seen nothing happen since, the news has not reached us yet. So we wait
a moment for what the refusal depends on to change, and judge again. This only saves time: a pod
that is refused too early all the same is woken later (`nudges.py`). A pod that only has to know
where another one went waits longer: the other was placed, and will be seen on its node any moment.
"""

import time
from collections.abc import Callable
from typing import Final, Literal

from extender.cluster.source import Changing, ClusterSource
from extender.verbs.answer import Answer

Result = Literal["passed", "refused", "skipped"]

# At most this share of the time goes into holding: calls are serial in the scheduling loop,
# and pods that fit nowhere are asked about over and over.
SHARE: Final = 0.05
# A node that kube-scheduler knows and we do not is certain to come, and seldom. An Error would
# cost the pod 1 to 2 s, because kube-scheduler never ends the back-off of an error early.
NODE_SHARE: Final = 0.2
NODE_FACTOR: Final = 4.0
# What may be held in a row after a quiet time, in times of the limit of one hold.
BURST: Final = 4.0
# How long a pod waits for one in flight; a binding that takes longer has met with trouble.
IN_FLIGHT_SECONDS: Final = 1.0


class Allowance:
    """The time that may go into holding, which grows as time passes."""

    def __init__(self, seconds: float, clock: Callable[[], float], share: float = SHARE) -> None:
        self.seconds = seconds
        self._share = share
        self._clock = clock
        self._left = seconds * BURST
        self._at = clock()

    def suffices(self) -> bool:
        """Whether there is enough for one hold."""
        now = self._clock()
        self._left = min(self._left + (now - self._at) * self._share, self.seconds * BURST)
        self._at = now
        return self._left >= self.seconds

    def spend(self, seconds: float) -> None:
        """So much went into holding."""
        self._left -= seconds


class RefusalHold:
    """Decides which refusals are held, and for how long."""

    def __init__(
        self,
        source: ClusterSource,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source if isinstance(source, Changing) else None
        self._clock = clock
        self._news = Allowance(seconds, clock)
        self._nodes = Allowance(seconds * NODE_FACTOR, clock, NODE_SHARE)
        self._in_flight = Allowance(IN_FLIGHT_SECONDS, clock)

    def decide(self, answer: Answer) -> Literal["hold", "skipped"] | None:
        """Whether to hold an answer, or whether it would be if there was time; None: no reason to.

        Asked apart, because next to all answers are not held and nobody should wait for that.
        """
        if answer.generation is None or answer.passed or not answer.nodes:
            return None
        if not answer.unsettled and not answer.expects_news:
            return None
        allowance = self._allowance(answer)
        if self._source is None or not allowance.seconds:
            return None
        return "hold" if allowance.suffices() else "skipped"

    def _allowance(self, answer: Answer) -> Allowance:
        if answer.unsettled:
            return self._in_flight
        return self._nodes if answer.error else self._news

    async def hold(
        self, answer: Answer, judge: Callable[[], Answer]
    ) -> tuple[Answer, Result | None]:
        """The answer, or a later one that lets a node pass; and what came of holding it."""
        decision = self.decide(answer)
        if self._source is None or decision != "hold" or answer.generation is None:
            return answer, "skipped" if decision else None
        allowance = self._allowance(answer)
        begun = self._clock()
        until = begun + allowance.seconds
        while (left := until - self._clock()) > 0:
            if not await self._source.changed(answer.resources, answer.generation, left):
                break
            answer = judge()
            if answer.passed or answer.generation is None:
                break
            if allowance is self._in_flight and not answer.unsettled:
                # Now it is a refusal like any other, and held as long as one.
                allowance.spend(self._clock() - begun)
                return await self.hold(answer, judge)
        allowance.spend(self._clock() - begun)
        return answer, "passed" if answer.passed else "refused"
