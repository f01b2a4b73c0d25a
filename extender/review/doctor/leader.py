"""Checks who leads: the Lease of a cluster, and what a running controller says of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from extender.review.doctor.problems import Problem

_LEADERS: Final = ("leading", "following ")
_SO: Final = "nobody adds tolerations to pods that exist, and guards run out"


@dataclass(frozen=True, slots=True)
class Held:
    """What a Lease says: who holds it, and for how long after the last renewal."""

    holder: str = ""
    renewed_at: datetime | None = None
    seconds: int = 0


def check_lease(where: str, lease: Held | None, now: datetime) -> Iterator[Problem]:
    """Check that somebody holds the Lease and renews it."""
    if lease is None:
        why = "it does not exist"
    elif not lease.holder:
        why = "nobody holds it"
    elif lease.renewed_at is None:
        why = f"{lease.holder} has never renewed it"
    elif (age := (now - lease.renewed_at).total_seconds()) > lease.seconds:
        why = (
            f"{lease.holder} has not renewed it for {age:.0f} s, by the clock of this machine, and"
            f" it lasts for {lease.seconds} s"
        )
    else:
        return
    yield Problem(
        "error",
        "no-leader",
        where,
        f"{why}: {_SO}",
        "look at the pods of the controller and at their logs, and at leaderElection in their"
        " configuration",
    )


def check_state(where: str, state: str) -> Iterator[Problem]:
    """Check what a running controller says of the election."""
    if not state.startswith(_LEADERS):
        yield Problem(
            "error",
            "no-leader",
            where,
            f"this replica neither leads nor knows who does ({state}): if no other one leads,"
            f" {_SO}",
            "wait for 20 s after a start; then look at its log, and at its rights on the Lease",
        )
