import pytest

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.semver import parse as semver
from extender.match.cel.values import (
    NONE,
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)
from tests.match.cel.library.calls import RUN

SOME = OptionalValue(1)
ZEROS: tuple[Value, ...] = (None, False, 0, Uint(0), 0.0, -0.0, "", b"", [], {}, Duration(0))


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("optional_none", (), NONE, id="none"),
        pytest.param("optional_value", (SOME,), 1, id="the value"),
        pytest.param("optional_hasValue", (SOME,), True, id="there is one"),
        pytest.param("optional_hasValue", (NONE,), False, id="there is none"),
        pytest.param("optional_or_optional", (SOME, NONE), SOME, id="or keeps what is there"),
        pytest.param("optional_or_optional", (NONE, SOME), SOME, id="or takes the other"),
        pytest.param("optional_orValue_value", (SOME, 2), 1, id="orValue keeps what is there"),
        pytest.param("optional_orValue_value", (NONE, 2), 2, id="orValue takes the other"),
        pytest.param("list_first", ([],), NONE, id="nothing is first"),
        pytest.param("list_last", ([],), NONE, id="nothing is last"),
        pytest.param("optional_unwrap", ([SOME, NONE, SOME],), [1, 1], id="unwrap"),
        pytest.param("optional_unwrapOpt", ([],), [], id="unwrap nothing"),
    ],
)
def test_function(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert RUN[overload](*arguments) == expected


@pytest.mark.parametrize(
    ("overload", "argument", "expected"),
    [
        pytest.param("optional_of", None, None, id="null is a value"),
        pytest.param("list_first", [1, 2], 1, id="the first"),
        pytest.param("list_last", [1, 2], 2, id="the last"),
    ],
)
def test_made(overload: str, argument: Value, expected: Value) -> None:
    made = RUN[overload](argument)
    assert isinstance(made, OptionalValue)
    assert (made.present, made.value) == (True, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[pytest.param(value, False, id=f"{type(value).__name__}, zero") for value in ZEROS],
        pytest.param(Timestamp(-62_135_596_800 * 10**9), False, id="the first instant of year 1"),
        pytest.param(Timestamp(0), True, id="the epoch is no zero"),
        pytest.param(1, True, id="one"),
        pytest.param([0], True, id="a list of a zero"),
        pytest.param(NONE, True, id="none is a value here"),
        pytest.param(TypeValue("int"), True, id="a type"),
        pytest.param(semver("0.0.0"), True, id="a version"),
    ],
)
def test_of_non_zero_value(value: Value, expected: bool) -> None:
    made = RUN["optional_ofNonZeroValue"](value)
    assert isinstance(made, OptionalValue)
    assert made.present is expected
    assert made.value is (value if expected else None)


@pytest.mark.parametrize(
    ("overload", "argument", "expected"),
    [
        pytest.param("optional_value", NONE, "optional.none() dereference", id="no value"),
        pytest.param("optional_unwrap", [SOME, 2], "value 2 is not optional", id="not optional"),
    ],
)
def test_error(overload: str, argument: Value, expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        RUN[overload](argument)
    assert str(error.value) == expected
