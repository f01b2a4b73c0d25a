"""Whether somebody leads."""

from datetime import UTC, datetime, timedelta

import pytest

from extender.control.controller import Always
from extender.review.doctor import leader
from extender.review.doctor.leader import Held

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("lease", "why"),
    [
        pytest.param(None, "it does not exist", id="no Lease"),
        pytest.param(Held("", ago(1), 1), "nobody holds it", id="released"),
        pytest.param(Held("a", None, 15), "a has never renewed it", id="never renewed"),
        pytest.param(Held("a", ago(16), 15), "a has not renewed it for 16 s", id="too old"),
        pytest.param(Held("a", ago(15), 15), "", id="at its very end"),
        pytest.param(Held("a", ago(2), 15), "", id="renewed"),
        pytest.param(Held("a", ago(-60), 15), "", id="by a clock that is ahead"),
    ],
)
def test_a_lease_is_held_and_renewed(lease: Held | None, why: str) -> None:
    found = list(leader.check_lease("Lease a/b", lease, NOW))

    assert [(p.severity, p.check, p.where) for p in found] == [
        ("error", "no-leader", "Lease a/b")
    ] * bool(why)
    assert all(p.why.startswith(why) for p in found)


@pytest.mark.parametrize(
    ("state", "known"),
    [
        ("leading", True),
        (Always().state(), True),
        ("following other_1", True),
        ("nobody leads yet", False),
        ("GET /apis/...: HTTP 403: no", False),
        ("", False),
    ],
)
def test_a_controller_says_who_leads(state: str, known: bool) -> None:
    assert [p.check for p in leader.check_state("x", state)] == ["no-leader"] * (not known)
