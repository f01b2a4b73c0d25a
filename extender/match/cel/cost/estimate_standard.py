"""What calls cost at most by the rules of cel-go, by overload."""

from collections.abc import Mapping
from typing import Final

from extender.match.cel.cost.bounds import LIMIT, ONE, Bounds, exactly, joined, wrapped
from extender.match.cel.cost.operands import Estimate, Operand, Rule, Site, traversal

TRAVERSAL: Final = 0.1  # of one character or byte
REGEX: Final = 0.25  # of one character of a pattern
LIST_BASE: Final = exactly(10)
MAP_BASE: Final = exactly(30)
STRUCT_BASE: Final = exactly(40)


def matching(text: Operand, pattern: Operand) -> Bounds:
    """What a search for a regular expression costs; one more character, lest it is for nothing."""
    return (text.size + ONE).scaled(TRAVERSAL) * pattern.size.scaled(REGEX)


def comparison(site: Site) -> Estimate:
    """What it costs to tell two values apart: the smaller one is gone through."""
    left, right = site.operands
    most = min(left.size.most, right.size.most)
    return Estimate(Bounds(min(most, 1), most).scaled(TRAVERSAL))


def _contains(site: Site) -> Estimate:
    text, part = site.operands
    return Estimate(text.size.scaled(TRAVERSAL) * part.size.scaled(TRAVERSAL))


def _matches(site: Site) -> Estimate:
    text, pattern = site.operands
    return Estimate(matching(text, pattern))


def _text_to_bytes(site: Site) -> Estimate:
    size = site.operands[0].size
    return Estimate(size.scaled(TRAVERSAL), Bounds(size.least, wrapped(size.most * 4)))


def _bytes_to_text(site: Site) -> Estimate:
    size = site.operands[0].size
    return Estimate(size.scaled(TRAVERSAL), Bounds(size.least // 4, size.most))


def _quote(site: Site) -> Estimate:
    size = site.operands[0].size
    quoted = Bounds(wrapped(size.least + 2), wrapped(size.most * 2 + 2))
    return Estimate(size.scaled(TRAVERSAL), quoted)


def _text_sum(site: Site) -> Estimate:
    left, right = site.operands
    size = left.size + right.size
    return Estimate(size.scaled(TRAVERSAL), size, joined(left.entries, right.entries))


def _list_sum(site: Site) -> Estimate:
    left, right = site.operands
    return Estimate(ONE, left.size + right.size, joined(left.entries, right.entries))


_COMPARABLE: Final = tuple(
    f"{operator}_{type_}"
    for operator in ("less", "less_equals", "greater", "greater_equals")
    for type_ in ("string", "bytes")
)

STANDARD: Final[Mapping[str, Rule]] = {
    "string_format": traversal(0, TRAVERSAL),
    "string_to_bytes": _text_to_bytes,
    "bytes_to_string": _bytes_to_text,
    "strings_quote": _quote,
    "starts_with_string": traversal(1, TRAVERSAL),
    "ends_with_string": traversal(1, TRAVERSAL),
    "in_list": traversal(1, 1.0),
    "matches_string": _matches,
    "contains_string": _contains,
    "add_string": _text_sum,
    "add_bytes": _text_sum,
    "add_list": _list_sum,
    "equals": comparison,
    "not_equals": comparison,
    **dict.fromkeys(_COMPARABLE, comparison),
}


def _logical(site: Site) -> Estimate:
    left, right = site.operands
    return Estimate(Bounds(left.cost.least, (left.cost + right.cost).most))


def _conditional(site: Site) -> Estimate:
    condition, yes, no = site.operands
    entries = joined(yes.entries, no.entries)
    return Estimate(condition.cost + (yes.cost | no.cost), yes.size | no.size, entries)


# Their cost holds that of the operands, which may be skipped.
LAZY: Final[Mapping[str, Rule]] = {
    "logical_and": _logical,
    "logical_or": _logical,
    "conditional": _conditional,
}


def _sets(factor: float) -> Rule:
    def rule(site: Site) -> Estimate:
        first, second = site.operands
        return Estimate((first.size * second.size).scaled(factor) + ONE)

    return rule


def _new_list(size: Bounds, factor: float) -> Estimate:
    return Estimate(size.scaled(factor) + ONE + LIST_BASE, size)


def _count(operand: Operand, default: int) -> int:
    written = operand.written_int()
    return default if written is None else max(written, 0)


def _range(site: Site) -> Estimate:
    return _new_list(exactly(_count(site.operands[0], LIMIT)), 1.0)


def _slice(site: Site) -> Estimate:
    whole, start, end = site.operands
    size = _count(end, whole.size.most) - _count(start, 0)
    return _new_list(exactly(wrapped(size)), 1.0)


def _reverse(site: Site) -> Estimate:
    return _new_list(site.operands[0].size, 1.0)


def _flatten(site: Site) -> Estimate:
    whole, *depth = site.operands
    return _new_list(whole.size, float(_count(depth[0], LIMIT)) if depth else 1.0)


def _pairwise(position: int, factor: float) -> Rule:
    def rule(site: Site) -> Estimate:
        size = site.operands[position].size
        return _new_list(size * size, factor)

    return rule


def _sorting(element: str, factor: float) -> dict[str, Rule]:
    return {
        f"list_{element}_sort": _pairwise(0, factor),
        f"list_{element}_sortByAssociatedKeys": _pairwise(1, factor),
    }


# Upstream's own extensions bring their rules along; these come first of all.
EXTENSIONS: Final[Mapping[str, Rule]] = {
    "list_sets_contains_list": _sets(1.0),
    "list_sets_intersects_list": _sets(1.0),
    "list_sets_equivalent_list": _sets(2.0),
    "lists_range": _range,
    "list_slice": _slice,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _pairwise(0, 2.0),
    **_sorting("int", 2.0),
    **_sorting("uint", 2.0),
    **_sorting("double", 2.0),
    **_sorting("bool", 2.0),
    **_sorting("google.protobuf.Duration", 2.0),
    **_sorting("google.protobuf.Timestamp", 2.0),
    **_sorting("string", 2.0 + TRAVERSAL),
    **_sorting("bytes", 2.0 + TRAVERSAL),
}
