"""A body that is looked at while it arrives.

Ten megabytes of whole nodes are more than the caches hold, so nothing is worth as much as not
walking through them twice. Each chunk is compared, while it is hot, with what is known of the
nodes in it, and let go; what is left are references to nodes that are in memory already.

Nothing that is shared changes before all of a body is there and has been found good.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Final, TypeAlias

from extender.model.core_v1 import Node
from extender.wire import carried
from extender.wire.carried import END, Arrived, Familiar, KnownNodes, Order

# What stands between the pod and whole nodes, as Go writes them.
NODES_KEY: Final = b',"Nodes":{"metadata":{},"items":['
_KEY: Final = b',"Nodes":'
_NEXT: Final = b',{"metadata":{"name":"'

# Less is not looked at by itself.
_LEAST: Final = 1 << 16


# What came, as it is or as it was recognised.
Body: TypeAlias = Arrived | bytes


class Intake:
    """Takes one body, chunk by chunk."""

    def __init__(self, known: KnownNodes) -> None:
        self._known = known
        self._version = known.version
        self._head = b""
        # Orders of which the first is what came so far, and how much that was.
        self._followed: list[Order] = []
        self._same = 0
        self._nodes: list[Familiar] = []
        self._new: dict[int, Node] = {}
        self._rest = b""  # what comes behind the head and the nodes
        self._gave_up = False
        self._chunks: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Take what came next."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        # At least as much as is looked at once more, so that chunks of no size make it slow.
        enough = max(_LEAST if self._head else 1, len(self._rest))
        if self._size >= enough and not self._gave_up:
            self._look(all_there=False)

    def end(self) -> Body:
        """That was all: the body, as bytes if it is none of whole nodes as Go writes it."""
        if not self._gave_up:
            self._look(all_there=True)
        if self._followed:
            order = self._followed[0]
            if self._same == len(order.text):
                return Arrived(self._head, order.nodes, {}, order.version)
            self._stop_following()
        if self._head and not self._gave_up and self._rest.endswith(END):
            last = self._rest[: -len(END)]
            name = _name(last, 0)
            if not last or (name is not None and self._add(name, last)):
                return Arrived(self._head, self._nodes, self._new, self._version)
        return carried.joined(self._head, self._nodes, (self._rest, *self._chunks))

    def _look(self, *, all_there: bool) -> None:
        text = b"".join(self._chunks)
        self._chunks, self._size = [], 0
        if not self._head:
            text = self._rest + text
            key = text.find(_KEY)
            self._gave_up = key >= 0 and not NODES_KEY.startswith(text[key : key + len(NODES_KEY)])
            if key < 0 or len(text) < key + len(NODES_KEY) or self._gave_up:
                self._rest = text
                return
            self._head = text[: key + len(NODES_KEY)]
            # From here on every node has a comma before it.
            text, self._rest = b"".join((b",", memoryview(text)[len(self._head) :])), b""
            self._followed = self._known.orders.copy()
        if self._followed:
            if self._follows(text):
                return
            self._stop_following()
        at = self._straddling(text) if self._rest else 0
        if at < 0:
            text, at = self._rest + text, 0
        self._rest = text[self._recognised(text, at, all_there=all_there) :]

    def _follows(self, text: bytes) -> bool:
        """Whether an order goes on like this. One that does not is never looked at again."""
        came = memoryview(self._followed[0].text)[: self._same]
        for number, order in enumerate(self._followed):
            if order.text.startswith(text, self._same) and (
                not number or order.text.startswith(came)
            ):
                del self._followed[:number]
                self._same += len(text)
                return True
        return False

    def _stop_following(self) -> None:
        """What came so far are some nodes, and a part of one."""
        order = self._followed[0]
        ends = [0, *accumulate(len(node.text) for node in order.nodes)]
        count = bisect_right(ends, self._same) - 1
        self._nodes = order.nodes[:count]
        self._rest = order.text[ends[count] : self._same]
        self._version = min(self._version, order.version)
        self._followed = []

    def _straddling(self, text: bytes) -> int:
        """Where the node ends that has begun in the rest, if it is a known one; else -1."""
        name = _name(self._rest, 0)
        known = None if name is None else self._known.known.get(name)
        if known is None or not known.text.startswith(self._rest):
            return -1
        if not text.startswith(memoryview(known.text)[len(self._rest) :]):
            return -1
        self._nodes.append(known)
        return len(known.text) - len(self._rest)

    def _recognised(self, text: bytes, at: int, *, all_there: bool) -> int:
        """Takes all nodes that are complete, and says where the rest begins."""
        while True:
            at = self._by_name(text, self._in_order(text, at))
            name = _name(text, at)
            if name is None:
                return at
            known = self._known.known.get(name)
            if known is not None and len(text) - at < len(known.text) and not all_there:
                return at  # mostly it is a known one that is cut off
            end = text.find(_NEXT, at + 1)
            if end < 0 or not self._add(name, text[at:end]):
                return at
            at = end

    def _by_name(self, text: bytes, at: int) -> int:
        """Takes as many nodes as are known, in any order."""
        lookup, find, begins = self._known.known.get, text.find, text.startswith
        take = self._nodes.append
        while True:
            start = at + len(_NEXT)
            known = lookup(text[start : find(b'"', start)])
            if known is None or not begins(known[0], at):
                return at
            take(known)
            at += len(known[0])

    def _in_order(self, text: bytes, at: int) -> int:
        """Takes as many nodes as come in the order of the request before."""
        expected, begins = self._known.last.nodes, text.startswith
        first = after = len(self._nodes)
        for after in range(first, len(expected)):
            known = expected[after][0]
            if not begins(known, at):
                break
            at += len(known)
        else:
            after = len(expected)
        self._nodes += expected[first:after]
        return at

    def _add(self, name: bytes, text: bytes) -> bool:
        """Takes a node that is not known. If it is none, there is nothing to recognise here."""
        node = carried.decoded(name, text)
        if node is None or len(self._nodes) >= carried.MAX_NODES:
            self._gave_up = True
            return False
        self._new[len(self._nodes)] = node
        self._nodes.append(Familiar(text, name.decode(), -1))
        return True


def _name(text: bytes, at: int) -> bytes | None:
    """The name of the node that begins there, if it does, with a name that is not escaped."""
    if not text.startswith(_NEXT, at):
        return None
    at += len(_NEXT)
    end = text.find(b'"', at)
    name = text[at:end]
    return name if end >= 0 and name.isascii() and b"\\" not in name else None
