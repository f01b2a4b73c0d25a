"""Choosing among the nodes that pass, for the sake of pods in flight."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from operator import not_

from extender.framework.interface import Narrowing, NodeFilter, Status
from extender.framework.ledger import Ledger
from extender.framework.snapshot import NodeInfo


def narrow(
    questions: Mapping[str, NodeFilter],
    statuses: list[Status],
    reached: Sequence[int],
    nodes: Sequence[NodeInfo],
    ledger: Ledger,
) -> None:
    """Let every question that may do so choose among the nodes that are left.

    `reached` are their places in `statuses`, which get the verdict on nodes that are not kept.
    """
    for name, question in questions.items():
        if not isinstance(question, Narrowing):
            continue
        try:
            kept, verdict = question.narrow(nodes), question.held_back
        except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
            kept, verdict = [False] * len(nodes), ledger.fault(exc)
        held_back = replace(verdict, plugin=name)
        for index in compress(reached, map(not_, kept)):
            statuses[index] = held_back
        reached = list(compress(reached, kept))
        nodes = list(compress(nodes, kept))
