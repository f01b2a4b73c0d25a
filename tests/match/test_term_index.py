import pytest

from extender.match.term_index import Pin, TermIndex

ZONE_A: Pin = ("zone", frozenset({"a"}))
ZONE_A_OR_B: Pin = ("zone", frozenset({"a", "b"}))
DISK: Pin = ("disk", frozenset({"ssd"}))
NO_VALUE: Pin = ("zone", frozenset({""}))
NAMED: Pin = (None, frozenset({"node-1"}))
OTHER: Pin = (None, frozenset({"node-2"}))


@pytest.mark.parametrize(
    ("pins", "name", "labels", "places"),
    [
        pytest.param([], "node-1", {}, [], id="no term"),
        pytest.param([None, None], "node-1", {}, [0, 1], id="terms that begin otherwise"),
        pytest.param([ZONE_A, ZONE_A_OR_B], "node-1", {"zone": "b"}, [1], id="another value"),
        pytest.param(
            [ZONE_A, ZONE_A_OR_B], "node-1", {"zone": "a"}, [0, 1], id="the value of both"
        ),
        pytest.param([ZONE_A], "node-1", {}, [], id="no such label"),
        pytest.param([ZONE_A, NO_VALUE], "node-1", {"zone": ""}, [1], id="a label without value"),
        pytest.param(
            [DISK, None, ZONE_A], "node-1", {"zone": "a", "disk": "ssd"}, [0, 1, 2], id="the order"
        ),
        pytest.param([NAMED, OTHER, None], "node-2", {}, [1, 2], id="the name"),
        pytest.param(
            [OTHER, NAMED], "", {}, [0, 1], id="a node without a name is not asked for it"
        ),
    ],
)
def test_places(
    pins: list[Pin | None], name: str, labels: dict[str, str], places: list[int]
) -> None:
    assert list(TermIndex(pins, [1] * len(pins)).places(name, labels)) == places


@pytest.mark.parametrize(
    ("pins", "most"),
    [
        pytest.param([], 0, id="no term"),
        pytest.param([None, ZONE_A], 2, id="one of each"),
        pytest.param([ZONE_A, ZONE_A_OR_B, NO_VALUE], 2, id="two share a value"),
        pytest.param([ZONE_A, DISK, NAMED, OTHER], 3, id="one a key"),
    ],
)
def test_how_many_terms_a_node_can_meet(pins: list[Pin | None], most: int) -> None:
    assert TermIndex(pins, [1] * len(pins)).most == most


def test_what_the_terms_cost_that_a_node_can_meet() -> None:
    pins = [None, ZONE_A, ZONE_A_OR_B, NO_VALUE, DISK]

    assert TermIndex(pins, [1, 10, 100, 1_000, 10_000]).most == 1 + 1_000 + 10_000
    assert TermIndex(pins, [1, 10, 100, 50, 10_000]).most == 1 + 110 + 10_000
