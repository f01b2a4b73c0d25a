"""Plans for pods, where most take microseconds and a hostile one may take seconds.

What is small is done at once. A long annotation is read, and costly expressions are worked on, in
a thread, and the pod is looked at again afterwards: nobody else waits.
"""

import operator
from collections.abc import Callable, Collection, Iterable
from typing import Final

from extender.errors import AllowanceError, AnnotationError
from extender.framework.interface import Settings
from extender.match.taints import CORDON
from extender.model.core_v1 import LivePod, Taint, Toleration
from extender.native import carried, planning
from extender.native.extended import Extended
from extender.native.notes import Note
from extender.native.planning import Plan
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.verbs.cel_budget import CelBudget

# A longer annotation is read in the thread: YAML takes up to 50 ms.
INLINE_CHARACTERS: Final = 8_192


class Planner:
    """Plans for one configuration, over the taints of the cluster."""

    def __init__(
        self,
        settings: Settings,
        compile_settings: CompileSettings,
        taints: TaintUniverse,
        cel: CelBudget,
    ) -> None:
        self.settings = settings
        self.compile = compile_settings
        self.taints = taints
        self._cel = cel

    def plan(
        self, pod: LivePod, remembered: Collection[str] = (), *, prepared: bool = False
    ) -> Plan | None:
        """What is to be written to a pod; None if that takes work: see `prepare`."""
        if not prepared and self._is_long(pod):
            return None
        self._cel.begin_call()
        try:
            return planning.plan(pod, self.taints, self.settings, self.compile, remembered)
        except AllowanceError:
            return None

    def has_same_rules(self, one: LivePod, other: LivePod) -> bool:
        """Whether two states of a pod have the same rules."""
        keys = (carried.rules_key(pod, self.settings) for pod in (one, other))
        return one is other or operator.eq(*keys)

    def extended(self, pod: LivePod) -> Extended | None:
        """The rules of a pod; None if they cannot be read, or not at once."""
        if self._is_long(pod):
            return None
        self._cel.begin_call()
        try:
            return carried.extended_of(pod, self.settings, self.compile)
        except (AllowanceError, AnnotationError):
            return None

    def narrowed(self, pod: LivePod, before: LivePod, now: Extended | None) -> Note | None:
        """What is to be said if a pod keeps what its rules of before came to.

        Nothing is said where that takes work: it is only a remark.
        """
        rules = self.extended(before)
        try:
            return None if rules is None else planning.narrowed(pod, rules, now)
        except AllowanceError:
            return None

    def concerns(self, pod: LivePod, appeared: Iterable[Taint]) -> bool:
        """Whether taints that are new in the cluster may mean something to a pod that waits."""
        extended = self.extended(pod)
        if extended is None:
            return True  # the look at the pod will tell
        try:
            return any(map(extended.tolerates, appeared))
        except AllowanceError:
            return True

    async def prepare(self, pod: LivePod) -> None:
        """Do the work that `plan` could not do at once, or a part of it."""
        read = await self._cel.in_thread(lambda: _reading(pod, self.settings))
        try:
            written = carried.rules_key(pod, self.settings)[0] + read()
        except AnnotationError:
            written = ()
        expressions = [each.expression for each in written if each.expression]
        taints = {*self.taints.counts, *self.taints.on(pod.spec.node_name), CORDON}
        await self._cel.run(self.settings.programs.work(expressions, taints))
        self._cel.begin_call()
        try:
            carried.extended_of(pod, self.settings, self.compile, read)
        except (AllowanceError, AnnotationError):
            return  # the next look at the pod meets it again

    def _is_long(self, pod: LivePod) -> bool:
        key = carried.rules_key(pod, self.settings)
        if len(key[1] or "") <= INLINE_CHARACTERS:
            return False
        return self.settings.compiled.peek(key) is None


def _reading(pod: LivePod, settings: Settings) -> Callable[[], tuple[Toleration, ...]]:
    """Read the annotation now; what is returned tells, or raises, what came of it."""
    try:
        read = carried.annotated(pod, settings)
    except AnnotationError as exc:
        annotation, problem = exc.annotation, exc.problem

        def fail() -> tuple[Toleration, ...]:
            raise AnnotationError(annotation, problem)

        return fail
    return lambda: read
