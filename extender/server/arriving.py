"""A body as far as it has arrived."""

from io import BytesIO

from extender.server.heads import is_framed_well
from extender.wire.node_stream import Body, NodeStreamReader


class ArrivingBody:
    """Takes a body piece by piece, and never holds it twice."""

    __slots__ = ("_chunks", "_count", "_frame_bytes", "_pieces", "is_chunked", "reader", "size")

    def __init__(self, *, is_chunked: bool = False, reader: NodeStreamReader | None = None) -> None:
        self.size = 0
        self.is_chunked = is_chunked
        self.reader = reader  # of a large one
        self._pieces: list[bytes] = []
        # Many small chunks take no more than few.
        self._chunks = BytesIO() if is_chunked else None
        self._count = self._frame_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take what came next."""
        self.size += len(data)
        if self.reader is not None:
            self.reader.feed(data)
        elif self._chunks is not None:
            self._chunks.write(data)
            self._count += 1
        else:
            self._pieces.append(data)

    def end(self) -> Body:
        """That was all."""
        pieces = self._pieces
        if self.reader is not None:
            return self.reader.end()
        if self._chunks is not None:
            return self._chunks.getvalue()  # without a copy
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def is_framed_well(self, count: int = 0) -> bool:
        """Whether it is more than its frames, with so many bytes of them more."""
        self._frame_bytes += count
        return is_framed_well(self.size, self._count, self._frame_bytes)
