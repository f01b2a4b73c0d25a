"""The ordering operators: how the node's value is compared to the rule's.

The same six names mean the same order everywhere, but tolerations take integers in canonical
form only, while node affinity takes whatever Go's ParseInt does.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from semver import Version

from extender.match import integers, versions
from extender.match.findings import Kind
from extender.match.versions import Order

# True or False as the comparison goes, None if the node's value does not parse.
ValueTest = Callable[[str], bool | None]
T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Comparison(Generic[T, K]):
    """One operator: how both sides are read, and when it holds (node's value first)."""

    kind: Kind
    parse: Callable[[str], T | None]
    order: Callable[[str], K | None]  # the same, as it is compared
    holds: Callable[[K, K], bool]

    def against(self, text: str) -> ValueTest | None:
        """A test of values against `text`, which is parsed once; None if it does not parse."""
        bound = self.order(text)
        if bound is None:
            return None
        order, holds = self.order, self.holds

        def test(value: str) -> bool | None:
            key = order(value)
            return None if key is None else holds(key, bound)

        return test


Comparisons = Mapping[str, Comparison[Version, Order] | Comparison[int, int]]

_SEMVER: Final = {
    "SemverGt": Comparison("semver", versions.parse, versions.order, operator.gt),
    "SemverLt": Comparison("semver", versions.parse, versions.order, operator.lt),
    "SemverEq": Comparison("semver", versions.parse, versions.order, operator.eq),
}
OF_TOLERATIONS: Final[Comparisons] = _SEMVER | {
    "Gt": Comparison("integer", integers.canonical, integers.canonical, operator.gt),
    "Lt": Comparison("integer", integers.canonical, integers.canonical, operator.lt),
}
OF_AFFINITY: Final[Comparisons] = _SEMVER | {
    "Gt": Comparison("integer", integers.signed, integers.signed, operator.gt),
    "Lt": Comparison("integer", integers.signed, integers.signed, operator.lt),
}
