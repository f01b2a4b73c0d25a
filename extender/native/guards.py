"""Guards: they keep a bound pod where it is until Leeway has seen a changed taint.

Taint-eviction acts within milliseconds of a changed value, before anybody can add the new one. So
a bound pod gets `{key, operator: Exists, effect: NoExecute, tolerationSeconds}` for each key that
its rules are about. Taint-eviction takes the first toleration that matches: a guard must stand
behind all others of its key, and Kubernetes evicts after its seconds if none of them matches.
"""

from collections.abc import Iterable

from extender.match.selectors import is_label_key
from extender.match.taints import NO_EXECUTE
from extender.model.core_v1 import Taint, Toleration
from extender.native.carried import Carried
from extender.native.extended import EXISTS, seconds_of


def guards(pod: Carried, taints: Iterable[Taint], most: int) -> tuple[Toleration, ...]:
    """The guards that a pod on a node with these taints should have besides those it has.

    A pod has at most `most`. The keys on its node come first, the others in order.
    """
    own = pod.own_exists()
    wanted = {
        key: seconds
        for key, seconds in _seconds(pod, taints).items()
        if seconds > 0 and key not in pod.guards and not own & {key, ""}
    }
    room = max(most - len(pod.guards), 0)
    return tuple(
        Toleration(key=key, operator=EXISTS, effect=NO_EXECUTE, toleration_seconds=wanted[key])
        for key in sorted(list(wanted)[:room])
    )


def _seconds(pod: Carried, taints: Iterable[Taint]) -> dict[str, int]:
    """For how long each key is guarded: for as long as the rule allows, or for the grace."""
    seconds: dict[str, int] = {}
    for taint in taints:
        rule = pod.extended.first(taint) if taint.effect == NO_EXECUTE else None
        if rule is not None:
            own = seconds_of(rule)
            seconds[taint.key] = pod.grace if own is None else own
    named: dict[str, int | None] = {}
    for each in pod.extended.evicting():
        named.setdefault(each.key, seconds_of(each))
    for key in sorted(filter(is_label_key, named)):  # no node has a taint with another key
        own = named[key]
        seconds.setdefault(key, pod.grace if own is None else own)
    return seconds
