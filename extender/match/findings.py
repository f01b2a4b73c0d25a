"""What matching noticed on the way to a verdict.

Upstream cannot tell a value that does not parse from one that does not match. Findings can: the
core returns them beside its verdicts, and the server counts them.
"""

from dataclasses import dataclass
from typing import Literal

Source = Literal["taint", "label", "toleration", "affinity"]
Kind = Literal["integer", "semver", "cel"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One value that a rule could not read.

    For CEL: an expression that does not compile is its own value; one that ends in an error for
    a taint is the `expression` that could not read the taint's value.
    """

    source: Source
    kind: Kind
    key: str
    value: str
    expression: str = ""
    problem: str = ""


Noticed = set[Finding]
