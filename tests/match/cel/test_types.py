import pytest

from extender.match.cel.types import (
    BOOL,
    CIDR,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TAINT,
    TIMESTAMP,
    Type,
    describe,
    is_optional,
    list_of,
    map_of,
    optional_of,
    parametric,
    type_of,
    variable,
)


@pytest.mark.parametrize(
    ("type_", "printed", "described"),
    [
        pytest.param(BOOL, "bool", "bool", id="a simple type"),
        pytest.param(NULL, "null_type", "null", id="null"),
        pytest.param(DURATION, "google.protobuf.Duration", "duration", id="a duration"),
        pytest.param(TIMESTAMP, "google.protobuf.Timestamp", "timestamp", id="a timestamp"),
        pytest.param(TAINT, "kubernetes.Taint", "kubernetes.Taint", id="an object"),
        pytest.param(ERROR, "!error!", "!error!", id="the type of a mistake"),
        pytest.param(list_of(INT), "list(int)", "list(int)", id="a list"),
        pytest.param(
            map_of(STRING, list_of(NULL)),
            "map(string, list(null_type))",
            "map(string, list(null))",
            id="a map",
        ),
        pytest.param(optional_of(DYN), "optional_type(dyn)", "optional_type(dyn)", id="optional"),
        pytest.param(
            type_of(DURATION),
            "type(google.protobuf.Duration)",
            "type(duration)",
            id="a type of a type",
        ),
    ],
)
def test_a_type_is_printed_in_two_ways(type_: Type, printed: str, described: str) -> None:
    assert str(type_) == printed
    assert describe(type_) == described


@pytest.mark.parametrize(
    ("type_", "size"),
    [
        pytest.param(INT, (1, 1, False), id="a simple type"),
        pytest.param(variable("A"), (1, 1, True), id="a variable"),
        pytest.param(list_of(list_of(INT)), (3, 3, False), id="a list of lists"),
        pytest.param(map_of(INT, list_of(STRING)), (4, 3, False), id="a map to lists"),
        pytest.param(map_of(variable("K"), INT), (3, 2, True), id="a map of a variable"),
        pytest.param(optional_of(list_of(variable("V"))), (3, 3, True), id="deep inside"),
    ],
)
def test_a_type_knows_its_size(type_: Type, size: tuple[int, int, bool]) -> None:
    assert (type_.weight, type_.depth, type_.is_open) == size


def test_types_are_equal_by_value() -> None:
    assert parametric("list", "list", (INT,)) == list_of(INT)
    assert list_of(INT) != list_of(STRING)
    assert variable("A") != variable("B")


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        pytest.param(optional_of(INT), True, id="an optional"),
        pytest.param(CIDR, False, id="another opaque type"),
        pytest.param(Type("object", "optional_type"), False, id="an object of that name"),
    ],
)
def test_optionals_are_told_apart(type_: Type, expected: bool) -> None:
    assert is_optional(type_) is expected
