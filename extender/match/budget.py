"""How many comparisons one call may make; counted, not timed."""

import math
from typing import Final

from extender.errors import BudgetError

# Matching a term takes about as long as looking three taints up.
TERM_COST: Final = 3


class Budget:
    """The comparisons that are left; the server resets it for each call."""

    def __init__(self) -> None:
        self.left: float = math.inf

    def affords(self, amount: int) -> bool:
        """Whether this amount is left."""
        return amount <= self.left

    def try_spend(self, amount: int) -> bool:
        """Spend this amount if it is left, as one batch; returns whether it was."""
        affordable = self.affords(amount)
        if affordable:
            self.spend(amount)
        return affordable

    def spend(self, amount: int) -> None:
        """Spend this amount (1 = one look-up of a taint), or raise BudgetError."""
        self.left -= amount
        if self.left < 0:
            raise BudgetError(
                "the rules of the pod take more comparisons over these nodes than one call may do"
            )


class Share(Budget):
    """A part of a budget: what it buys may not take more, whatever is left of the whole."""

    def __init__(self, whole: Budget, amount: int) -> None:
        self._whole = whole
        self.left = amount

    def spend(self, amount: int) -> None:
        """Spend this amount of the whole, too."""
        self._whole.spend(amount)
        super().spend(amount)
