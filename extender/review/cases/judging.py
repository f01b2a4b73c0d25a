"""Compares what the core says of a pod with what a case expects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from extender.framework.interface import Code
from extender.review.cases.schema import Case, Expected
from extender.review.explain import nearness
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Bounds, Inquiry
from extender.review.explain.schema import Explanation, Fix, Verdict

MAX_MISMATCHES: Final = 20
# Who asks for no fix need not wait until one is found.
WITHOUT_FIX: Final = Bounds(fixes=0)
PASSES: Final = "passes"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One expectation that does not hold."""

    path: str  # of the expectation, such as cases[0].expect.passes
    node: str  # empty: it is not about a node
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the core says of the pod of a case."""

    mismatches: tuple[Mismatch, ...]
    omitted: int = 0  # mismatches that were left out

    @property
    def holds(self) -> bool:
        """Whether everything is as expected."""
        return not self.mismatches


def bounds_of(case: Case) -> Bounds:
    """What an explanation must contain to judge a case."""
    return WITHOUT_FIX if case.expected.fix is None else Bounds()


def judge(case: Case, inquiry: Inquiry) -> Verdicts:
    """Judge the pod as `leeway explain` does, and compare."""
    explanation = explain(inquiry)
    found = tuple(_mismatches(f"{case.path}.expect", case.expected, explanation))
    return Verdicts(found[:MAX_MISMATCHES], len(found[MAX_MISMATCHES:]))


def _mismatches(path: str, expected: Expected, explanation: Explanation) -> Iterator[Mismatch]:
    verdicts = {each.node: each for each in explanation.verdicts}
    if expected.passes is not None:
        yield from _passing(f"{path}.passes", expected.passes, verdicts)
    for node, reason in expected.refused.items():
        verdict = verdicts.get(node)
        if verdict is None or _passes(verdict) or reason not in verdict.reason:
            wanted = f"refused: {reason}" if reason else "refused"
            yield Mismatch(f"{path}.refused.{node}", node, wanted, _said(node, verdicts))
    for node, score in expected.scores.items():
        verdict = verdicts.get(node)
        if verdict is None or verdict.score != score:
            said = _said(node, verdicts)
            if verdict is not None and verdict.score is not None:
                said = f"score {verdict.score}"
            yield Mismatch(f"{path}.scores.{node}", node, f"score {score}", said)
    if expected.fix is not None and expected.fix not in _fix_in_words(explanation.fix):
        told = _fix_in_words(explanation.fix)
        if not told:
            told = "none: a node passes" if explanation.passing else "none"
        yield Mismatch(f"{path}.fix", "", expected.fix, told)


def _passing(
    path: str, expected: tuple[str, ...], verdicts: Mapping[str, Verdict]
) -> Iterator[Mismatch]:
    for place, node in enumerate(expected):
        verdict = verdicts.get(node)
        if verdict is None or not _passes(verdict):
            yield Mismatch(f"{path}[{place}]", node, PASSES, _said(node, verdicts))
    listed = frozenset(expected)
    for node in sorted(name for name, each in verdicts.items() if _passes(each)):
        if node not in listed:
            yield Mismatch(path, node, "not listed", PASSES)


def _passes(verdict: Verdict) -> bool:
    return verdict.code == Code.SUCCESS.value


def _said(node: str, verdicts: Mapping[str, Verdict]) -> str:
    """The verdict on a node in words."""
    verdict = verdicts.get(node)
    if verdict is None:
        meant = nearness.spelling(node, verdicts)
        hint = f": did you mean {meant}?" if meant else ""
        return f"there is no such node{hint}"
    if _passes(verdict):
        return PASSES
    return f"refused: {verdict.reason} ({verdict.plugin})"


def _fix_in_words(fix: Fix | None) -> str:
    """Every change and every advice of a fix."""
    if fix is None:
        return ""
    return "; ".join((*(change.summary for change in fix.changes), *fix.advice))
