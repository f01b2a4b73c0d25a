import asyncio

from extender.control.wanted import Wanted


def test_the_urgent_come_first_and_each_comes_once() -> None:
    wanted = Wanted()
    wanted.put("guard", 1, urgent=False)
    wanted.put("other", 2, urgent=False)
    wanted.put("pending", 3, urgent=True)
    wanted.put("pending", 4, urgent=True)
    wanted.put("other", 5, urgent=True)
    wanted.put("pending", 6, urgent=False)

    assert len(wanted) == 3
    popped = [wanted.pop() for _ in range(4)]
    assert popped == [("pending", 3), ("other", 2), ("guard", 1), None]


def test_who_is_wanted_no_more_is_not_popped() -> None:
    wanted = Wanted()
    wanted.put("a", 1, urgent=False)
    wanted.put("b", 1, urgent=True)
    wanted.discard("a")
    wanted.discard("b")
    wanted.put("c", 1, urgent=True)
    wanted.clear()

    assert wanted.pop() is None


async def test_somebody_waits_until_there_is_one() -> None:
    wanted = Wanted()
    waiting = asyncio.create_task(wanted.some())
    await asyncio.sleep(0)
    assert not waiting.done()

    wanted.put("a", 1, urgent=True)
    await waiting
    await wanted.some()
