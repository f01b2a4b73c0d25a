"""Compares what the core says of a pod with what a case expects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import Code
from extender.framework.runner import Runner
from extender.review.cases.schema import Case, Expected
from extender.review.explain import nearness
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Inquiry, no_clock
from extender.review.explain.schema import Fix, Verdict

MAX_MISMATCHES: Final = 20
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


def judge(case: Case, inquiry: Inquiry) -> Verdicts:
    """Judge the pod on every node, and compare."""
    verdicts = verdicts_on(inquiry)
    found = [*_mismatches(f"{case.path}.expect", case.expected, verdicts)]
    wanted = case.expected.fix
    if wanted is not None:
        # Who asks for no fix need not wait until one is found.
        told = _fix_in_words(explain(inquiry).fix)
        if wanted not in told:
            passes = any(map(_passes, verdicts.values()))
            said = told or ("none: a node passes" if passes else "none")
            found.append(Mismatch(f"{case.path}.expect.fix", "", wanted, said))
    return Verdicts(tuple(found[:MAX_MISMATCHES]), len(found[MAX_MISMATCHES:]))


def verdicts_on(inquiry: Inquiry) -> dict[str, Verdict]:
    """What /filter and /prioritize would say: a verdict on every node, and scores of those open."""
    profile, pod, snapshot = inquiry.profile, inquiry.pod, inquiry.snapshot
    runner, table = Runner(clock=no_clock), snapshot.table
    names = list(snapshot.nodes)
    result = runner.filter(profile, pod, snapshot, table, table.find(names))
    found = {
        name: Verdict(name, status.code.value, status.plugin, ", ".join(status.reasons))
        for name, status in zip(names, result.statuses(), strict=True)
    }
    passing = [name for name, verdict in found.items() if _passes(verdict)]
    scored = runner.score(profile, pod, snapshot, table, table.find(passing))
    for name, score in zip(passing, scored.scores(), strict=True):
        found[name] = replace(found[name], score=score)
    return found


def _mismatches(
    path: str, expected: Expected, verdicts: Mapping[str, Verdict]
) -> Iterator[Mismatch]:
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
