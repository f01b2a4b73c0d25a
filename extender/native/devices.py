"""The taints of devices, and what the rules of a claim come to over them.

A claim is immutable, so this happens before it reaches the API server. As for pods, a rule adds
one `Equal` for each taint that it matches. The scheduler and device taint eviction read nothing
else.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from extender.framework.interface import Settings
from extender.match import taints
from extender.match.taints import NO_EXECUTE, NO_SCHEDULE
from extender.model.core_v1 import Taint, Toleration
from extender.model.resource_v1 import DeviceTaintRule, ResourceSlice
from extender.native import compiling
from extender.native.extended import Extended, compile_rules
from extender.native.settings import CompileSettings

# DeviceTolerationsMaxLength of k8s.io/api/resource/v1.
MAX_TOLERATIONS: Final = 16
# `None` only informs, and unknown effects count as None.
EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})
# Protected taints are a matter of nodes.
_NO_PROTECTION: Final = CompileSettings(protected_taints=())

# Driver, pool and name of a device.
DeviceName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Completed:
    """The tolerations of a request, what its rules add, and the taints with no room left."""

    own: tuple[Toleration, ...]
    new: tuple[Toleration, ...] = ()
    left_out: tuple[Taint, ...] = ()

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """All tolerations of the request."""
        return self.own + self.new

    @property
    def added(self) -> int:
        """How many are new."""
        return len(self.new)


def devices(
    slices: Iterable[ResourceSlice], rules: Iterable[DeviceTaintRule] = ()
) -> Mapping[DeviceName, frozenset[Taint]]:
    """The taints of every device that keep claims away; of a pool only its newest generation."""
    current = list(slices)
    newest: dict[tuple[str, str], int] = {}
    for each in current:
        pool = (each.spec.driver, each.spec.pool.name)
        newest[pool] = max(newest.get(pool, 0), each.spec.pool.generation)
    found: dict[DeviceName, frozenset[Taint]] = {}
    for each in current:
        pool = (each.spec.driver, each.spec.pool.name)
        if each.spec.pool.generation == newest[pool]:
            for device in each.spec.devices or ():
                found[*pool, device.name] = _effective(device.all_taints())
    for rule in rules:
        for name in found:
            if _selects(rule, name):
                found[name] |= _effective([rule.spec.taint])
    return found


def counts(found: Mapping[DeviceName, frozenset[Taint]]) -> Mapping[Taint, int]:
    """On how many devices each taint is."""
    return Counter(taint for taints_of in found.values() for taint in taints_of)


def rules_of(written: tuple[Toleration, ...], settings: Settings) -> Extended:
    """The rules of a claim; AllowanceError if its expressions take too much work."""
    return compile_rules(written, settings, _NO_PROTECTION)


def complete(
    own: tuple[Toleration, ...], rules: Extended, known: Mapping[Taint, int], settings: Settings
) -> Completed:
    """A request's own tolerations, and behind them one for each taint that a rule adds.

    The API takes 16 in all: those on most devices come first.
    """
    plain = taints.compile_tolerations(own, settings.gates, settings.programs, set())
    wanted = compiling.compiled(plain, rules, known, room=len(known)).added
    chosen = compiling.compiled(plain, rules, known, room=MAX_TOLERATIONS - len(own)).added
    left_out = tuple(_taint(each) for each in wanted if each not in chosen)
    return Completed(own, chosen, left_out)


def _effective(found: Iterable[Taint]) -> frozenset[Taint]:
    return frozenset(each for each in found if each.effect in EFFECTS)


def _selects(rule: DeviceTaintRule, name: DeviceName) -> bool:
    selector = rule.spec.device_selector
    if selector is None:
        return False
    wanted = (selector.driver, selector.pool, selector.device)
    return all(want is None or want == is_ for want, is_ in zip(wanted, name, strict=True))


def _taint(toleration: Toleration) -> Taint:
    return Taint(toleration.key, toleration.value, toleration.effect)
