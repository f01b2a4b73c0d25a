"""The input of an explanation: a pod, its profile, the cluster, and limits."""

from dataclasses import dataclass, field
from typing import Final

from extender.framework.interface import Profile, Settings
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.native.settings import CompileSettings
from extender.review.explain.templates import Subject

_UNBOUNDED: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the size of an explanation."""

    verdicts: int = _UNBOUNDED
    names: int = 10  # of the nodes of a group
    fixes: int = 12  # groups to find a fix for
    rows: int = _UNBOUNDED  # of each list of a derivation


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A pod, its profile and the cluster; `node` asks for the derivation of one verdict."""

    subject: Subject
    profile: Profile
    settings: Settings
    snapshot: Snapshot
    node: str | None = None
    bounds: Bounds = field(default_factory=Bounds)
    compile_settings: CompileSettings | None = None  # None: nothing is said of compile mode

    @property
    def pod(self) -> Pod:
        """The pod to judge."""
        return self.subject.pod


def no_clock() -> float:
    """A clock for the core, whose timings are not used here."""
    return 0.0
