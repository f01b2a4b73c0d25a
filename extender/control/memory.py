"""What the controller knows of a pod beyond what the pod itself says."""

from typing import Final, Literal

from extender.cluster.reflector import Backoff
from extender.model.core_v1 import LivePod
from extender.native.notes import Note

State = Literal["current", "behind", "cut", "refused"]

# Different things that are said about one pod; a pod that changes all the time ends there.
MAX_NOTES: Final = 20
# Seconds to wait after a patch that was too late: the watch brings the pod as it is by then.
LOST: Final = (0.05, 5.0)
# Seconds to wait after a patch that was refused.
REFUSED: Final = (1.0, 300.0)


class Memory:
    """Of one pod, by its uid."""

    __slots__ = (
        "_said",
        "guarded",
        "lost",
        "not_before",
        "portions",
        "refusals",
        "refused",
        "seen",
        "state",
        "tried",
        "uid",
    )

    def __init__(self, pod: LivePod) -> None:
        self.uid = pod.metadata.uid
        self.state: State | None = None  # None: it is not compiled
        # At the last look. Not its rules, which take 16 times as much when they are compiled.
        self.seen: LivePod | None = None
        self.guarded: frozenset[str] = frozenset()
        self.portions = 0  # of work for its expressions
        self.not_before = 0.0  # when the next patch may be tried
        self.tried: bytes = b""  # the tolerations to which the last patch was refused
        self.lost = Backoff(*LOST)
        self.refused = Backoff(*REFUSED)
        self.refusals = 0  # since a patch was written, or none was needed
        self._said: set[Note] = set()

    def unsaid(self, note: Note) -> bool:
        """Whether a note is new; it is not, the next time."""
        if note in self._said or len(self._said) >= MAX_NOTES:
            return False
        self._said.add(note)
        return True

    def settled(self) -> None:
        """A patch was written, or none is needed."""
        self.not_before = 0.0
        self.lost.reset()
        self.refused.reset()
        self.refusals = 0
