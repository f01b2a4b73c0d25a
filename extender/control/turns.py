"""A queue in which namespaces take turns, so that nobody can keep another one waiting.

Within a namespace it is first come, first served. Whoever may create pods can fill the queue of a
namespace, and the pods of all others still have every second turn or more.
"""

import asyncio
from collections import OrderedDict
from typing import Generic, TypeVar

from extender.cluster.resources import Key

V = TypeVar("V")


class Turns(Generic[V]):
    """Values by key. The key begins with the namespace, as in `namespace/name`."""

    def __init__(self, max_each: int | None = None) -> None:
        self._max_each = max_each  # of one namespace; with more, its oldest go
        # By namespace, the next one first. (Of a plain dict, taking the first takes ever longer.)
        self._queues: OrderedDict[str, OrderedDict[Key, V]] = OrderedDict()
        self._some = asyncio.Event()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __bool__(self) -> bool:
        return bool(self._queues)

    def __contains__(self, key: Key) -> bool:
        return key in self._queues.get(_namespace(key), ())

    def get(self, key: Key) -> V | None:
        """The value of a key that waits."""
        queue = self._queues.get(_namespace(key))
        return None if queue is None else queue.get(key)

    def put(self, key: Key, value: V) -> None:
        """Let a key wait; one that does already keeps its place, and gets the new value."""
        queue = self._queues.setdefault(_namespace(key), OrderedDict())
        queue[key] = value
        if self._max_each is not None and len(queue) > self._max_each:
            queue.popitem(last=False)
        self._some.set()

    def discard(self, key: Key) -> V | None:
        """Let a key wait no more; its value, if it did."""
        namespace = _namespace(key)
        queue = self._queues.get(namespace)
        if queue is None:
            return None
        value = queue.pop(key, None)
        if not queue:
            del self._queues[namespace]
        return value

    def clear(self) -> None:
        """Nobody waits any more."""
        self._queues.clear()

    def pop(self) -> tuple[Key, V] | None:
        """Whose turn it is; None if nobody waits."""
        if not self._queues:
            return None
        namespace, queue = self._queues.popitem(last=False)
        found = queue.popitem(last=False)
        if queue:
            self._queues[namespace] = queue
        return found

    async def some(self) -> None:
        """Wait until somebody waits."""
        while not self._queues:
            self._some.clear()
            await self._some.wait()


def _namespace(key: Key) -> str:
    return key.partition("/")[0]
