"""The extended rules of a pod: what only Leeway understands, compiled."""

from collections.abc import Iterable
from typing import Final

from extender.framework.interface import Settings
from extender.match import operators, taints
from extender.match.findings import Noticed
from extender.match.taints import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Matcher, Tolerations
from extender.model.core_v1 import Taint, Toleration
from extender.native.settings import CompileSettings

EQUAL: Final = "Equal"
EXISTS: Final = "Exists"
_PLAIN: Final = frozenset({"", EQUAL, EXISTS})
_INT64_MAX: Final = (1 << 63) - 1
_EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)


class Extended:
    """The rules of a pod, in their order: native ones first, then the annotation's."""

    __slots__ = ("_all", "_compile", "_named")

    def __init__(self, compiled: Tolerations, compile_settings: CompileSettings) -> None:
        self._all = compiled
        # A rule without a key, or an expression, was not written with the taints in mind that
        # Kubernetes and autoscalers put on nodes: only a rule that names such a key adds it.
        self._named = Tolerations(tuple(each for each in compiled.matchers if each.key))
        self._compile = compile_settings

    def __bool__(self) -> bool:
        return bool(self._all.matchers)

    def tolerates(self, taint: Taint) -> bool:
        """Whether any rule matches a taint."""
        return self._for(taint.key).tolerates(taint, set())

    def first(self, taint: Taint) -> Matcher | None:
        """The first rule that matches a taint."""
        noticed: Noticed = set()
        matchers = self._for(taint.key).matchers
        return next((each for each in matchers if each.tolerates(taint, noticed)), None)

    def evicting(self) -> Iterable[Matcher]:
        """The rules that name a key and can tolerate a NoExecute taint."""
        for each in self._named.matchers:
            if each.effect in ("", NO_EXECUTE) and each.can_match:
                yield each

    def covers(self, toleration: Toleration) -> bool:
        """Whether a plain `Equal` says what a rule says, too."""
        if toleration.operator not in ("", EQUAL) or not toleration.key or toleration.expression:
            return False
        effects = (toleration.effect,) if toleration.effect else _EFFECTS
        return any(
            self.tolerates(Taint(toleration.key, toleration.value, effect)) for effect in effects
        )

    def _for(self, key: str) -> Tolerations:
        return self._named if self._compile.is_protected(key) else self._all


def seconds_of(rule: Matcher) -> int | None:
    """The seconds of a rule, as near as the API can hold them.

    An annotation may have a number that is no int64. The API server would refuse the whole pod.
    """
    if rule.seconds is None:
        return None
    return min(max(rule.seconds, -_INT64_MAX), _INT64_MAX)


def is_extended(toleration: Toleration) -> bool:
    """Whether a native toleration is a rule: it compares, or it has an expression."""
    if toleration.expression:
        return True
    return toleration.operator not in _PLAIN and toleration.operator in operators.TOLERATION


def is_plain(toleration: Toleration) -> bool:
    """Whether every part of Kubernetes understands a toleration."""
    return not toleration.expression and toleration.operator in _PLAIN


def compile_rules(
    written: tuple[Toleration, ...], settings: Settings, compile_settings: CompileSettings
) -> Extended:
    """The rules of a pod, compiled; AllowanceError if its expressions take too much work."""
    compiled = taints.compile_tolerations(written, settings.gates, settings.programs, set())
    return Extended(compiled, compile_settings)
