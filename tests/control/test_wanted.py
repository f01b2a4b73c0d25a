import asyncio

from extender.control.wanted import Rank, Wanted


def test_the_urgent_come_first_and_each_comes_once() -> None:
    wanted = Wanted()
    wanted.put("guard", 1, Rank.GUARD)
    wanted.put("other", 2, Rank.GUARD)
    wanted.put("pending", 3, Rank.WAITING)
    wanted.put("pending", 4, Rank.WAITING)
    wanted.put("other", 5, Rank.EVICTED)
    wanted.put("pending", 6, Rank.GUARD)

    assert len(wanted) == 3
    popped = [wanted.pop() for _ in range(4)]
    assert popped == [("other", 2), ("pending", 3), ("guard", 1), None]


def test_who_is_wanted_no_more_is_not_popped() -> None:
    wanted = Wanted()
    wanted.put("a", 1, Rank.GUARD)
    wanted.put("b", 1, Rank.WAITING)
    wanted.discard("a")
    wanted.discard("b")
    wanted.put("c", 1, Rank.EVICTED)
    wanted.clear()

    assert wanted.pop() is None


def test_somebody_who_is_always_urgent_keeps_nobody_waiting_for_ever() -> None:
    wanted = Wanted()
    wanted.put("b/guard", 0, Rank.GUARD)
    wanted.put("b/pending", 0, Rank.WAITING)
    popped = []
    for number in range(8):
        wanted.put(f"a/{number}", number, Rank.EVICTED)
        popped.append((wanted.pop() or ("", 0))[0])

    assert set(popped) > {"b/guard", "b/pending"}
    assert len([key for key in popped if key.startswith("a/")]) == 6


def test_of_those_who_are_as_urgent_namespaces_take_turns() -> None:
    wanted = Wanted()
    for number in range(1_000):
        wanted.put(f"many/{number}", 1, Rank.EVICTED)
    wanted.put("few/0", 1, Rank.EVICTED)
    popped = [(wanted.pop() or ("", 0))[0] for _ in range(2)]

    assert popped == ["many/0", "few/0"]


async def test_somebody_waits_until_there_is_one() -> None:
    wanted = Wanted()
    waiting = asyncio.create_task(wanted.some())
    await asyncio.sleep(0)
    assert not waiting.done()

    wanted.put("a", 1, Rank.WAITING)
    await waiting
    await wanted.some()
