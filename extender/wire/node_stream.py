"""A body of whole nodes, read while it arrives.

Ten megabytes are more than the processor's caches hold, so nothing is worth as much as not walking
through them twice. Each chunk is compared, while it is hot, with what is known of the nodes in it,
and let go; what is left are references to nodes that are in memory already.

Nothing that is shared changes before the whole body is there and was found good.
"""

from io import BytesIO
from typing import Final, TypeAlias

from extender import rows
from extender.model.core_v1 import Node
from extender.wire import known_nodes
from extender.wire.known_nodes import END, KnownNode, KnownNodes, ParsedNodes

# What stands between the pod and whole nodes, as Go writes them.
NODES_KEY: Final = b',"Nodes":{"metadata":{},"items":['
_KEY: Final = b',"Nodes":'
_NEXT: Final = b',{"metadata":{"name":"'

# Nodes that have not begun by then are not looked for any longer: no pod is as large.
_LARGEST_POD: Final = 4 << 20
# Less is not looked at by itself.
_LEAST: Final = 1 << 16

# What came, as it is or as it was recognised.
Body: TypeAlias = ParsedNodes | bytes


class NodeStreamReader:
    """Takes one body, chunk by chunk."""

    def __init__(self, known: KnownNodes) -> None:
        self._memory = memory = known.memory()
        self._changes = memory.changes
        self._head = b""
        self._nodes: list[KnownNode] = []
        self._new: dict[int, Node] = {}
        self._rest = b""  # what comes behind the head and the nodes
        self._gave_up = False
        self._plain: BytesIO | None = None  # the body, once there is nothing to recognise in it
        self._chunks: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Take what came next."""
        if self._plain is not None:
            self._plain.write(chunk)
            return
        self._chunks.append(chunk)
        self._size += len(chunk)
        # At least as much as is looked at once more, so that many small chunks are not slow.
        enough = max(_LEAST if self._head else 1, len(self._rest))
        if self._size >= enough:
            self._look()

    def end(self) -> Body:
        """That was all: the body, as bytes if it is none of whole nodes as Go writes it."""
        if self._plain is None:
            self._look()
        if self._plain is None and self._head and self._rest.endswith(END):
            last = self._rest[: -len(END)]
            name = _name(last, 0)
            if not last or (name is not None and self._add(name, last)):
                return ParsedNodes(self._head, self._nodes, self._new, self._memory, self._changes)
        return self._as_it_came().getvalue()  # without a copy

    def _as_it_came(self) -> BytesIO:
        """Give up: the body as bytes. They are never held twice, however many there are."""
        if self._plain is None:
            self._plain = plain = BytesIO()
            plain.write(self._head)
            pieces = [self._rest, *(node.text for node in reversed(self._nodes))]
            self._nodes, self._new, self._rest = [], {}, b""
            if self._head:
                pieces[-1] = pieces[-1][1:]  # its comma is none of the body's
            while pieces:
                plain.write(pieces.pop())
        return self._plain

    def _look(self) -> None:
        self._look_for_nodes()
        if self._gave_up:
            self._as_it_came()

    def _look_for_nodes(self) -> None:
        chunks = self._chunks
        text = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self._chunks, self._size = [], 0
        if not self._head:
            text = self._rest + text
            if not self._find_nodes(text):
                self._rest = text
                return
            # From here on every node has a comma before it.
            text, self._rest = b"".join((b",", memoryview(text)[len(self._head) :])), b""
        at = self._straddling(text) if self._rest else 0
        if at < 0:
            text, at = self._rest + text, 0
        self._rest = text[self._take(text, at) :]

    def _find_nodes(self, text: bytes) -> bool:
        """Whether all that stands before the nodes is there; the head, then."""
        key = text.find(_KEY)
        if key < 0:
            self._gave_up = len(text) > _LARGEST_POD
        else:
            self._gave_up = not NODES_KEY.startswith(text[key : key + len(NODES_KEY)])
        if key < 0 or len(text) < key + len(NODES_KEY) or self._gave_up:
            return False
        self._head = text[: key + len(NODES_KEY)]
        return True

    def _straddling(self, text: bytes) -> int:
        """Where the node ends that has begun in the rest, if it is a known one; else -1.

        Joining the rest with each chunk would copy the whole body once more.
        """
        name = _name(self._rest, 0)
        known = None if name is None else self._memory.known.get(name)
        if known is None or not known.text.startswith(self._rest):
            return -1
        if not text.startswith(memoryview(known.text)[len(self._rest) :]):
            return -1
        self._nodes.append(known)
        return len(known.text) - len(self._rest)

    def _take(self, text: bytes, at: int) -> int:
        """Take all nodes that are complete; where the rest begins."""
        while True:
            found, at = rows.recognise(text, at, self._memory.known)
            self._nodes += found  # type: ignore[arg-type]  # as they are known
            name = _name(text, at)
            # The next node begins where this one ends. One that is cut off has no end yet.
            end = -1 if name is None else text.find(_NEXT, at + 1)
            if name is None or end < 0 or not self._add(name, text[at:end]):
                return at
            at = end

    def _add(self, name: bytes, text: bytes) -> bool:
        """Take a node that is not known. If it is none, there is nothing to recognise here."""
        node = known_nodes.decoded(name, text)
        if node is None:
            self._gave_up = True
            return False
        self._new[len(self._nodes)] = node
        self._nodes.append(KnownNode(text, b'"%b"' % name, rows.UNKNOWN))
        return True


def _name(text: bytes, at: int) -> bytes | None:
    """The name of the node that begins there, if it does, with a name that is not escaped."""
    if not text.startswith(_NEXT, at):
        return None
    at += len(_NEXT)
    end = text.find(b'"', at)
    name = text[at:end]
    return name if end >= 0 and name.isascii() and b"\\" not in name else None
