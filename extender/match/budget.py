"""How much comparing one call may take, counted in rules and never timed."""

import math
from typing import Final

from extender.errors import BudgetError

# Asking a term takes about as long as comparing three tolerations with a taint.
TERM_COST: Final = 3


class Budget:
    """What may still be spent; who serves renews it for each call."""

    def __init__(self) -> None:
        self.left: float = math.inf

    def affords(self, amount: int) -> bool:
        """Whether so much may be spent."""
        return amount <= self.left

    def try_spend(self, amount: int) -> bool:
        """Spend so much, for many at once, if it may be spent; whether it was."""
        affordable = self.affords(amount)
        if affordable:
            self.spend(amount)
        return affordable

    def spend(self, amount: int) -> None:
        """So much is about to be done, a toleration asked about a taint being 1; or BudgetError."""
        self.left -= amount
        if self.left < 0:
            raise BudgetError(
                "the rules of the pod take more comparisons over these nodes than one call may do"
            )
