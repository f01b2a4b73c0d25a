"""One budget over several caches: what goes first, and that it is never exceeded."""

from hypothesis import given
from hypothesis import strategies as st

from extender.match.lru import LRU, MAX_SHARE, CacheBudget


def test_what_is_put_is_found() -> None:
    cache: LRU[str, int] = LRU("numbers", CacheBudget(100))

    assert cache.get("a") is None
    assert cache.put("a", 1, 10)
    assert cache.get("a") == 1
    assert "a" in cache
    assert (len(cache), cache.hits, cache.misses, cache.bytes) == (1, 1, 1, 10)


def test_the_longest_unused_goes_first_whichever_cache_it_is_in() -> None:
    budget = CacheBudget(100)
    first: LRU[str, int] = LRU("first", budget)
    second: LRU[str, int] = LRU("second", budget)
    for number in range(2):
        first.put(f"a{number}", number, 25)
        second.put(f"b{number}", number, 25)
    first.get("a0")
    second.put("c", 1, 25)

    assert "b0" not in second
    assert all(key in first for key in ("a0", "a1"))
    assert (first.evictions, second.evictions) == (0, 1)
    assert (first.bytes, second.bytes, budget.bytes) == (50, 50, 100)
    assert set(budget.caches) == {first, second}


def test_a_look_without_use_changes_nothing() -> None:
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget)
    for key in "abcd":
        cache.put(key, 1, 25)

    assert (cache.peek("a"), cache.peek("z")) == (1, None)
    cache.put("e", 1, 25)
    assert "a" not in cache
    assert (cache.hits, cache.misses) == (0, 0)


def test_a_value_that_is_put_again_weighs_what_the_new_one_does() -> None:
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget)
    cache.put("a", 1, 25)
    cache.put("a", 2, 10)

    assert (cache.get("a"), len(cache), budget.bytes, cache.evictions) == (2, 1, 10, 0)


def test_what_has_grown_makes_room_for_itself_and_counts_as_used() -> None:
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget)
    for key in "abcd":
        cache.put(key, 1, 20)
    cache.reweigh("a", 25)
    assert (len(cache), budget.bytes) == (4, 85)

    cache.put("e", 1, 20)
    assert "a" in cache
    assert "b" not in cache


def test_the_oldest_that_grows_pushes_out_the_others() -> None:
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget)
    for key in "abcde":
        cache.put(key, 1, 20)
    cache.reweigh("a", 25)

    assert "a" in cache
    assert budget.bytes <= 100


def test_what_shrinks_makes_room() -> None:
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget)
    cache.put("a", 1, 20)
    cache.reweigh("a", 5)
    cache.reweigh("unknown", 5)

    assert budget.bytes == cache.bytes == 5


def test_one_entry_gets_no_more_than_its_share() -> None:
    dropped: list[tuple[str, int]] = []
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget, on_evict=lambda *entry: dropped.append(entry))

    assert not cache.put("a", 1, int(100 * MAX_SHARE) + 1)
    assert cache.put("b", 2, int(100 * MAX_SHARE))
    cache.reweigh("b", int(100 * MAX_SHARE) + 1)
    assert (len(cache), budget.bytes, dropped) == (0, 0, [("b", 2)])


def test_too_heavy_a_value_replaces_the_old_one_by_nothing() -> None:
    budget = CacheBudget(100)
    cache: LRU[str, int] = LRU("numbers", budget)
    cache.put("a", 1, 10)

    assert not cache.put("a", 2, 90)
    assert cache.get("a") is None
    assert budget.bytes == 0


def test_who_wants_to_know_is_told_of_evictions_and_not_of_drops() -> None:
    dropped: list[tuple[str, int]] = []
    cache: LRU[str, int] = LRU(
        "numbers", CacheBudget(40), on_evict=lambda *entry: dropped.append(entry)
    )
    for number, key in enumerate("abcde"):
        cache.put(key, number, 10)
    cache.drop("b")
    cache.drop("unknown")

    assert dropped == [("a", 0)]
    assert (len(cache), cache.evictions, cache.bytes) == (3, 1, 30)


KEYS = st.sampled_from("abcdefgh")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "get", "reweigh", "drop", "peek"]),
        st.integers(0, 2),
        KEYS,
        st.integers(0, 60),
    ),
    max_size=60,
)


@given(max_bytes=st.integers(0, 120), steps=STEPS)
def test_the_sum_of_weights_never_exceeds_the_budget(
    max_bytes: int, steps: list[tuple[str, int, str, int]]
) -> None:
    budget = CacheBudget(max_bytes)
    caches: list[LRU[str, int]] = [LRU(str(number), budget) for number in range(3)]
    weights: dict[tuple[int, str], int] = {}
    for action, number, key, weight in steps:
        cache = caches[number]
        if action == "put":
            cache.put(key, weight, weight)
            weights[number, key] = weight
        elif action == "reweigh":
            cache.reweigh(key, weight)
            if key in cache:
                weights[number, key] = weight
        else:
            getattr(cache, action)(key)
        weights = {(n, k): w for (n, k), w in weights.items() if k in caches[n]}

        assert budget.bytes == sum(weights.values()) <= max_bytes
        for n, each in enumerate(caches):
            assert each.bytes == sum(w for (m, _), w in weights.items() if m == n)
        if action == "put" and weight <= int(max_bytes * MAX_SHARE):
            assert cache.peek(key) == weight
