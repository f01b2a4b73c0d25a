"""What a call did besides its verdicts: what is to be counted, reported and logged of it."""

from collections.abc import Callable, Iterable, Mapping
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


def untimed(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """The same, as they are counted when they are told from memory."""
    return [Evaluation(e.plugin, e.extension_point, e.codes, 0.0) for e in evaluations]


@dataclass(slots=True)
class Ledger:
    """What a call did besides its verdicts: evaluations to count, findings to report."""

    clock: Clock
    evaluations: list[Evaluation] = field(default_factory=list)
    findings: set[Finding] = field(default_factory=set)
    faults: list[Exception] = field(default_factory=list)  # of plugins that broke, for the log

    def fault(self, exc: Exception) -> Status:
        """Note that a plugin broke; the status says what a person can use of it."""
        self.faults.append(exc)
        if isinstance(exc, LeewayError):
            return Status(Code.ERROR, (str(exc),))
        return Status(Code.ERROR, (f"internal fault ({type(exc).__name__})",))
