"""From the names of a request to the bytes of its answer: rows, verdicts, scores.

`NameIndex` turns the names of a request into rows. `Candidates` looks the rows up in columns of
codes and writes the answer. The work is done in C where the package was built with a compiler, and
in Python elsewhere: same interface, same bytes, slower. The room knows nothing of pods and nodes.
"""

from typing import Final

try:
    from extender.rows._native import Candidates, NameIndex, count_names, recognise
except ImportError:
    from extender.rows.plain import (  # type: ignore[assignment]
        Candidates,
        NameIndex,
        count_names,
        recognise,
    )

UNKNOWN: Final = 0  # the row of a name that nobody knows
UNASKED: Final = 0xFFFF_FFFF  # in a table: this code was not asked about yet
IMPLEMENTATION: Final = "python" if NameIndex.__module__.endswith(".plain") else "native"

__all__ = [
    "IMPLEMENTATION",
    "UNASKED",
    "UNKNOWN",
    "Candidates",
    "NameIndex",
    "count_names",
    "recognise",
]
