"""Keeps a store in sync with one resource of the API server: list, then watch, forever.

Closed streams, bookmarks, expired resource versions and ERROR events are all normal; the
reflector recovers from each. It decodes and applies events in slices and yields to the event
loop in between.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from extender.cluster.api import ApiServer, Connection
from extender.cluster.cache import Store
from extender.cluster.resources import Bookmark, Event, Fault, Key, Meta, Object, Resource, key_of
from extender.errors import ApiError, ApiGoneError, ApiUnsupportedError, GarbageError

log = logging.getLogger("leeway.cluster")

T = TypeVar("T", bound=Object)
S = TypeVar("S")

SLICE: Final = 64
WATCH_SECONDS: Final = (300, 600)
# A connection that lasted this long was healthy: reset the back-off when it ends.
HEALTHY_SECONDS: Final = 5.0
_GONE: Final = 410


class Backoff:
    """Exponential back-off with jitter."""

    def __init__(self, first: float = 0.2, most: float = 10.0) -> None:
        self._first = first
        self._most = most
        self._next = first

    def reset(self) -> None:
        """Start over after a healthy connection."""
        self._next = self._first

    def seconds(self) -> float:
        """How long to wait now; doubles the next wait."""
        wait = self._next * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, no secret
        self._next = min(self._next * 2, self._most)
        return wait


class Reflector(Generic[T]):
    """Lists and watches one resource."""

    def __init__(
        self,
        resource: Resource[T],
        api: ApiServer,
        store: Store[T],
        *,
        on_restart: Callable[[str, str], None] = lambda _resource, _reason: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._resource = resource
        self._api = api
        self._store = store
        self._on_restart = on_restart
        self._clock = clock
        self._sleep = sleep
        self._backoff = Backoff()
        self._streams_lists = True
        self._version: str | None = None  # None: list again
        self._listed: set[Key] | None = None  # during a list: the keys seen so far
        self._heard: float | None = None
        self._streaming = False
        self.synced = asyncio.Event()

    @property
    def name(self) -> str:
        """The name of the resource, as in its URL."""
        return self._resource.name

    @property
    def current(self) -> bool:
        """Whether the store is up to date, except for events in transit."""
        return self._streaming and self._version is not None

    @property
    def objects(self) -> int:
        """How many objects the store has."""
        return len(self._store)

    def age(self) -> float | None:
        """Seconds since the server last sent something; None if it never did."""
        return None if self._heard is None else self._clock() - self._heard

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            begun = self._clock()
            resumed = self._version is not None
            reason, sentence = await self._connected()
            lasted = self._clock() - begun > HEALTHY_SECONDS
            if lasted:
                self._backoff.reset()
            self._on_restart(self.name, reason)
            log.log(
                logging.DEBUG if reason == "closed" else logging.WARNING,
                "watch of %s: %s",
                self.name,
                sentence,
            )
            # A server closes every watch after some minutes and drops old versions, above all after
            # a restart. Reconnect at once then; if the list fails, the next round waits.
            ordinary = (reason == "closed" and lasted) or (reason == "gone" and resumed)
            if not ordinary:
                await self._sleep(self._backoff.seconds())

    async def _connected(self) -> tuple[str, str]:
        """One connection, from a list or from the last version; returns why it ended."""
        try:
            async with self._api.connect() as connection:
                if self._version is None and not self._streams_lists:
                    await self._list(connection)
                await self._watch(connection)
        except ApiGoneError as exc:
            self._version = None
            return "gone", str(exc)
        except ApiUnsupportedError as exc:
            if self._version is None:
                self._streams_lists = False
            self._version = None
            return "unsupported", str(exc)
        except GarbageError as exc:
            self._version = None
            return "garbage", str(exc)
        except ApiError as exc:
            return "error", str(exc)
        except Exception:  # the watch must go on, whatever one object does
            log.exception("watch of %s broke", self.name)
            self._version = None
            return "fault", "an internal fault, see above"
        finally:
            self._streaming = False
        return "closed", "the server closed the stream"

    async def _list(self, connection: Connection) -> None:
        """A paged list. Each page is applied and freed before the next request."""
        self._listed = set()
        params = self._resource.params | {"limit": str(self._resource.page)}
        while True:
            page = self._resource.decode_page(await connection.get(self._resource.path, params))
            self._hear()
            for obj in page.items or ():
                self._put(obj)
            if not page.metadata.continue_:
                break
            params["continue"] = page.metadata.continue_
        await self._end_list(page.metadata.resource_version)

    async def _watch(self, connection: Connection) -> None:
        seconds = random.randint(*WATCH_SECONDS)  # noqa: S311 - spreads load, no secret
        params = self._resource.params | {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        if self._version is None:
            self._listed = set()
            params |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        else:
            params["resourceVersion"] = self._version
        async with (
            contextlib.aclosing(connection.stream(self._resource.path, params)) as stream,
            contextlib.aclosing(_lines(stream, self._hear)) as pieces,
        ):
            async for lines in pieces:
                for batch in _slices(lines):
                    for line in batch:
                        await self._apply(self._resource.decode_event(line))
                    await asyncio.sleep(0)

    async def _apply(self, event: Event[T] | Bookmark | Fault) -> None:
        match event:
            case Event(type="DELETED", object=obj):
                meta = _meta(obj)
                self._store.remove(key_of(meta))
                self._advance(meta.resource_version)
            case Event(object=obj):
                self._put(obj)
            case Bookmark(version=version, ends_list=ends):
                if ends and self._listed is not None:
                    await self._end_list(version)
                else:
                    self._advance(version)
            case Fault(code=code, message=message):
                sentence = f"ERROR {code}: {message[:256]}"
                if code == _GONE:
                    raise ApiGoneError(sentence)
                # Whatever the error is, the watch cannot continue from this version.
                self._version = None
                raise ApiError(sentence)

    def _put(self, obj: T) -> None:
        meta = _meta(obj)
        key = key_of(meta)
        if self._listed is not None:
            self._listed.add(key)
        self._store.put(key, obj)
        self._advance(meta.resource_version)

    def _advance(self, version: str) -> None:
        # During a streaming list there is no version to continue from yet.
        if self._listed is None and version:
            self._version = version

    async def _end_list(self, version: str) -> None:
        """The list is complete: remove the objects that it did not contain."""
        if not version:  # not a real list: it must not empty the store
            raise GarbageError("a list without a resourceVersion")
        listed, self._listed = self._listed or set(), None
        for batch in _slices(self._store.keys()):
            for key in batch:
                if key in listed:
                    listed.remove(key)  # one by one: freeing the whole set at once blocks the loop
                else:
                    self._store.remove(key)
            await asyncio.sleep(0)
        self._version = version
        self.synced.set()

    def _hear(self) -> None:
        self._heard = self._clock()
        self._streaming = True


def _meta(obj: Object) -> Meta:
    if obj.metadata is None or not obj.metadata.name:
        raise GarbageError("an object without a name")
    return obj.metadata


async def _lines(
    stream: AsyncIterator[bytes], hear: Callable[[], None]
) -> AsyncGenerator[list[bytes], None]:
    """The complete lines of each chunk. An incomplete last line is dropped."""
    rest = b""
    async for chunk in stream:
        hear()
        *lines, rest = (rest + chunk).split(b"\n")
        yield [line for line in lines if line]


def _slices(items: Sequence[S]) -> Iterator[Sequence[S]]:
    for start in range(0, len(items), SLICE):
        yield items[start : start + SLICE]
