"""A body that is looked at while it arrives.

Ten megabytes of whole nodes are more than the caches hold, so nothing is worth as much as not
walking through them twice. Each chunk is compared, while it is hot, with what is known of the
nodes in it, and let go; what is left are references to nodes that are in memory already.

Nothing that is shared changes before all of a body is there and has been found good.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from extender.model.core_v1 import Node
from extender.wire import carried
from extender.wire.carried import KnownNodes

# What stands between the pod and whole nodes, and behind them, as Go writes them.
NODES_KEY: Final = b',"Nodes":{"metadata":{},"items":['
END: Final = b']},"NodeNames":null}'
_NEXT: Final = b',{"metadata":{"name":"'

# Less is not looked at by itself.
_LEAST: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Arrived:
    """A body of whole nodes: what stands before them, and the nodes, each behind a comma."""

    head: bytes
    names: list[bytes]
    texts: list[bytes]
    new: dict[bytes, Node]  # those of which the text was not known

    def __bytes__(self) -> bytes:
        return _joined(self.head, self.texts, (END,))


# What came, as it is or as it was recognised.
Body: TypeAlias = Arrived | bytes


class Intake:
    """Takes one body, chunk by chunk."""

    def __init__(self, known: KnownNodes) -> None:
        self._known = known
        self._head = b""
        self._names: list[bytes] = []
        self._texts: list[bytes] = []
        self._new: dict[bytes, Node] = {}
        self._rest = b""  # what comes behind the head and the texts
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
        if self._head and not self._gave_up and self._rest.endswith(END):
            last = self._rest[: -len(END)]
            name = _name(last, 0)
            if not last or (name is not None and self._add(name, last)):
                return Arrived(self._head, self._names, self._texts, self._new)
        return _joined(self._head, self._texts, (self._rest, *self._chunks))

    def _look(self, *, all_there: bool) -> None:
        text = b"".join(self._chunks)
        self._chunks, self._size = [], 0
        at = -1
        if not self._head:
            text = self._rest + text
            key = text.find(NODES_KEY)
            if key < 0:
                self._rest = text
                return
            self._head = text[: key + len(NODES_KEY)]
            # From here on every node has a comma before it.
            text = b"".join((b",", memoryview(text)[len(self._head) :]))
            at = 0
        elif self._rest:
            at = self._straddling(text)
        if at < 0:
            text, at = self._rest + text, 0
        self._rest = text[self._recognised(text, at, all_there=all_there) :]

    def _straddling(self, text: bytes) -> int:
        """Where the node ends that has begun in the rest, if it is a known one; else -1."""
        name = _name(self._rest, 0)
        known = None if name is None else self._known.texts.get(name)
        if name is None or known is None or not known.startswith(self._rest):
            return -1
        if not text.startswith(memoryview(known)[len(self._rest) :]):
            return -1
        self._names.append(name)
        self._texts.append(known)
        return len(known) - len(self._rest)

    def _recognised(self, text: bytes, at: int, *, all_there: bool) -> int:
        """Takes all nodes that are complete, and says where the rest begins."""
        names, texts, begins = self._names, self._texts, text.startswith
        lookup, order = self._known.texts.get, self._known.last_names
        in_order = True
        while True:
            if in_order:
                at = self._in_order(text, at)
            start = at + len(_NEXT)
            end = text.find(b'"', start)
            name = text[start:end] if end >= 0 else b""
            known = lookup(name)
            if known is None or not begins(known, at):
                if known is not None and len(text) - at < len(known) and not all_there:
                    return at  # mostly it is a known one that is cut off
                if _name(text, at) is None:
                    return at
                end = text.find(_NEXT, at + 1)
                if end < 0 or not self._add(name, text[at:end]):
                    return at
                at = end
            else:
                names.append(name)
                texts.append(known)
                at += len(known)
            in_order = len(names) < len(order) and name == order[len(names) - 1]

    def _in_order(self, text: bytes, at: int) -> int:
        """Takes as many nodes as come in the order of the request before."""
        expected, begins = self._known.last_texts, text.startswith
        first = after = len(self._texts)
        for after in range(first, len(expected)):
            known = expected[after]
            if not begins(known, at):
                break
            at += len(known)
        else:
            after = len(expected)
        self._texts += expected[first:after]
        self._names += self._known.last_names[first:after]
        return at

    def _add(self, name: bytes, text: bytes) -> bool:
        """Takes a node that is not known. If it is none, there is nothing to recognise here."""
        node = carried.decoded(name, text)
        if node is None or len(self._texts) >= carried.MAX_NODES:
            self._gave_up = True
            return False
        self._new[name] = node
        self._names.append(name)
        self._texts.append(text)
        return True


def _name(text: bytes, at: int) -> bytes | None:
    """The name of the node that begins there, if it does, with a name that is not escaped."""
    if not text.startswith(_NEXT, at):
        return None
    at += len(_NEXT)
    end = text.find(b'"', at)
    name = text[at:end]
    return name if end >= 0 and name.isascii() and b"\\" not in name else None


def _joined(head: bytes, texts: Iterable[bytes], rest: Iterable[bytes]) -> bytes:
    """The body once more."""
    if not head:
        return b"".join(rest)
    first, *others = (*texts, *rest)
    # Its comma is none of the body's.
    return b"".join((head, memoryview(first)[1:], *others))
