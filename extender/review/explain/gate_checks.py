"""Feature gates that are off and decide: with them, other nodes would pass."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from extender.framework.interface import Code, Profile, Settings
from extender.framework.snapshot import NodeInfo
from extender.match.gates import ATTRIBUTE_OF
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.schema import GateCheck
from extender.review.explain.steps import Bench, Steps, filtered


def of(
    inquiry: Inquiry, nodes: Sequence[NodeInfo], passes: Sequence[bool], bench: Bench
) -> Steps[list[GateCheck]]:
    """The gates that are off, and with which the verdict on a node would be another."""
    gates = inquiry.settings.gates
    found = []
    for gate, attribute in ATTRIBUTE_OF.items():
        if getattr(gates, attribute):
            continue
        settings = replace(inquiry.settings, gates=replace(gates, **{attribute: True}))
        profile = _with_settings(inquiry.profile, settings)
        result = yield from filtered(profile, inquiry.pod, inquiry.snapshot, nodes, bench=bench)
        then = [status.code is Code.SUCCESS for status in result.statuses]
        if then != list(passes):
            found.append(GateCheck(gate, sum(then)))
    return found


def _with_settings(profile: Profile, settings: Settings) -> Profile:
    # Every plugin is a dataclass with settings.
    filters: list[Any] = list(profile.filters)
    return replace(profile, filters=tuple(replace(each, settings=settings) for each in filters))
