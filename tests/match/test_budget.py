import pytest

from extender.errors import BudgetError
from extender.match.budget import Budget, Share


def test_without_a_limit_nothing_is_too_much() -> None:
    budget = Budget()

    assert budget.affords(10**12)
    assert budget.try_spend(10**12)
    assert budget.affords(10**12)


def test_what_is_left_may_be_spent_and_no_more() -> None:
    budget = Budget()
    budget.left = 3

    budget.spend(2)
    budget.spend(1)
    with pytest.raises(BudgetError, match="more comparisons over these nodes than one call may do"):
        budget.spend(1)


def test_asking_what_may_be_spent_spends_nothing() -> None:
    budget = Budget()
    budget.left = 3

    assert budget.affords(3)
    assert not budget.affords(4)
    assert budget.left == 3


def test_for_many_at_once_all_is_spent_or_nothing() -> None:
    budget = Budget()
    budget.left = 3

    assert not budget.try_spend(4)
    assert budget.left == 3
    assert budget.try_spend(3)
    assert budget.left == 0


def test_a_share_ends_before_the_whole_does() -> None:
    whole = Budget()
    whole.left = 10
    share = Share(whole, 4)

    share.spend(3)
    with pytest.raises(BudgetError):
        share.spend(2)
    assert whole.left == 5


def test_a_share_is_never_more_than_what_is_left_of_the_whole() -> None:
    whole = Budget()
    whole.left = 2

    with pytest.raises(BudgetError):
        Share(whole, 4).spend(3)
