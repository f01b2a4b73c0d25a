"""What was used lately stays, within bounds."""

from extender.framework.recent import Recent


def test_the_longest_unused_is_dropped_first() -> None:
    recent: Recent[str, int] = Recent(2, 100)
    recent.put("a", 1, 1)
    recent.put("b", 2, 1)
    assert recent.get("a") == 1

    recent.put("c", 3, 1)

    assert [recent.get(key) for key in "abc"] == [1, None, 3]
    assert len(recent) == 2


def test_weight_is_a_bound_too() -> None:
    recent: Recent[str, int] = Recent(10, 100)
    recent.put("a", 1, 60)
    recent.put("b", 2, 60)

    assert [recent.get(key) for key in "ab"] == [None, 2]
    assert recent.weight == 60


def test_what_is_too_heavy_is_not_kept_and_drives_nobody_away() -> None:
    recent: Recent[str, int] = Recent(10, 100)
    recent.put("a", 1, 60)
    recent.put("b", 2, 101)

    assert [recent.get(key) for key in "ab"] == [1, None]


def test_a_new_value_takes_the_place_of_the_old_one() -> None:
    recent: Recent[str, int] = Recent(10, 100)
    recent.put("a", 1, 60)
    recent.put("a", 2, 70)

    assert recent.get("a") == 2
    assert (len(recent), recent.weight) == (1, 70)
    recent.drop("a")
    assert (len(recent), recent.weight) == (0, 0)
