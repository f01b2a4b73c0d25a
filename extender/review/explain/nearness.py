"""The nearest value that matches, and the word that was probably meant."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

from semver import Version

from extender.match import integers, versions
from extender.match.operators import AnyComparison, Relation
from extender.review.explain.words import quoted, version_problem

_MAX_WORD: Final = 320
_MAX_CHOICES: Final = 200
_CLOSE: Final = 0.75
# A swap of two letters weighs more in a short word.
_SHORT: Final = 5
_CLOSE_IF_SHORT: Final = 0.65
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


def spelling(word: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant: other case, another prefix, or a typo."""
    if not word or len(word) > _MAX_WORD:
        return None
    others = [each for each in choices if each != word and len(each) <= _MAX_WORD][:_MAX_CHOICES]
    for plain in (str.casefold, _name):
        for each in others:
            if plain(each) == plain(word):
                return each
    return _close_name(word, others) or _close(word, {each: each for each in others})


def _close_name(word: str, others: Iterable[str]) -> str | None:
    """Among keys with the same prefix only names are compared: a long prefix looks alike."""
    prefix, slash, name = word.rpartition("/")
    if not slash:
        return None
    start = prefix + slash
    return _close(
        name, {each.removeprefix(start): each for each in others if each.startswith(start)}
    )


def _close(word: str, choices: Mapping[str, str]) -> str | None:
    prefix, slash, _ = word.rpartition("/")
    start = prefix + slash
    lowered = {
        written.casefold(): meant
        for written, meant in choices.items()
        if not slash or not written.startswith(start)
    }
    cutoff = _CLOSE if len(word) > _SHORT else _CLOSE_IF_SHORT
    found = difflib.get_close_matches(word.casefold(), lowered, n=1, cutoff=cutoff)
    return lowered[found[0]] if found else None


def _name(key: str) -> str:
    """A key without its prefix."""
    return key.rpartition("/")[2].casefold()
