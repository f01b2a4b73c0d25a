import pytest

from extender.errors import EffortError
from extender.match.effort import Effort


def test_without_a_limit_nothing_is_too_much() -> None:
    effort = Effort()

    effort.spend(10**12)


def test_what_is_left_may_be_spent_and_no_more() -> None:
    effort = Effort()
    effort.left = 3

    effort.spend(2)
    effort.spend(1)
    with pytest.raises(EffortError, match="more comparisons over these nodes than one call may do"):
        effort.spend(1)


def test_asking_what_may_be_spent_spends_nothing() -> None:
    effort = Effort()
    effort.left = 3

    assert effort.affords(3)
    assert not effort.affords(4)
    assert effort.left == 3


def test_for_many_at_once_all_is_spent_or_nothing() -> None:
    effort = Effort()
    effort.left = 3

    assert not effort.spent_on_all(4)
    assert effort.left == 3
    assert effort.spent_on_all(3)
    assert effort.left == 0
