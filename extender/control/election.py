"""Leader election: of all replicas, the one that holds the Lease may write.

The rules are those of client-go's leaderelection. Who leads renews every 2 s, and stops to lead
10 s after its last renewal; the others wait until they have seen no renewal for 15 s. Both are
measured by the monotonic clock of each process, so clocks that are set or differ do no harm.
"""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Final, TypeVar

from msgspec import structs

from extender.cluster.api import ApiServer
from extender.control.lease import Lease, LeaseClient, LeaseSpec
from extender.errors import ApiError, GarbageError

log = logging.getLogger("leeway.control")

T = TypeVar("T")

LEASE_SECONDS: Final = 15
RENEW_SECONDS: Final = 10.0  # a leader that could not renew for so long stops
RETRY_SECONDS: Final = 2.0
REQUEST_SECONDS: Final = 5.0
_CONFLICT: Final = 409
_HOLDER_LENGTH: Final = 253
_NEVER: Final = -math.inf
_SENT: Final = 8  # more than a term has attempts


def _nobody_listens(_leads: bool) -> None:
    pass


class Elector:
    """Takes part in the election; `leads` is the fence that a writer asks before each write.

    The identity must be of this process alone.
    """

    def __init__(
        self,
        api: ApiServer,
        *,
        namespace: str,
        name: str,
        identity: str,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_change: Callable[[bool], None] = _nobody_listens,
    ) -> None:
        self._client = LeaseClient(api, namespace, name, clock=clock)
        self._identity = identity
        self._clock = clock
        self._now = now
        self._sleep = sleep
        self._on_change = on_change
        self._until = _NEVER  # the end of our term
        self._lease: Lease | None = None  # as it was seen last
        self._seen = _NEVER  # when its spec was first seen
        # What we wrote since we saw somebody else, whether or not it arrived, newest last.
        self._sent: deque[LeaseSpec] = deque(maxlen=_SENT)
        self._announced = False
        self._problem = ""

    @property
    def leads(self) -> bool:
        """Whether this process may write, at this very moment."""
        return self._clock() < self._until

    def state(self) -> str:
        """Who leads, or why this process does not know."""
        if self.leads:
            return "leading"
        if self._problem:
            return self._problem
        holder = self._lease.spec.holder_identity if self._lease else None
        return f"following {_printable(holder)}" if holder else "nobody leads yet"

    async def run(self) -> None:
        """Acquire and renew until cancelled; faults of the API server are retried."""
        try:
            while True:
                await self._try()
                self._announce()
                await self._sleep(self._pause())
                self._announce()
        finally:
            await self._client.close()

    async def release(self) -> None:
        """Stop to lead, and give the Lease up if it is ours; call it once `run` has ended."""
        led = self.leads
        self._until = _NEVER
        self._announce()
        try:
            if led or self._sent:
                await self._within(self._give_up(led))
        except (ApiError, GarbageError) as exc:
            log.warning("the Lease is not released, it ends by itself: %s", exc)
        finally:
            await self._client.close()

    # One attempt.

    async def _try(self) -> None:
        try:
            await self._acquire_or_renew()
        except (ApiError, GarbageError) as exc:
            if not self._problem:
                log.warning("leader election: %s", exc)
            self._problem = str(exc)
        else:
            if self._problem:
                log.info("leader election: the API server answers again")
            self._problem = ""

    async def _acquire_or_renew(self) -> None:
        if self.leads and self._lease and await self._renewed(self._lease):
            return
        lease = await self._within(self._client.get())
        if lease is not None:
            self._observe(lease)
        if not self._is_free():
            return
        spec = self._next_spec()
        write = self._client.update(lease, spec) if lease else self._client.create(spec)
        try:
            await self._write(write, spec)
        except ApiError as exc:
            # Somebody else was faster; the next look shows who.
            if exc.status != _CONFLICT:
                raise

    async def _renewed(self, lease: Lease) -> bool:
        """Renew without a look, as long as nobody else writes; whether that worked."""
        spec = structs.replace(lease.spec, renew_time=self._timestamp())
        try:
            await self._write(self._client.update(lease, spec), spec)
        except (ApiError, GarbageError) as exc:
            log.debug("leader election: %s", exc)
            return False
        return True

    async def _write(self, write: Coroutine[None, None, Lease], spec: LeaseSpec) -> None:
        # The others count from when they see the write, which is later than this.
        start = self._clock()
        self._sent.append(spec)
        lease = await self._within(write)
        self._observe(lease)
        if self._is_ours(lease.spec):
            self._announce()  # a term that ended meanwhile: what was not written then is made up
            self._until = start + RENEW_SECONDS

    async def _give_up(self, led: bool) -> None:
        lease = await self._client.get()
        # A write that was cut off may have made us leader without our knowing.
        if lease and self._is_ours(lease.spec) and (led or lease.spec in self._sent):
            now = self._timestamp()
            spec = LeaseSpec("", 1, now, now, lease.spec.lease_transitions)
            await self._client.update(lease, spec)
            log.info("the Lease is released")

    # What is known of the Lease.

    def _observe(self, lease: Lease) -> None:
        """Take note of the Lease; who finds somebody else in it does not lead any more."""
        old = self._lease.spec if self._lease else None
        if lease.spec != old:
            self._seen = self._clock()
        self._lease = lease
        if self._is_ours(lease.spec):
            return
        self._sent.clear()
        self._until = _NEVER
        holder = lease.spec.holder_identity
        if holder and (old is None or holder != old.holder_identity):
            log.info("leader election: %s leads", _printable(holder))

    def _is_ours(self, spec: LeaseSpec) -> bool:
        return spec.holder_identity == self._identity

    def _is_free(self) -> bool:
        """Whether we may write the Lease, because we hold it or nobody does."""
        return self._is_held() or self._clock() >= self._free_at()

    def _is_held(self) -> bool:
        """Whether we hold the Lease by our own doing, not by the name in it alone.

        A twin with the same name would have written something else than we did.
        """
        spec = self._lease.spec if self._lease else None
        return spec is not None and self._is_ours(spec) and (self.leads or spec in self._sent)

    def _free_at(self) -> float:
        """When the term of the holder ends that was seen last, also if the Lease is deleted."""
        spec = self._lease.spec if self._lease else None
        if spec is None or not spec.holder_identity:
            return _NEVER
        # Never longer than we hold it ourselves: a mistyped Lease would block all for ever.
        seconds = spec.lease_duration_seconds or LEASE_SECONDS
        return self._seen + min(seconds, LEASE_SECONDS)

    def _next_spec(self) -> LeaseSpec:
        now = self._timestamp()
        old = self._lease.spec if self._lease else None
        if old is None:
            return LeaseSpec(self._identity, LEASE_SECONDS, now, now, 0)
        if self._is_held():
            return structs.replace(old, renew_time=now)
        transitions = (old.lease_transitions or 0) + 1
        return LeaseSpec(self._identity, LEASE_SECONDS, now, now, transitions)

    def _timestamp(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    # Time.

    def _pause(self) -> float:
        """Until the next attempt: a term that ends, ours or another's, is not missed."""
        now = self._clock()
        ends = (end - now for end in (self._until, self._free_at()) if end > now)
        return min([RETRY_SECONDS, *ends])

    async def _within(self, call: Coroutine[None, None, T]) -> T:
        """The result of a call that takes at most 5 s, and never longer than our term."""
        seconds = min(REQUEST_SECONDS, self._until - self._clock())
        if seconds <= 0:
            seconds = REQUEST_SECONDS
        request = asyncio.create_task(call)
        limit = asyncio.ensure_future(self._sleep(seconds))
        try:
            await asyncio.wait((request, limit), return_when=asyncio.FIRST_COMPLETED)
            if not request.done():
                self._announce()  # before the clean-up, which may take its time
                raise ApiError("the API server does not answer in time")
            return request.result()
        finally:
            request.cancel()
            limit.cancel()
            await asyncio.gather(request, limit, return_exceptions=True)

    def _announce(self) -> None:
        """Tell a change, once."""
        leads = self.leads
        if leads == self._announced:
            return
        self._announced = leads
        log.info("leader election: this process %s", "leads" if leads else "no longer leads")
        self._on_change(leads)


def _printable(holder: str) -> str:
    """A name that somebody else wrote, harmless in a log and short."""
    return holder[:_HOLDER_LENGTH].encode("unicode_escape").decode("ascii")
