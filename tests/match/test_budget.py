import pytest

from extender.errors import BudgetError
from extender.match.budget import Budget


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
