"""What extended rules come to over the taints that there are: `Equal`s, and nothing else.

An `Equal` for a taint that a rule matches can never become wrong, because a rule looks at nothing
but the taint. So adding is enough, and it is all that the API allows on a living pod.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from extender.match.taints import NO_EXECUTE, Tolerations
from extender.model.core_v1 import Taint, Toleration
from extender.native.extended import EQUAL, Extended, seconds_of


@dataclass(frozen=True, slots=True)
class Compiled:
    """The tolerations to add, in order, and whether the limit left some out."""

    added: tuple[Toleration, ...] = ()
    cut: bool = False


def compiled(
    own: Tolerations, extended: Extended, taints: Mapping[Taint, int], room: int
) -> Compiled:
    """The tolerations of a pod that waits, for taints that so many nodes have each.

    At most `room` are added, those on most nodes first. A pod may have more than it should, and
    so less than no room.
    """
    room = max(room, 0)
    wanted = [
        taint for taint in taints if extended.tolerates(taint) and not own.tolerates(taint, set())
    ]
    cut = len(wanted) > room
    if cut:
        wanted.sort(key=lambda taint: (-taints[taint], *_order(taint)))
        del wanted[room:]
    return Compiled(_equals(extended, wanted), cut)


def compiled_on_node(
    own: Tolerations, extended: Extended, taints: Iterable[Taint]
) -> tuple[Toleration, ...]:
    """The tolerations of a pod that has a node with these taints.

    Only NoExecute matters to it any more, and there no limit applies: a value that is left out
    evicts the pod.
    """
    evicting = {each: 1 for each in taints if each.effect == NO_EXECUTE}
    return compiled(own, extended, evicting, room=len(evicting)).added


def _equals(extended: Extended, wanted: Iterable[Taint]) -> tuple[Toleration, ...]:
    return tuple(_equal(extended, taint) for taint in sorted(wanted, key=_order))


def _equal(extended: Extended, taint: Taint) -> Toleration:
    rule = extended.first(taint) if taint.effect == NO_EXECUTE else None
    return Toleration(
        key=taint.key,
        operator=EQUAL,
        value=taint.value,
        effect=taint.effect,
        # The API takes seconds for NoExecute only.
        toleration_seconds=seconds_of(rule) if rule else None,
    )


def _order(taint: Taint) -> tuple[str, str, str]:
    return taint.key, taint.value, taint.effect
