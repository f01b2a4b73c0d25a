"""Validates objects: errors that refuse them, and warnings about probable mistakes.

The webhook and the command line share it. Errors are upstream's: rule, order, path and text.
Warnings are about rules that are valid but surely wrong.

A rule that the old object has in the same carrier is not validated again. So an object can always
be changed in other respects, and a bad rule can always be removed.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from typing import Final

from extender.framework.interface import Settings
from extender.match import operators
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.gates import FeatureGates
from extender.match.operators import Operators
from extender.match.versions import go_quote
from extender.model.core_v1 import NodeAffinity, Toleration
from extender.model.storage_v1 import VolumeNodeAffinity
from extender.model.workloads import Ruled
from extender.review import (
    allowances,
    annotation_pitfalls,
    fields,
    node_selectors,
    operator_names,
    pitfalls,
    subjects,
    tolerations,
)
from extender.review.fields import FieldError
from extender.review.pitfalls import Pitfall
from extender.review.subjects import Carrier
from extender.review.term_pitfalls import PREFERRED, REQUIRED
from extender.review.tolerations import Compiled

# Only the first errors are reported: a response must not be many times larger than its request.
MAX_ERRORS: Final = 100
MAX_WARNINGS: Final = 20
_LISTED: Final = "supported values"
# Characters of all expressions in one object; compiling this many takes some seconds.
MAX_EXPRESSIONS: Final = 65_536
_TOO_MUCH: Final = TooComplexError(
    f"too complex, the expressions of one object may have {MAX_EXPRESSIONS} characters in all"
)
_SHOWN_TEXT: Final = 64


@dataclass(frozen=True, slots=True)
class Report:
    """Errors and warnings about an object; errors refuse it."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[Pitfall, ...] = ()


class Review:
    """One object, with its old state if there is one, ready for validation."""

    def __init__(self, new: Ruled, old: Ruled | None, settings: Settings) -> None:
        self._settings = settings
        self._new, self._before = new, old
        self._carriers = subjects.read(new, settings)
        old_carriers = subjects.read(old, settings) if old is not None else ()
        self._old = {carrier.path: carrier for carrier in old_carriers}
        self._allowed = allowances.of(
            settings.gates,
            [rule for _, rules in subjects.tolerations(old_carriers) for rule in rules],
            subjects.terms(old_carriers),
        )

    def expressions(self) -> tuple[str, ...]:
        """The expressions that `report` will compile."""
        wanted = dict.fromkeys(
            toleration.expression
            for carrier, rules in subjects.tolerations(self._carriers)
            for _, toleration in self._new_tolerations(carrier, rules)
            if tolerations.needs_compiling(toleration, self._allowed)
        )
        sizes = accumulate(map(len, wanted))
        return tuple(
            text for text, size in zip(wanted, sizes, strict=True) if size <= MAX_EXPRESSIONS
        )

    def report(self, compiled: Compiled) -> Report:
        """All errors and warnings, up to a limit."""
        within = frozenset(self.expressions())

        def affordable(expression: str) -> CompileError | None:
            return compiled(expression) if expression in within else _TOO_MUCH

        errors = (
            error for carrier in self._carriers for error in self._errors(carrier, affordable)
        )
        found = tuple(islice(errors, MAX_ERRORS))
        hints = (Pitfall(error.field, hint) for error, hint in self._operator_hints() if hint)
        warnings = chain(pitfalls.find(self._carriers, self._old), hints, self._named())
        return Report(found, tuple(islice(warnings, MAX_WARNINGS)))

    def mistakes(self, *, lives: bool = False) -> tuple[Pitfall, ...]:
        """What is misspelt or misplaced, so that nobody reads it as its author meant it.

        Part of the report, for those who judge the rules themselves. Compiles no expression.
        """
        return tuple(
            islice(chain(self._unknown_operators(), self._named(lives=lives)), MAX_WARNINGS)
        )

    def _unknown_operators(self) -> Iterator[Pitfall]:
        """Operators that do not exist, or are off, and which ones there are."""
        for error, hint in self._operator_hints():
            message = replace(error, shown=go_quote(error.operator or "")).message
            upstream, listed, _ = message.partition(_LISTED)
            if listed and hint.startswith(_LISTED):
                yield Pitfall(error.field, f"{upstream}{hint}")
            else:
                yield Pitfall(error.field, f"{message}; {hint}" if hint else message)

    def _operator_hints(self) -> Iterator[tuple[FieldError, str]]:
        """Errors about operators, each with what upstream's message does not say.

        The message itself is upstream's to the letter, which knows a part of the operators.
        """
        for carrier in self._carriers:
            for error in self._errors(carrier, lambda _: None):
                if error.operator is None:
                    continue
                table = _table(carrier)
                if carrier.annotated:
                    yield error, operator_names.supported(error.operator, table, self._allowed)
                else:
                    word = operator_names.meant(error.operator, table)
                    yield error, f"did you mean {word}?" if word else ""

    def _named(self, *, lives: bool = False) -> Iterator[Pitfall]:
        found = annotation_pitfalls.find(self._new, self._before, self._settings, lives=lives)
        return (Pitfall(*each) for each in found)

    def _errors(self, carrier: Carrier, compiled: Compiled) -> Iterator[FieldError]:
        old = self._old.get(carrier.path)
        if old is not None and carrier.annotated and carrier.text == old.text:
            return
        if carrier.problem:
            yield _unreadable(carrier)
        match carrier.rules:
            case NodeAffinity():
                yield from _check_affinity(carrier.rules, old, carrier.path, self._allowed)
            case VolumeNodeAffinity():
                yield from _check_volume(carrier.rules, old, carrier.path, self._allowed)
            case tuple():
                for index, toleration in self._new_tolerations(carrier, carrier.rules):
                    at = f"{carrier.path}[{index}]"
                    effects = tolerations.DEVICE_EFFECTS if carrier.of_devices else None
                    yield from tolerations.check(toleration, at, self._allowed, compiled, effects)
            case None:
                pass

    def _new_tolerations(
        self, carrier: Carrier, rules: Iterable[Toleration]
    ) -> Iterator[tuple[int, Toleration]]:
        old = self._old.get(carrier.path)
        known = frozenset(old.rules if old is not None and isinstance(old.rules, tuple) else ())
        for index, toleration in enumerate(rules):
            if toleration not in known:
                yield index, toleration


