"""The ordering operators: how the node's value is compared to the rule's.

The same six names mean the same order everywhere, but tolerations take integers in canonical
form only, while node affinity takes whatever Go's ParseInt does.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from extender.match import integers, versions
from extender.match.findings import Kind
from extender.match.versions import Order

# True or False as the comparison goes, None if the node's value does not parse.
ValueTest = Callable[[str], bool | None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Comparison(Generic[T]):
    """One operator: how both sides are read, and when it holds (node's value first)."""

    kind: Kind
    parse: Callable[[str], T | None]
    holds: Callable[[T, T], bool]

    def against(self, text: str) -> ValueTest | None:
        """A test of values against `text`, which is parsed once; None if it does not parse."""
        bound = self.parse(text)
        if bound is None:
            return None
        parse, holds = self.parse, self.holds

        def test(value: str) -> bool | None:
            parsed = parse(value)
            return None if parsed is None else holds(parsed, bound)

        return test


Comparisons = Mapping[str, Comparison[Order] | Comparison[int]]

_SEMVER: Final = {
    "SemverGt": Comparison("semver", versions.order, operator.gt),
    "SemverLt": Comparison("semver", versions.order, operator.lt),
    "SemverEq": Comparison("semver", versions.order, operator.eq),
}
OF_TOLERATIONS: Final[Comparisons] = _SEMVER | {
    "Gt": Comparison("integer", integers.canonical, operator.gt),
    "Lt": Comparison("integer", integers.canonical, operator.lt),
}
OF_AFFINITY: Final[Comparisons] = _SEMVER | {
    "Gt": Comparison("integer", integers.signed, operator.gt),
    "Lt": Comparison("integer", integers.signed, operator.lt),
}
