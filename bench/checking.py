"""Whether a ratio has become clearly worse than the committed one, on a machine that is noisy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bench import results
from bench.cluster import JSON

ATTEMPTS: Final = 3

Cases = Mapping[str, JSON]


def worsened(
    committed: Cases, parts: Sequence[str], measure: Callable[[str], Cases]
) -> dict[str, float]:
    """The cases that are worse in every attempt, and the least factor that was seen.

    A part in which something is worse is measured again; noise does not meet the same case
    three times.
    """
    failed: dict[str, float] = {}
    for attempt in range(ATTEMPTS):
        found: dict[str, float] = {}
        again = []
        for part in parts:
            seen = results.worse(committed, measure(part))
            if attempt:
                seen = {name: min(seen[name], failed[name]) for name in seen if name in failed}
            if seen:
                again.append(part)
            found |= seen
        failed, parts = found, again
        if not failed:
            break
    return failed
