"""The nearest value that matches, and the word that was probably meant."""

from typing import Final

from semver import Version

from extender.match import integers, versions
from extender.match.operators import AnyComparison, Relation
from extender.match.spelling import spelling as spelling
from extender.review.explain.words import quoted, version_problem

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1


def bound(comparison: AnyComparison, actual: str) -> str | None:
    """The value nearest to `actual` with which a rule matches it, if there is one."""
    parsed = comparison.parse(actual)
    if parsed is None:
        return None
    relation = comparison.relation
    found = _number(relation, parsed) if isinstance(parsed, int) else _version(relation, parsed)
    test = None if found is None else comparison.against(found)
    return found if test is not None and test(actual) else None


def _number(relation: Relation, actual: int) -> str | None:
    near = actual - 1 if relation == "above" else actual + 1
    return str(near) if _INT64_MIN <= near <= _INT64_MAX else None


def _version(relation: Relation, actual: Version) -> str:
    core = f"{actual.major}.{actual.minor}.{actual.patch}"
    match relation:
        case "above":
            return f"{core}-0"  # comes before every other pre-release, and so before all of core
        case "below" if actual.prerelease:
            return core
        case "below":
            return f"{actual.major}.{actual.minor}.{actual.patch + 1}"
        case _:
            return core + (f"-{actual.prerelease}" if actual.prerelease else "")


def canonical(text: str) -> str | None:
    """The canonical form of a number that is written differently; None if it is canonical."""
    parsed = integers.signed(text.strip())
    return None if parsed is None or str(parsed) == text else str(parsed)


def distance(comparison: AnyComparison, old: str, new: str) -> float:
    """The size of a change of a bound, from 0 to 1."""
    if comparison.kind == "semver":
        return _version_distance(versions.parse(old), versions.parse(new))
    before, after = integers.signed(old), integers.signed(new)
    if before is None or after is None:
        return 1.0
    return min(1.0, abs(before - after) / max(abs(before), abs(after), 1))


def _version_distance(before: Version | None, after: Version | None) -> float:
    """Another major version is farther than any minor version, and so on."""
    if before is None or after is None:
        return 1.0
    parts = zip(
        (before.major, before.minor, before.patch),
        (after.major, after.minor, after.patch),
        (0.7, 0.4, 0.15),  # where a change of this part begins
        strict=True,
    )
    for old, new, least in parts:
        if old != new:
            gap = abs(old - new)
            return least + 0.2 * gap / (gap + 1)
    return 0.1


def because(comparison: AnyComparison, value: str, actual: str) -> str:
    """Why a comparison fails, if that is not obvious."""
    if comparison.kind == "integer":
        spelled = canonical(value) is not None
        return f", because {quoted(value)} is not {comparison.noun}" if spelled else ""
    if version_problem(value):
        return f", because {quoted(value)} is not {comparison.noun} ({version_problem(value)})"
    core, dash, _ = actual.partition("-")
    if comparison.relation == "above" and dash and core == value.partition("-")[0]:
        return f", which is a pre-release and so comes before {core}"
    return ""
