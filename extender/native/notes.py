"""What is to be said about a pod: the Events of compile mode.

The same state has the same text, without counters or times: one cause is one Event.
"""

from typing import Final, Literal

from msgspec import Struct

Reason = Literal[
    "LeewayRuleInvalid",
    "LeewayRuleNarrowed",
    "LeewayCut",
    "LeewayPatchRefused",
    "LeewayGraceInvalid",
]

RULE_INVALID: Final[Reason] = "LeewayRuleInvalid"
RULE_NARROWED: Final[Reason] = "LeewayRuleNarrowed"
CUT: Final[Reason] = "LeewayCut"
PATCH_REFUSED: Final[Reason] = "LeewayPatchRefused"
GRACE_INVALID: Final[Reason] = "LeewayGraceInvalid"


class Note(Struct, frozen=True, gc=False):
    """One Event: its reason and its sentence."""

    reason: Reason
    message: str
