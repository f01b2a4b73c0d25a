"""What is asked: a pod, who judges it, the cluster, and how much is to be said."""

from dataclasses import dataclass, field
from typing import Final

from extender.framework.interface import Profile, Settings
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain.templates import Subject

_UNBOUNDED: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is said."""

    verdicts: int = _UNBOUNDED
    names: int = 10  # of the nodes of a group
    fixes: int = 12  # groups for which a fix is looked for
    rows: int = _UNBOUNDED  # of each list of a derivation


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A pod, who judges it, and the cluster; `node` asks how one verdict comes about."""

    subject: Subject
    profile: Profile
    settings: Settings
    snapshot: Snapshot
    node: str | None = None
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def pod(self) -> Pod:
        """The pod as it would be judged."""
        return self.subject.pod


def no_clock() -> float:
    """For the core, which measures what it is told to; here nobody asks."""
    return 0.0
