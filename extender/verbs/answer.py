"""An answer to kube-scheduler, with what the log and the metrics want to know about it."""

from msgspec import Struct

from extender.framework.stats import CallStats
from extender.model.core_v1 import Pod
from extender.wire.answers import Pieces


class Answer(Struct, frozen=True, gc=False):
    """The body of an answer in pieces, and what it says."""

    pieces: Pieces
    pod: Pod
    mode: str
    nodes: int
    passed: int
    stats: CallStats | None = None
    error: str = ""
    # What news could turn a refusal into a pass, and its generation; none if no news could.
    resources: frozenset[str] = frozenset()
    generation: int | None = None
    unsettled: bool = False  # only pods in flight stand in the way
    expects_news: bool = False  # kube-scheduler knows something that we do not know yet

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces)
