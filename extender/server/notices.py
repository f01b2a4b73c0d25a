"""What matching noticed, for the log: every broken CEL expression once, the rest at debug level."""

import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Final

from extender.framework.interface import shortened
from extender.match.findings import Finding

log = logging.getLogger("leeway.scheduler")

MAX_REMEMBERED: Final = 10_000


class Notices:
    """Knows which expressions it has spoken of."""

    def __init__(self, max_remembered: int = MAX_REMEMBERED) -> None:
        self._max_remembered = max_remembered
        # By hash, so that foreign text does not fill memory; the order is that of arrival.
        self._spoken_of: OrderedDict[int, None] = OrderedDict()

    def log(self, findings: Iterable[Finding]) -> None:
        """Log what is new: an author should hear of a broken rule, but not at every call."""
        debugging = log.isEnabledFor(logging.DEBUG)
        for finding in findings:
            if finding.kind == "cel" and self._is_new(finding.expression or finding.value):
                expression = shortened(finding.expression or finding.value)
                fields = {"expression": expression, "problem": shortened(finding.problem)}
                if finding.source == "taint":
                    fields["taint"] = f"{finding.key}={finding.value}"
                log.warning("CEL expression matches nothing", extra={"fields": fields})
            if debugging:
                log.debug("unreadable value", extra={"fields": asdict(finding)})

    def _is_new(self, expression: str) -> bool:
        key = hash(expression)
        if key in self._spoken_of:
            return False
        self._spoken_of[key] = None
        if len(self._spoken_of) > self._max_remembered:
            self._spoken_of.popitem(last=False)
        return True
