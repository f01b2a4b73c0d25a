"""What a message takes in. The answers of Go are in cel_values.jsonl; here is what it costs us."""

import pytest

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.natives import to_json, to_json_list
from extender.match.cel.values import COST_LIMIT_EXCEEDED, Duration, OptionalValue, Uint, Value


class Spent:
    """Steps, up to a limit."""

    def __init__(self, limit: int = 1_000_000) -> None:
        self.steps = 0
        self.limit = limit

    def __call__(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.limit:
            raise CostLimitError(COST_LIMIT_EXCEEDED)


def test_a_value_becomes_json() -> None:
    value: Value = [1, Uint(1 << 60), {"a": [Duration(1), b"a"]}, OptionalValue(None)]

    assert to_json(value, Spent()) == [1.0, str(1 << 60), {"a": ["0.000000001s", "YQ=="]}, None]


def test_the_value_itself_is_not_changed() -> None:
    value: Value = [{"a": [1]}]

    to_json(value, Spent())

    assert value == [{"a": [1]}]
    assert type(value[0]["a"][0]) is int


def test_depth_does_not_matter() -> None:
    nested: Value = 1
    for _ in range(5_000):
        nested = [nested]

    converted = to_json(nested, Spent())
    for _ in range(5_000):
        (converted,) = converted  # type: ignore[misc]
    assert converted == 1.0


def test_every_item_counts() -> None:
    few, many = Spent(), Spent()
    to_json([1] * 10, few)
    to_json([{"a": [1] * 9}] * 10, many)

    assert 0 < few.steps < many.steps / 10


def test_one_list_many_times_over_is_too_much() -> None:
    doubled: Value = [1]
    for _ in range(100):
        doubled = [doubled, doubled]

    with pytest.raises(CostLimitError):
        to_json(doubled, Spent())


def test_texts_made_of_bytes_count_together() -> None:
    with pytest.raises(CostLimitError):
        to_json([b"a" * 5_000_000] * 3, Spent())


def test_a_list_can_come_as_the_struct_that_holds_it() -> None:
    assert to_json_list({"values": [1]}, Spent()) == [1.0]
    with pytest.raises(EvaluationError, match=r"^type conversion error from bool to '\[\]\*struct"):
        to_json_list({"Values": True}, Spent())
