"""Findings: values that matching could not parse.

Upstream does not distinguish a value that does not parse from one that does not match. Findings
do: the core returns them with its verdicts, and the server counts them.
"""

from dataclasses import dataclass
from typing import Literal

Source = Literal["taint", "label", "toleration", "affinity"]
Kind = Literal["integer", "semver", "cel"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One value that a rule could not parse.

    For CEL: if the expression does not compile, `value` is the expression itself; if it ends in
    an error for a taint, `expression` is set and `value` is the taint's.
    """

    source: Source
    kind: Kind
    key: str
    value: str
    expression: str = ""
    problem: str = ""


Noticed = set[Finding]