def check(new: Ruled, old: Ruled | None, settings: Settings) -> Report:
    """Validate an object, and compile its expressions synchronously."""
    review = Review(new, old, settings)
    compilation = settings.programs.compilation(review.expressions())
    compilation.go_on(math.inf)
    settings.programs.learn(compilation.finished)
    return review.report(compilation.failure)


def _check_affinity(
    rules: NodeAffinity, old: Carrier | None, path: str, allowed: FeatureGates
) -> Iterator[FieldError]:
    known = old.rules if old is not None and isinstance(old.rules, NodeAffinity) else NodeAffinity()
    if rules.required is not None:
        yield from node_selectors.check_required(
            rules.required, known.required, f"{path}.{REQUIRED}", allowed
        )
    yield from node_selectors.check_preferred(
        rules.preferred or (), frozenset(known.preferred or ()), f"{path}.{PREFERRED}", allowed
    )


def _check_volume(
    rules: VolumeNodeAffinity, old: Carrier | None, path: str, allowed: FeatureGates
) -> Iterator[FieldError]:
    known = old.rules if old is not None else None
    if rules.required is not None:
        before = known.required if isinstance(known, VolumeNodeAffinity) else None
        yield from node_selectors.check_required(
            rules.required, before, f"{path}.required", allowed
        )
    elif rules != known:
        yield fields.required(f"{path}.required", "must specify required node constraints")


def _table(carrier: Carrier) -> Operators:
    return operators.TOLERATION if isinstance(carrier.rules, tuple) else operators.AFFINITY


def _unreadable(carrier: Carrier) -> FieldError:
    """Why an annotation cannot be read, at the field that is wrong if there is one."""
    wrong = carrier.wrong
    if wrong is None or not wrong.field:
        return fields.invalid(carrier.path, _cut(carrier.text or ""), carrier.problem)
    return fields.wrong_type(carrier.path, wrong)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]}..."
