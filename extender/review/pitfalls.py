"""Warnings: rules that are valid but cannot be what their author means, each with a fix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from extender.match import integers, operators
from extender.match.operators import Relation
from extender.match.taints import NO_EXECUTE
from extender.match.versions import go_quote
from extender.model.core_v1 import NodeAffinity, Toleration
from extender.model.storage_v1 import VolumeNodeAffinity
from extender.review import term_pitfalls, version_pitfalls
from extender.review.subjects import Carrier

# The API server truncates longer warnings.
_MAX_LENGTH: Final = 256
_MAX_WORD: Final = 64


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A warning about a field."""

    field: str
    text: str

    def __str__(self) -> str:
        """The warning with its path; a path that is too long loses its beginning."""
        room = max(_MAX_LENGTH - len(self.text) - len(": "), len("..."))
        field = self.field
        shown = field if len(field) <= room else "..." + field[len(field) - room + 3 :]
        return f"{shown}: {self.text}"[:_MAX_LENGTH]


def find(carriers: tuple[Carrier, ...], old: Mapping[str, Carrier]) -> Iterator[Pitfall]:
    """Warnings about rules that the old object does not have."""
    kept = _kept_from_eviction(carriers)
    for carrier in carriers:
        before = old.get(carrier.path)
        match carrier.rules:
            case tuple() as rules:
                known = before.rules if before and isinstance(before.rules, tuple) else ()
                yield from _of_tolerations(carrier, rules, frozenset(known), kept)
            case NodeAffinity() | VolumeNodeAffinity():
                if before is None or before.rules != carrier.rules:
                    for path, text in term_pitfalls.of_affinity(carrier.rules, carrier.path):
                        yield Pitfall(path, text)
            case None:
                pass


def _of_tolerations(
    carrier: Carrier,
    rules: tuple[Toleration, ...],
    known: frozenset[Toleration],
    kept: frozenset[str],
) -> Iterator[Pitfall]:
    lowest = _lowest_bounds(rules)
    for index, toleration in enumerate(rules):
        if toleration in known:
            continue
        at = f"{carrier.path}[{index}]"
        if carrier.annotated and not carrier.of_devices and _is_evicted(toleration, kept):
            yield Pitfall(at, _way_to_stay(toleration))
        if toleration.toleration_seconds is not None and _compares(toleration):
            yield Pitfall(f"{at}.tolerationSeconds", _evicted(toleration.toleration_seconds))
        if toleration.expression:
            continue
        for text in _of_value(toleration, lowest.get((toleration.key, toleration.effect))):
            yield Pitfall(f"{at}.value", text)


def _kept_from_eviction(carriers: tuple[Carrier, ...]) -> frozenset[str]:
    """The keys of native tolerations for NoExecute; "" stands for all keys."""
    return frozenset(
        rule.key
        for carrier in carriers
        if not carrier.annotated and isinstance(carrier.rules, tuple)
        for rule in carrier.rules
        if rule.effect in ("", NO_EXECUTE)
    )


def _is_evicted(toleration: Toleration, kept: frozenset[str]) -> bool:
    """Whether it is for NoExecute taints and no native toleration covers its key."""
    speaks = toleration.effect == NO_EXECUTE or (
        bool(toleration.expression) and toleration.toleration_seconds is not None
    )
    return speaks and kept.isdisjoint({"", toleration.key})


def _compares(toleration: Toleration) -> bool:
    """Whether the taint is compared, so that a matching one can be replaced by another."""
    if toleration.expression:
        return True
    operator = operators.toleration(toleration.operator)
    return operator is not None and operator.comparison is not None


def _evicted(seconds: int) -> str:
    after = f"{seconds} s after" if seconds > 0 else "at once when"
    return (
        f"the pod is evicted {after} a NoExecute taint arrives, even though this rule tolerates"
        " it: leave it out to let the pod stay"
    )


def _way_to_stay(toleration: Toleration) -> str:
    key = f"key: {_word(toleration.key)}, " if toleration.key else ""
    return (
        "eviction reads spec.tolerations only: without compile mode, add"
        f" {{{key}operator: Exists, effect: NoExecute}} there, and this narrows it"
    )


def _lowest_bounds(rules: tuple[Toleration, ...]) -> Mapping[tuple[str, str], int]:
    """The lowest `Gt` bound for each key and effect."""
    lowest: dict[tuple[str, str], int] = {}
    for rule in rules:
        bound = _bound(rule, "above")
        if bound is not None and not rule.expression:
            at = (rule.key, rule.effect)
            lowest[at] = min(bound, lowest.get(at, bound))
    return lowest


def _of_value(toleration: Toleration, lower: int | None) -> Iterator[str]:
    upper = _bound(toleration, "below")
    if upper is not None and upper <= 0:
        yield (
            f"no taint can have a value below {upper}, so this never matches: use a larger"
            " bound, or Exists"
        )
    elif upper is not None and lower is not None and lower < upper:
        # Unlike requirements of a term, tolerations cannot make a range together.
        yield (
            f"tolerations are alternatives, so Gt {lower} and Lt {upper} tolerate every number:"
            f" use an expression with int(taint.value) > {lower} && int(taint.value) < {upper}"
        )
    operator = operators.toleration(toleration.operator)
    if operator is not None and operator.kind == "semver":
        yield from version_pitfalls.of_value(toleration.key, operator, toleration.value)


def _bound(rule: Toleration, relation: Relation) -> int | None:
    """The integer that a rule compares taints to, if that is how it compares."""
    operator = operators.toleration(rule.operator)
    comparison = operator.comparison if operator is not None else None
    if comparison is None or (comparison.kind, comparison.relation) != ("integer", relation):
        return None
    return integers.canonical(rule.value)


def _word(text: str) -> str:
    """Untrusted text, shortened and on one line."""
    short = text if len(text) <= _MAX_WORD else f"{text[:_MAX_WORD]}..."
    quoted = go_quote(short)
    return short if quoted == f'"{short}"' else quoted
