"""Warnings about versions that do not compare as their author expects."""

import re
from collections.abc import Iterator
from typing import Final

from semver import Version

from extender.match import versions
from extender.match.operators import Operator, Relation
from extender.match.selectors import is_label_value

# Real pre-releases; anything else after a "-" is the suffix of a distribution.
_UNFINISHED: Final = re.compile(
    r"(?:alpha|beta|rc|pre|preview|dev|snapshot|canary|nightly|unstable)[0-9]*", re.IGNORECASE
)
_LOWEST: Final = Version(0, 0, 0, "0")
_MAX_SHOWN: Final = 40


def of_value(key: str, operator: Operator, value: str) -> Iterator[str]:
    """Warnings about the version of a rule; none if it is not a version."""
    version = versions.parse(value)
    if version is None or operator.comparison is None:
        return
    relation = operator.comparison.relation
    spelled = str(version.replace(build=None))
    shown = _cut(spelled)
    if version.build is not None:
        yield (
            f"no label or taint can spell {_cut(str(version))}, and what follows the + is not"
            f" compared: write {shown}"
        )
    release = f"{version.major}.{version.minor}.{version.patch}"
    if relation == "equal" and not is_label_value(spelled):
        yield (
            f"no label or taint can spell {shown}, so this never matches: leave out what follows"
            " the numbers, or use SemverGt and SemverLt"
        )
    elif relation == "below" and version <= _LOWEST:
        yield f"no version is below {shown}, so this never matches: use a later one"
    elif version.prerelease is None:
        if "kernel" in key.lower():
            yield from _of_release(relation, version, release)
    elif _has_suffix(version.prerelease):
        yield (
            f"{shown} is a pre-release: it is below {release}, and its suffix is compared as text"
            f"; {release}-0 is below every build of {release}"
        )


def _of_release(relation: Relation, version: Version, release: str) -> Iterator[str]:
    if relation == "equal":
        later = f"{version.major}.{version.minor}.{version.patch + 1}"
        way_out = f"use SemverGt {release}-0 and SemverLt {later}-0 in one term"
    else:
        way_out = f"write {release}-0 to compare with every build of {release}"
    yield f"a kernel such as {release}-91-generic is a pre-release, below {release}: {way_out}"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _has_suffix(prerelease: str) -> bool:
    return prerelease != "0" and not _UNFINISHED.fullmatch(re.split(r"[.-]", prerelease)[0])
