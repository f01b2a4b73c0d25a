from collections.abc import Hashable, Mapping, Sequence

import pytest

from extender.framework import means


@pytest.mark.parametrize(
    ("weights", "scores", "mean"),
    [
        pytest.param([3], [0], 0, id="nothing"),
        pytest.param([3], [100], 10, id="all, whatever the weight"),
        pytest.param([1], [44], 4, id="rounded down"),
        pytest.param([1], [45], 5, id="half is rounded up"),
        pytest.param([3, 2], [100, 0], 6, id="by weight"),
        pytest.param([3, 2], [0, 100], 4, id="by the other weight"),
        pytest.param([1, 1], [9, 0], 0, id="4.5 of 100 is less than half of one"),
    ],
)
def test_the_mean_on_the_scale_of_ten(weights: list[int], scores: list[int], mean: int) -> None:
    assert means.weighted_mean(weights, scores) == mean


def test_every_candidate_has_the_mean_of_its_keys() -> None:
    weighed: list[tuple[int, Sequence[Hashable], Mapping[Hashable, int]]] = [
        (3, ["a", "b", "a"], {"a": 100, "b": 0}),
        (2, [1, 1, None], {1: 50, None: 0}),
    ]

    assert means.weighted_means(weighed) == [8, 2, 6]
