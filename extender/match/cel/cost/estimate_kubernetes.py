"""What calls cost at most by the rules of the Kubernetes library, by function."""

import math
from collections.abc import Mapping
from typing import Final

from extender.match.cel.cost.bounds import LIMIT, ONE, UNKNOWN, ZERO, Bounds, exactly, wrapped
from extender.match.cel.cost.estimate_standard import (
    LIST_BASE,
    REGEX,
    STRUCT_BASE,
    TRAVERSAL,
    comparison,
    matching,
)
from extender.match.cel.cost.operands import Estimate, Operand, Rule, Site, nominal, traversal
from extender.match.cel.types import (
    BYTES,
    CIDR,
    IP,
    NAMED_FORMAT,
    QUANTITY,
    SEMVER,
    STRING,
    URL,
)

_TWICE: Final = 0.2  # per character: read and written, or read two times
_ADDRESS: Final = Bounds(4, 16)  # bytes of an IP address
_FORMAT_NAME: Final = Bounds(1, 64)
_FORMAT_PATTERN: Final = 128
_REQUIREMENTS: Final = 0.5  # of a selector, per character
_REQUIREMENT: Final = float((LIST_BASE + STRUCT_BASE).most)
_AUTHORIZATION_CHECK: Final = exactly(350_000)

_COMPARED_AT_ONCE: Final = frozenset(
    {IP.name, CIDR.name, QUANTITY.name, SEMVER.name}
    | {
        f"kubernetes.authorization.{name}"
        for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
    }
)


def _equality(site: Site) -> Estimate:
    left, right = site.operands
    if left.type != right.type:
        return comparison(site)
    if left.type.name in _COMPARED_AT_ONCE:
        return nominal(site)
    if left.type == NAMED_FORMAT:
        return Estimate(_FORMAT_NAME.scaled(TRAVERSAL))
    if left.type == URL:
        most = 1 if right.known_size is None else right.known_size.most
        return Estimate(Bounds(1, most).scaled(TRAVERSAL))
    return comparison(site)


def _elements(site: Site) -> Estimate:
    """Compares all elements of a list, or searches a string."""
    whole = site.operands[0]
    if not whole.type.parameters:
        return Estimate(whole.size.scaled(TRAVERSAL))
    element = ONE
    if whole.type.parameters[0] in (STRING, BYTES):
        # Upstream finds the size of an element by its path, and no list is declared.
        element += UNKNOWN.scaled(TRAVERSAL)
    return Estimate(whole.size * element)


def _same_size(position: int) -> Rule:
    def rule(site: Site) -> Estimate:
        size = site.operands[position].size
        return Estimate(size.scaled(TRAVERSAL), size)

    return rule


def _times(whole: int, part: int) -> int:
    return min(math.ceil(float(whole) / float(part)), LIMIT)


def _longest(whole: int, old: Bounds, new: Bounds) -> tuple[int, int]:
    """How often the text is replaced and how much is kept where the result is the longest."""
    if old.least == 0:
        return min(whole + 1, LIMIT), whole
    if new.most <= old.least:
        return 0, whole
    return _times(whole, old.least), 0


def _shortest(whole: int, old: Bounds, new: Bounds) -> tuple[int, int]:
    if old.most == 0:
        return min(whole + 1, LIMIT), whole
    if old.most <= new.least:
        return 0, whole
    return _times(whole, old.most), 0


def _replace(site: Site) -> Estimate:
    whole, old, new = (operand.size for operand in site.operands[:3])
    most, most_kept = _longest(whole.most, old, new)
    least, least_kept = _shortest(whole.least, old, new)
    size = Bounds(least, most) * new + Bounds(least_kept, most_kept)
    return Estimate(whole.scaled(_TWICE), size)


def _split(site: Site) -> Estimate:
    whole, _, *limit = site.operands
    written = limit[0].written_int() if limit else None
    most = whole.size.most if written is None else wrapped(written)
    return Estimate(whole.size.scaled(_TWICE), Bounds(0, most))


def _join(site: Site) -> Estimate:
    whole, *separator = site.operands
    # A dyn has no elements that upstream would count.
    size = whole.size * UNKNOWN if whole.type.parameters else ZERO
    if separator:
        gaps = Bounds(max(whole.size.least - 1, 0), max(whole.size.most - 1, 0))
        size += separator[0].size * gaps
    return Estimate(size.scaled(TRAVERSAL), size)


def _find(site: Site) -> Estimate:
    text, pattern = site.operands[:2]
    return Estimate(matching(text, pattern), Bounds(0, text.size.most))


def _ip(site: Site) -> Estimate:
    return nominal(site) if site.overload == "cidr_ip" else traversal(0, TRAVERSAL)(site)


def _parsing(site: Site, text: Operand) -> Bounds:
    return text.size.scaled(TRAVERSAL) if site.overload.endswith("_string") else ZERO


def _contains_ip(site: Site) -> Estimate:
    compared = (_ADDRESS + _ADDRESS).scaled(TRAVERSAL)
    return Estimate(compared + _parsing(site, site.operands[1]))


def _contains_cidr(site: Site) -> Estimate:
    masked = _ADDRESS.scaled(TRAVERSAL) + ONE
    return Estimate(_contains_ip(site).cost + masked)


def _validate(site: Site) -> Estimate:
    text = site.operands[1].size.scaled(TRAVERSAL)
    return Estimate(text.scaled(_FORMAT_PATTERN * REGEX))


def _check(site: Site) -> Estimate:
    return Estimate(_AUTHORIZATION_CHECK)


def _selector(site: Site) -> Estimate:
    text = site.operands[1].size
    requirements = text.scaled(_REQUIREMENTS).scaled(_REQUIREMENT)
    return Estimate(LIST_BASE + text.scaled(TRAVERSAL) + requirements)


_PARSERS: Final = (
    *("cidr", "isCIDR", "isIP"),
    *("quantity", "isQuantity"),
    *("semver", "isSemver"),
)

# Functions that cost 1 by these rules have none here: they cost 1 without a rule as well.
KUBERNETES: Final[Mapping[str, Rule]] = {
    "_==_": _equality,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "url"), _same_size(0)),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    **dict.fromkeys(_PARSERS, traversal(0, TRAVERSAL)),
    "ip": _ip,
    "ip.isCanonical": traversal(0, _TWICE),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    # Nothing has these types, but a dyn may be taken for them.
    "check": _check,
    "fieldSelector": _selector,
    "labelSelector": _selector,
}
