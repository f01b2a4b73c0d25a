"""What a call did besides its verdicts: what is to be counted, reported and logged of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from extender.errors import LeewayError
from extender.framework.interface import Code, ExtensionPoint, Status
from extender.match.findings import Finding

Clock = Callable[[], float]


class Evaluation(Struct, frozen=True):
    """How often one plugin gave which codes at one extension point of one call."""

    plugin: str
    extension_point: ExtensionPoint
    codes: Mapping[Code, int]
    seconds: float


@dataclass(slots=True)
class CallStats:
    """What a call did besides its verdicts: evaluations to count, findings to report."""

    clock: Clock
    evaluations: list[Evaluation] = field(default_factory=list)
    findings: set[Finding] = field(default_factory=set)
    faults: list[Exception] = field(default_factory=list)  # of plugins that broke, for the log
    candidates: int = 0  # that the call was about

    def count(
        self, plugin: str, point: ExtensionPoint, codes: Mapping[Code, int], seconds: float
    ) -> None:
        """Note how often a plugin gave which codes, and how long it took."""
        self.evaluations.append(Evaluation(plugin, point, codes, seconds))

    def fault(self, exc: Exception) -> Status:
        """Note that a plugin broke; the status says what a person can use of it."""
        self.faults.append(exc)
        if isinstance(exc, LeewayError):
            # Nobody logs its frames. They would hold this object and the whole call with all its
            # programs, in a ring that the collector cannot see: structs of ours are hidden to it.
            exc.__traceback__ = None
            return Status(Code.ERROR, (str(exc),))
        return Status(Code.ERROR, (f"internal fault ({type(exc).__name__})",))
