"""Label selectors over pods, compiled to values: equal selectors compare equal and share counts.

As upstream, an absent selector selects nothing and an empty one everything. Unlike a node
selector, a malformed one is refused as a whole.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from extender.errors import SelectorError
from extender.match.selectors import is_label_key, is_label_value
from extender.model.core_v1 import LabelSelector as Written
from extender.model.core_v1 import LabelSelectorRequirement

_SETS: Final = frozenset({"In", "NotIn"})
# One requirement, with the comma behind it.
_CLAUSE: Final = re.compile(
    r"""\s* (?P<absent>!\s*)? (?P<key>[^\s,!=()<>]+) \s*
    (?(absent) | (?: (?P<sign>==|=|!=) \s* (?P<value>[^\s,!=()<>]*)
                   | (?<=\s) (?P<word>in|notin) \s* \( (?P<values>[^()]*) \) )? )
    \s* (?: , (?=\s*\S) | $ )""",
    re.VERBOSE,
)
_PRESENCE: Final = frozenset({"Exists", "DoesNotExist"})


class Requirement(NamedTuple):
    """One condition on one label; the values are sorted."""

    key: str
    operator: str
    values: tuple[str, ...]

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels match."""
        match self.operator:
            case "In":
                return self._names(labels.get(self.key))
            case "NotIn":
                return not self._names(labels.get(self.key))
            case "Exists":
                return self.key in labels
            case _:
                return self.key not in labels

    def _names(self, value: str | None) -> bool:
        """Whether a value is among the sorted ones, which may be thousands."""
        place = len(self.values) if value is None else bisect_left(self.values, value)
        return place < len(self.values) and self.values[place] == value


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all match; None selects nothing."""

    requirements: tuple[Requirement, ...] | None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels is selected."""
        return self.requirements is not None and all(r.holds(labels) for r in self.requirements)

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Whether such a pod is counted: upstream counts no pod for an empty selector."""
        return bool(self.requirements) and self.matches(labels)

    @property
    def exact(self) -> frozenset[tuple[str, str]]:
        """Labels that a pod must have, word for word: a quick look at many pods."""
        requirements = self.requirements or ()
        single = [each for each in requirements if each.operator == "In" and len(each.values) == 1]
        return frozenset((each.key, each.values[0]) for each in single)

    @property
    def size(self) -> int:
        """How many conditions a pod is compared with."""
        return len(self.requirements or ())

    def also(self, labels: Mapping[str, str]) -> "Selector":
        """The same selector with these exact labels added; None stays None."""
        if self.requirements is None:
            return self
        more = (Requirement(key, "In", (value,)) for key, value in labels.items())
        return _selector((*self.requirements, *more))


def compile_selector(written: Written | None) -> Selector:
    """The selector; SelectorError if it is malformed anywhere."""
    if written is None:
        return Selector(None)
    return _selector(_requirements(written))


def parse(text: str) -> Selector:
    """The selector of a command line, as kubectl reads it; SelectorError if it is malformed."""
    requirements = []
    place = 0
    while place < len(text):
        clause = _CLAUSE.match(text, place)
        if clause is None:
            raise SelectorError(
                f"{text[place : place + 64]!r} is not a label selector: write KEY=VALUE,"
                " KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY, separated by commas"
            )
        requirements.append(_checked(_requirement(clause)))
        place = clause.end()
    return _selector(requirements)


def _requirement(clause: re.Match[str]) -> LabelSelectorRequirement:
    key, absent, sign, value, word, values = clause.group(
        "key", "absent", "sign", "value", "word", "values"
    )
    if sign:
        operator = "NotIn" if sign == "!=" else "In"
        return LabelSelectorRequirement(key, operator, (value,))
    if word:
        among = tuple(each.strip() for each in values.split(","))
        return LabelSelectorRequirement(key, "In" if word == "in" else "NotIn", among)
    return LabelSelectorRequirement(key, "DoesNotExist" if absent else "Exists", ())


def _selector(requirements: Iterable[Requirement]) -> Selector:
    return Selector(tuple(sorted(set(requirements))))


def _requirements(written: Written) -> Iterator[Requirement]:
    for key, value in (written.match_labels or {}).items():
        yield _checked(LabelSelectorRequirement(key, "In", (value,)))
    for requirement in written.match_expressions or ():
        yield _checked(requirement)


def _checked(written: LabelSelectorRequirement) -> Requirement:
    values = tuple(sorted(set(written.values or ())))
    if written.operator not in _SETS | _PRESENCE:
        raise SelectorError(f'"{written.operator}" is not a valid label selector operator')
    if not is_label_key(written.key):
        raise SelectorError(f'key: Invalid value: "{written.key}": not a label key')
    if written.operator in _SETS and not values:
        raise SelectorError(
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        )
    if written.operator in _PRESENCE and values:
        raise SelectorError(
            "values: Invalid value: values set must be empty for exists and does not exist"
        )
    for value in values:
        if not is_label_value(value):
            raise SelectorError(f'values: Invalid value: "{value}": not a label value')
    return Requirement(written.key, written.operator, values)
