from extender.control.rate import TokenBucket
from tests.cluster.apiserver import Clock


async def test_a_seconds_worth_at_once_and_then_so_many_a_second() -> None:
    clock, slept = Clock(), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))
        clock.now += seconds

    bucket = TokenBucket(5, clock=lambda: clock.now, sleep=sleep)
    for _ in range(7):
        await bucket.take()
    assert slept == [0.2, 0.2]

    bucket.give_back()
    await bucket.take()
    assert slept == [0.2, 0.2]

    clock.now += 100
    for _ in range(5):
        await bucket.take()
    assert slept == [0.2, 0.2]


async def test_a_clock_that_was_set_back_hands_out_nothing_for_free() -> None:
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    bucket = TokenBucket(1, clock=lambda: clock.now, sleep=sleep)
    await bucket.take()
    before = clock.now
    await bucket.take()

    assert round(clock.now - before, 6) == 1
