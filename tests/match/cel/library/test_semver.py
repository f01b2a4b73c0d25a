import pytest

from extender.match.cel.equality import equals
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.semver import parse
from extender.match.cel.values import Value, size, type_name
from tests.match.cel.library.calls import RUN

# Each is less than the next.
ASCENDING = [
    "0.0.0",
    "1.0.0-0",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-A",
    "1.0.0-a",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.1.0",
    "1.0.0-alpha.beta",
    "1.0.0-alpha-",
    "1.0.0-rc1",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "18446744073709551615.0.0",
]


@pytest.mark.parametrize("place", range(len(ASCENDING)), ids=ASCENDING)
def test_order(place: int) -> None:
    version = parse(ASCENDING[place])
    for other_place, text in enumerate(ASCENDING):
        other = parse(text)
        order = (place > other_place) - (place < other_place)
        assert RUN["semver_compare_to"](version, other) == order
        assert RUN["semver_is_greater_than"](version, other) is (order == 1)
        assert RUN["semver_is_less_than"](version, other) is (order == -1)
        assert equals(version, other) is (order == 0)


def test_build_metadata_does_not_count() -> None:
    assert equals(parse("1.0.0-a+x.1"), parse("1.0.0-a+y"))
    assert hash(parse("1.0.0+x")) == hash(parse("1.0.0"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.2.3-4", (1, 2, 3), id="parts"),
        pytest.param(
            "9223372036854775807.9223372036854775808.18446744073709551615",
            (2**63 - 1, -(2**63), -1),
            id="more than 63 bits come out negative",
        ),
    ],
)
def test_parts(text: str, expected: tuple[int, int, int]) -> None:
    version = RUN["string_to_semver"](text)
    parts = [RUN[f"semver_{part}"](version) for part in ("major", "minor", "patch")]
    assert tuple(parts) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "Version string empty", id="nothing"),
        pytest.param("1.2", "No Major.Minor.Patch elements found", id="two parts"),
        pytest.param(
            "x.0.0", 'Invalid character(s) found in major number "x"', id="a letter in major"
        ),
        pytest.param(
            "1.é.0", 'Invalid character(s) found in minor number "é"', id="a letter in minor"
        ),
        pytest.param(
            "1.0.0.1", 'Invalid character(s) found in patch number "0.1"', id="a fourth part"
        ),
        pytest.param(
            "01.0.0", 'Major number must not contain leading zeroes "01"', id="zeros lead major"
        ),
        pytest.param(
            "1.00.0", 'Minor number must not contain leading zeroes "00"', id="zeros lead minor"
        ),
        pytest.param(
            "1.0.01-a", 'Patch number must not contain leading zeroes "01"', id="zeros lead patch"
        ),
        pytest.param(".0.0", 'strconv.ParseUint: parsing "": invalid syntax', id="an empty part"),
        pytest.param(
            "18446744073709551616.0.0",
            'strconv.ParseUint: parsing "18446744073709551616": value out of range',
            id="more than 64 bits",
        ),
        pytest.param(
            "1.0.100000000000000000000",
            'strconv.ParseUint: parsing "100000000000000000000": value out of range',
            id="far more than 64 bits",
        ),
        pytest.param("1.0.0-", "Prerelease is empty", id="a dash and nothing"),
        pytest.param("1.0.0-a..b", "Prerelease is empty", id="an empty part of a pre-release"),
        pytest.param(
            "1.0.0-01",
            'Numeric PreRelease version must not contain leading zeroes "01"',
            id="zeros lead a pre-release",
        ),
        pytest.param(
            "1.0.0-18446744073709551616",
            'strconv.ParseUint: parsing "18446744073709551616": value out of range',
            id="a pre-release of more than 64 bits",
        ),
        pytest.param(
            "1.0.0-a_b",
            'Invalid character(s) found in prerelease "a_b"',
            id="an underscore in a pre-release",
        ),
        pytest.param("1.0.0+", "Build meta data is empty", id="a plus and nothing"),
        pytest.param(
            "1.0.0+a.b!",
            'Invalid character(s) found in build meta data "b!"',
            id="a mark in build metadata",
        ),
    ],
)
def test_refused(text: str, expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        parse(text)
    assert str(error.value) == expected
    assert RUN["is_semver_string"](text) is False
    assert RUN["is_semver_string_bool"](text, False) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.2.3", "1.2.3", id="a whole version"),
        pytest.param("v1", "1.0.0", id="a v, and one part"),
        pytest.param("1.2", "1.2.0", id="two parts"),
        pytest.param("01.002.0003-a", "1.2.3-a", id="leading zeros"),
        pytest.param("0.00.000", "0.0.0", id="only zeros"),
        pytest.param("1.2.00-a+b", "1.2.0-a", id="zeros before a dash"),
    ],
)
def test_normalized(text: str, expected: str) -> None:
    assert equals(RUN["string_bool_to_semver"](text, True), parse(expected))
    assert RUN["is_semver_string_bool"](text, True) is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "1.2-a", "short version cannot contain PreRelease/Build meta data", id="short, a dash"
        ),
        pytest.param(
            "1+a", "short version cannot contain PreRelease/Build meta data", id="short, a plus"
        ),
        pytest.param("V1", 'Invalid character(s) found in major number "0V1"', id="a large V"),
        pytest.param("v", 'strconv.ParseUint: parsing "": invalid syntax', id="a v and nothing"),
        pytest.param(
            "é.0.0", 'Invalid character(s) found in major number "0é"', id="one letter, two bytes"
        ),
        pytest.param(" 1", 'Invalid character(s) found in major number "0 1"', id="a space"),
    ],
)
def test_not_normalized(text: str, expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        RUN["string_bool_to_semver"](text, True)
    assert str(error.value) == expected
    assert RUN["is_semver_string_bool"](text, True) is False


def test_not_to_be_normalized() -> None:
    assert RUN["string_bool_to_semver"]("1.2.3", False) == parse("1.2.3")
    assert RUN["is_semver_string"]("1.2.3") is True


def test_longer_than_can_be_compared_for_the_price() -> None:
    with pytest.raises(CostLimitError):
        parse("1.0.0-" + "a." * 10_000 + "a")


def test_value() -> None:
    version: Value = parse("1.2.3")
    assert (type_name(version), size(version)) == ("kubernetes.Semver", 1)
