"""Calls that are prepared before the clock starts: pods, and the nodes that are asked about."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.cluster import WHEN, encoded
from bench.order import scheduler_order

VERBS: Final = ("filter", "prioritize")


@dataclass(frozen=True, slots=True)
class Ask:
    """One call: what is sent, and which nodes it is about."""

    verb: str
    body: bytes
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Names:
    """Candidate nodes by name, in kube-scheduler's order: a new one in every call."""

    names: Sequence[str]
    chance: random.Random

    def ask(self, verb: str, pod: bytes) -> Ask:
        """ExtenderArgs of a scheduler with `nodeCacheCapable: true`."""
        names = scheduler_order(self.names, self.chance)
        body = b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (pod, encoded(names))
        return Ask(verb, body, names)


@dataclass(frozen=True, slots=True)
class Whole:
    """Candidate nodes as they are, by name, in kube-scheduler's order."""

    nodes: dict[str, bytes]
    chance: random.Random

    def ask(self, verb: str, pod: bytes) -> Ask:
        """ExtenderArgs of a scheduler with `nodeCacheCapable: false`.

        One node has had a heartbeat, so that its bytes are new.
        """
        names = scheduler_order(list(self.nodes), self.chance)
        beat = b"2026-01-01T00:%02d:%02dZ" % divmod(self.chance.randrange(1, 3_600), 60)
        items = [self.nodes[name] for name in names]
        items[0] = items[0].replace(WHEN.encode(), beat)
        body = b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}'
        return Ask(verb, body % (pod, b",".join(items)), names)
