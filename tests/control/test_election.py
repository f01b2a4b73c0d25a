"""Who may write: one replica at a time, and soon another one when it is gone."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.control.election import RENEW_SECONDS
from tests.cluster.apiserver import Answer, Body, CutOff, Held, OfLease, eventually
from tests.control.replicas import NAME, NAMESPACE, Replica, World, a_world

STEP = 0.5


async def moment_of_change(world: World, replica: Replica, leads: bool, limit: float) -> float:
    """How long it takes until a replica leads, or does not, in steps."""
    passed = 0.0
    while replica.leads != leads and passed < limit:
        await world.advance(STEP)
        passed += STEP
    return passed


async def test_the_first_replica_creates_the_lease() -> None:
    async with a_world() as world:
        replica = await world.replica("a_1").start()

        assert replica.leads
        assert replica.changes == [(1_000.0, True)]
        assert replica.elector.state() == "leading"
        assert world.lease == {
            "holderIdentity": "a_1",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T00:00:00.000000Z",
            "leaseTransitions": 0,
        }


async def test_a_leader_renews_and_stays() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await world.advance(120)

        assert (leader.leads, other.leads) == (True, False)
        assert leader.changes == [(1_000.0, True)]
        assert other.changes == []
        assert other.elector.state() == "following a"
        assert world.lease["acquireTime"] == "2026-01-01T00:00:00.000000Z"
        assert world.lease["renewTime"] == "2026-01-01T00:02:00.000000Z"
        assert world.lease["leaseTransitions"] == 0


async def test_an_undisturbed_leader_takes_one_request_every_two_seconds() -> None:
    async with a_world() as world:
        await world.replica("a").start()
        world.server.lease_requests.clear()
        await world.advance(20)

        assert world.server.lease_requests == ["PUT"] * 10


async def test_a_leader_that_is_gone_is_followed_within_20_seconds_and_not_before_15() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await world.advance(7)
        await leader.stop()
        before = await moment_of_change(world, other, True, 60)

        assert 14 <= before <= 17  # of the last renewal, a second ago
        assert world.lease["holderIdentity"] == "b"
        assert world.lease["leaseTransitions"] == 1
        assert world.lease["acquireTime"] == world.lease["renewTime"]


async def test_of_two_who_wait_one_takes_over() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        others = [await world.replica(name).start() for name in "bc"]
        await leader.stop()
        await world.advance(20)

        assert sorted(other.leads for other in others) == [False, True]


@pytest.mark.parametrize("seconds", [-86_400.0, 86_400.0], ids=["back", "ahead"])
async def test_a_wall_clock_that_is_set_changes_nothing(seconds: float) -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await world.advance(3)
        world.wall += seconds
        await world.advance(30)

        assert (leader.leads, other.leads) == (True, False)


async def test_times_in_the_lease_do_not_count() -> None:
    async with a_world() as world:
        long_ago = "2020-01-01T00:00:00.000000Z"
        world.put_lease(
            holderIdentity="x", leaseDurationSeconds=15, acquireTime=long_ago, renewTime=long_ago
        )
        replica = await world.replica("a").start()
        await world.advance(14.9)
        assert not replica.leads
        assert replica.elector.state() == "following x"
        await world.advance(0.1)

        assert replica.leads


@pytest.mark.parametrize(
    ("spec", "waits"),
    [
        pytest.param({}, 0, id="a Lease that says nothing"),
        pytest.param({"holderIdentity": ""}, 0, id="nobody"),
        pytest.param({"holderIdentity": "x"}, 15, id="no duration is ours"),
        pytest.param({"holderIdentity": "x", "leaseDurationSeconds": 4}, 4, id="a shorter one"),
        pytest.param(
            {"holderIdentity": "x", "leaseDurationSeconds": 10**9}, 15, id="for ever is 15 s"
        ),
    ],
)
async def test_how_long_a_lease_is_respected(spec: dict[str, object], waits: float) -> None:
    async with a_world() as world:
        world.put_lease(**spec)
        replica = await world.replica("a").start()

        assert await moment_of_change(world, replica, True, 60) == waits


async def test_what_others_wrote_into_the_metadata_stays() -> None:
    async with a_world() as world:
        world.put_lease()
        await world.replica("a").start()
        await world.advance(5)

        metadata = world.server.objects["leases"][f"{NAMESPACE}/{NAME}"]["metadata"]
        assert metadata["labels"] == {"of": "others"}


# --- A leader that cannot renew ----------------------------------------------------------------


async def test_a_leader_stops_10_seconds_after_its_last_renewal_while_requests_hang() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        await world.advance(4)
        world.server.answers_leases.clear()
        await world.advance(9.9)
        assert leader.leads
        await world.advance(0.1)

        # The last renewal was at 1004; it is told at once, though requests still hang.
        assert not leader.leads
        assert leader.changes == [(1_000.0, True), (1_014.0, False)]
        assert leader.elector.state() == "the API server does not answer in time"


async def test_the_term_counts_from_the_start_of_a_slow_renewal() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        answer = asyncio.Event()
        world.server.on_lease(Held(answer))
        await world.advance_until_held()
        world.let_pass(4)
        answer.set()
        await world.settle()
        world.server.answers_leases.clear()
        await world.advance(60)

        assert leader.changes == [(1_000.0, True), (1_002.0 + RENEW_SECONDS, False)]


async def test_a_gap_between_two_terms_is_told() -> None:
    """Whoever would have written in it must know that it did not."""
    async with a_world() as world:
        leader = await world.replica("a").start()
        answer = asyncio.Event()
        world.server.on_lease(Held(answer))
        await world.advance_until_held()
        world.let_pass(9)  # as if the process was frozen
        assert not leader.leads
        answer.set()
        await world.settle()

        assert leader.leads
        assert leader.changes == [(1_000.0, True), (1_011.0, False), (1_011.0, True)]


async def test_nobody_leads_beside_a_leader_that_hangs() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await world.advance(5)
        world.server.on_lease(*[Answer(503)] * 4)  # whoever asks
        for _ in range(120):
            await world.advance(STEP)
            assert leader.leads + other.leads <= 1

        assert leader.leads + other.leads == 1


async def test_a_leader_that_could_not_renew_leads_again_at_the_first_answer() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        world.server.answers_leases.clear()
        await world.advance(13)
        assert not leader.leads
        world.server.answers_leases.set()
        await world.advance(6)

        assert leader.leads
        assert world.lease["leaseTransitions"] == 0


async def test_a_leader_that_finds_somebody_else_stops_at_once() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        world.put_lease(holderIdentity="forced", leaseDurationSeconds=15)
        await world.advance(2)

        assert not leader.leads
        assert leader.changes == [(1_000.0, True), (1_002.0, False)]
        assert leader.elector.state() == "following forced"


async def test_a_renewal_is_answered_with_the_lease_of_somebody_else() -> None:
    stolen = b'{"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"x"}}'
    async with a_world() as world:
        leader = await world.replica("a").start()
        world.server.on_lease(Body(stolen))
        await world.advance(2)

        assert leader.changes == [(1_000.0, True), (1_002.0, False)]


# --- What the API server may answer ------------------------------------------------------------

GARBAGE = [
    pytest.param(Body(b"<html>"), id="no JSON"),
    pytest.param(Body(b""), id="nothing"),
    pytest.param(Body(b"[" * 100_000), id="too deep"),
    pytest.param(Body(b'{"metadata":{"resourceVersion":"\xff"}}'), id="no UTF-8"),
    pytest.param(Body(b"null"), id="null"),
    pytest.param(Body(b'{"metadata":{},"spec":{}}'), id="no version"),
    pytest.param(Body(b'{"metadata":{"resourceVersion":""},"spec":{}}'), id="an empty version"),
    pytest.param(
        Body(b'{"metadata":{"resourceVersion":"1"},"spec":{"leaseDurationSeconds":"long"}}'),
        id="a duration that is no number",
    ),
    pytest.param(Answer(500), id="500"),
    pytest.param(Answer(503), id="503"),
    pytest.param(Answer(429), id="429"),
    pytest.param(Answer(403), id="403"),
    pytest.param(Answer(401), id="401"),
    pytest.param(Answer(400), id="400"),
    pytest.param(Answer(422), id="422"),
    pytest.param(Answer(410), id="410"),
    pytest.param(CutOff(), id="half an answer"),
]


@pytest.mark.parametrize("fault", GARBAGE)
async def test_who_cannot_look_does_not_lead_and_tries_again(fault: OfLease) -> None:
    async with a_world() as world:
        world.server.on_lease(fault)
        replica = await world.replica("a").start()
        assert not replica.leads
        assert replica.elector.state() not in ("leading", "nobody leads yet")
        await world.advance(2)

        assert replica.leads


@pytest.mark.parametrize("fault", [*GARBAGE, pytest.param(Answer(409), id="409")])
async def test_a_leader_survives_a_fault_of_a_renewal(fault: OfLease) -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        world.server.on_lease(fault)
        await world.advance(30)

        assert leader.changes == [(1_000.0, True)]
        assert leader.leads


@pytest.mark.parametrize("fault", [Answer(500), CutOff()], ids=["refused", "written, unanswered"])
async def test_a_creation_that_fails_is_tried_again(fault: OfLease) -> None:
    async with a_world() as world:
        world.server.on_lease(None, fault)
        replica = await world.replica("a").start()
        assert not replica.leads
        await world.advance(2)

        assert replica.leads
        assert world.lease["leaseTransitions"] == 0


async def test_who_is_too_late_to_create_follows() -> None:
    async with a_world() as world:
        world.put_lease(holderIdentity="x", leaseDurationSeconds=15)
        world.server.on_lease(Answer(404))  # as it was a moment before
        replica = await world.replica("a").start()
        assert not replica.leads
        assert replica.elector.state() == "nobody leads yet"  # to lose a race is no fault
        await world.advance(2)

        assert replica.elector.state() == "following x"


async def test_who_is_too_late_to_take_over_follows() -> None:
    async with a_world() as world:
        world.put_lease(holderIdentity="x", leaseDurationSeconds=15)
        replica = await world.replica("a").start()
        await world.advance(14)
        answer = asyncio.Event()
        world.server.on_lease(None, Held(answer))
        await world.advance_until_held()
        world.put_lease(holderIdentity="y", leaseDurationSeconds=15)
        answer.set()
        await world.advance(2)

        assert not replica.leads
        assert replica.elector.state() == "following y"


async def test_a_lease_that_is_deleted_is_made_again_by_who_leads() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await world.advance(3)
        world.server.delete("leases", NAME, NAMESPACE)
        for _ in range(60):
            await world.advance(STEP)
            assert (leader.leads, other.leads) == (True, False)

        assert world.lease["holderIdentity"] == "a"


async def test_who_finds_the_lease_deleted_waits_for_a_leader_that_may_not_know() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await leader.stop()
        world.server.delete("leases", NAME, NAMESPACE)
        await world.advance(14.9)
        assert leader.leads + other.leads == 0
        await world.advance(0.1)

        assert other.leads


async def test_a_fault_is_logged_once_and_its_end_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "leeway.control")
    async with a_world() as world:
        world.server.on_lease(*[Answer(500)] * 5)
        await world.replica("a").start()
        await world.advance(30)

    assert [record.getMessage() for record in caplog.records] == [
        f"leader election: GET /apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{NAME}:"
        " HTTP 500: told to",
        "leader election: the API server answers again",
        "leader election: this process leads",
    ]


async def test_a_name_of_others_is_harmless_and_short(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "leeway.control")
    async with a_world() as world:
        world.put_lease(holderIdentity="x\n[+]all ok\x1b[2J" + "y" * 10_000)
        replica = await world.replica("a").start()
        state = replica.elector.state()

    assert state.startswith("following x\\n[+]all ok\\x1b[2Jyyy")
    assert len(state) < 300
    assert len(caplog.records[0].getMessage()) < 300


# --- Release -----------------------------------------------------------------------------------


async def test_a_released_lease_is_taken_at_the_next_attempt() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        other = await world.replica("b").start()
        await world.advance(5)
        await leader.stop()
        await leader.elector.release()
        assert leader.changes[-1] == (1_005.0, False)
        assert world.lease["holderIdentity"] == ""
        assert world.lease["leaseDurationSeconds"] == 1
        await world.advance(2)

        assert other.leads
        assert world.lease["leaseTransitions"] == 1


async def test_who_follows_releases_nothing() -> None:
    async with a_world() as world:
        await world.replica("a").start()
        other = await world.replica("b").start()
        await other.stop()
        world.server.lease_requests.clear()
        await other.elector.release()

        assert world.server.lease_requests == []
        assert world.lease["holderIdentity"] == "a"


async def test_who_was_replaced_does_not_release_the_lease_of_another() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        await leader.stop()
        world.put_lease(holderIdentity="x")
        await leader.elector.release()

        assert world.lease == {"holderIdentity": "x"}


async def test_a_lease_that_was_won_in_the_last_moment_is_released() -> None:
    async with a_world() as world:
        world.server.on_lease(None, CutOff())
        replica = await world.replica("a").start()
        await replica.stop()
        assert world.lease["holderIdentity"] == "a"
        await replica.elector.release()

        assert world.lease["holderIdentity"] == ""


async def test_a_release_gives_up_after_5_seconds() -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        await leader.stop()
        world.server.answers_leases.clear()
        leader.task = asyncio.create_task(leader.elector.release())
        await world.settle()
        assert not leader.leads
        await world.advance(5)
        await eventually(leader.task.done)

        assert leader.task.done()
        assert leader.task.exception() is None


@pytest.mark.parametrize("fault", [Answer(409), Answer(500), Body(b"<html>")])
async def test_a_release_that_fails_is_no_crash(
    fault: OfLease, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_world() as world:
        leader = await world.replica("a").start()
        await leader.stop()
        world.server.on_lease(None, fault)
        await leader.elector.release()

        assert "the Lease is not released" in caplog.text
        assert not leader.leads


# --- Twins, and chaos --------------------------------------------------------------------------


async def test_a_twin_with_the_same_identity_does_not_lead_beside_the_leader() -> None:
    async with a_world() as world:
        leader = await world.replica("same").start()
        world.wall += 0.001
        twin = await world.replica("same").start()
        await world.advance(60)
        assert (leader.leads, twin.leads) == (True, False)
        await leader.stop()
        await world.advance(20)

        assert twin.leads


async def test_a_twin_does_not_release_the_lease_of_the_leader() -> None:
    async with a_world() as world:
        leader = await world.replica("same").start()
        world.wall += 0.001
        world.server.on_lease(Answer(404))  # so that it tries to create one
        twin = await world.replica("same").start()
        await twin.stop()
        await twin.elector.release()

        assert leader.leads
        assert world.lease["holderIdentity"] == "same"


FAULTS = st.sampled_from(
    [None, None, None, Answer(500), Answer(409), Answer(404), Body(b"{"), CutOff()]
)


async def seconds_pass(world: World, seconds: float) -> None:
    """Time passes, and at no moment do two lead."""
    for _ in range(int(seconds / STEP)):
        await world.advance(STEP)
        assert sum(replica.leads for replica in world.replicas) <= 1


async def server_hangs(world: World, seconds: float) -> None:
    world.server.answers_leases.clear()
    await seconds_pass(world, seconds)
    world.server.answers_leases.set()


async def server_misbehaves(world: World, faults: Sequence[OfLease | None]) -> None:
    world.server.on_lease(*faults)


async def clock_is_set(world: World, seconds: float) -> None:
    world.wall += seconds


Happens = Callable[[World], Awaitable[None]]
EVENTS: st.SearchStrategy[Happens] = st.one_of(
    st.sampled_from([0.5, 2.0, 5.0, 11.0, 16.0]).map(lambda s: partial(seconds_pass, seconds=s)),
    st.sampled_from([1.0, 6.0, 12.0]).map(lambda s: partial(server_hangs, seconds=s)),
    st.sampled_from([-3_600.0, 3_600.0]).map(lambda s: partial(clock_is_set, seconds=s)),
    st.lists(FAULTS, min_size=1, max_size=6).map(lambda f: partial(server_misbehaves, faults=f)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(EVENTS, max_size=8), st.sampled_from(["ab", "aa"]))
def test_never_two_leaders_and_soon_one_whatever_happens(
    events: list[Happens], identities: str
) -> None:
    asyncio.run(chaos(events, identities))


async def chaos(events: list[Happens], identities: str) -> None:
    async with a_world() as world:
        for identity in identities:
            world.wall += 0.001  # no two processes write in the same microsecond
            await world.replica(identity).start()
        for happens in events:
            await happens(world)
        world.server.lease_faults.clear()
        await world.advance(40)

        assert sum(replica.leads for replica in world.replicas) == 1
