"""What several plugins' scores come to, on the scale of the extender."""

from collections.abc import Hashable, Mapping, Sequence
from operator import mul
from typing import Final

from extender.framework.interface import MAX_NODE_SCORE

MAX_EXTENDER_PRIORITY: Final = 10

Case = tuple[Hashable, ...]


def weighted_means(
    weighed: Sequence[tuple[int, Sequence[Hashable], Mapping[Hashable, int]]],
) -> Sequence[int]:
    """The mean over all weights of each candidate."""
    cases: list[Case] = list(zip(*(column for _, column, _ in weighed), strict=True))
    weights = [weight for weight, _, _ in weighed]
    scaled: dict[Case, int] = {
        case: weighted_mean(
            weights, [scores[key] for key, (_, _, scores) in zip(case, weighed, strict=True)]
        )
        for case in set(cases)
    }
    return list(map(scaled.__getitem__, cases))


def weighted_mean(weights: Sequence[int], scores: Sequence[int]) -> int:
    """The mean of scores of 0 to 100, scaled to the extender's 10 and rounded half up."""
    unit = MAX_NODE_SCORE * sum(weights)
    total: int = sum(map(mul, weights, scores))
    return (2 * MAX_EXTENDER_PRIORITY * total + unit) // (2 * unit)
