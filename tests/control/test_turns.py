import asyncio

from hypothesis import given
from hypothesis import strategies as st

from extender.control.turns import Turns


def popped(turns: Turns[int]) -> list[tuple[str, int]]:
    found = []
    while (each := turns.pop()) is not None:
        found.append(each)
    return found


def test_namespaces_take_turns_and_within_one_the_first_comes_first() -> None:
    turns: Turns[int] = Turns()
    for number, key in enumerate(["a/1", "a/2", "a/3", "b/1", "c/1", "b/2"]):
        turns.put(key, number)

    assert len(turns) == 6
    assert [key for key, _ in popped(turns)] == ["a/1", "b/1", "c/1", "a/2", "b/2", "a/3"]
    assert not turns


def test_who_waits_already_keeps_its_place_and_gets_the_new_value() -> None:
    turns: Turns[int] = Turns()
    turns.put("a/1", 1)
    turns.put("a/2", 2)
    turns.put("a/1", 3)

    assert (turns.get("a/1"), turns.get("a/9"), turns.get("b/1")) == (3, None, None)
    assert popped(turns) == [("a/1", 3), ("a/2", 2)]


def test_who_waits_no_more_has_no_turn() -> None:
    turns: Turns[int] = Turns()
    turns.put("a/1", 1)
    turns.put("b/1", 1)
    assert ("a/1" in turns, "a/2" in turns, "c/1" in turns) == (True, False, False)

    assert (turns.discard("a/1"), turns.discard("a/1"), turns.discard("b/2")) == (1, None, None)
    assert popped(turns) == [("b/1", 1)]
    turns.put("a/1", 1)
    turns.clear()
    assert turns.pop() is None


def test_of_too_many_of_a_namespace_its_oldest_go() -> None:
    turns: Turns[int] = Turns(max_each=2)
    for number in range(5):
        turns.put(f"a/{number}", number)
    turns.put("b/0", 0)

    assert [key for key, _ in popped(turns)] == ["a/3", "b/0", "a/4"]


async def test_somebody_waits_until_there_is_one() -> None:
    turns: Turns[int] = Turns()
    waiting = asyncio.create_task(turns.some())
    await asyncio.sleep(0)
    assert not waiting.done()

    turns.put("a/1", 1)
    await waiting
    await turns.some()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 99))))
def test_nobody_waits_for_more_than_one_of_each_other_namespace(
    keys: list[tuple[str, int]],
) -> None:
    turns: Turns[int] = Turns()
    for namespace, number in keys:
        turns.put(f"{namespace}/{number}", number)
    order = [key[0] for key, _ in popped(turns)]

    assert len(order) == len(set(keys))
    for namespace in set(order):
        places = [n for n, each in enumerate(order) if each == namespace]
        between = [order[a + 1 : b] for a, b in zip([-1, *places], places, strict=False)]
        assert all(len(set(others)) == len(others) for others in between)
