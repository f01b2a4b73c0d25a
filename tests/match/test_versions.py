import pytest

from extender.errors import VersionError
from extender.match import versions
from tests.vectors import Row, assert_every_row


def parsed(row: Row) -> tuple[str | None, str]:
    try:
        return str(versions.parse_tolerant(row["input"])), ""
    except VersionError as exc:
        return None, str(exc)


def test_every_text_parses_as_in_go_or_fails_in_its_words() -> None:
    assert_every_row("semver_parse", parsed, lambda row: (row["version"], row["error"]))


def test_parse_gives_what_the_tolerant_parser_gives() -> None:
    def ask(row: Row) -> str | None:
        version = versions.parse(row["input"])
        return None if version is None else str(version)

    assert_every_row("semver_parse", ask, lambda row: row["version"])


def test_what_is_wrong_with_a_text_is_said_in_the_words_of_go() -> None:
    assert_every_row(
        "semver_parse",
        lambda row: versions.version_problem(row["input"]),
        lambda row: row["error"] or None,
    )


def test_every_pair_compares_as_in_go() -> None:
    def ask(row: Row) -> tuple[bool, bool, bool] | None:
        a, b = versions.parse(row["a"]), versions.parse(row["b"])
        return None if a is None or b is None else (a == b, a > b, a < b)

    def answer(row: Row) -> tuple[bool, bool, bool] | None:
        return None if row["eq"] is None else (row["eq"], row["gt"], row["lt"])

    assert_every_row("semver_compare", ask, answer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.2.3", "1.2.3", id="a version"),
        pytest.param("22.04", "22.4.0", id="two parts, a leading zero"),
        pytest.param("7", "7.0.0", id="one part"),
        pytest.param("v1.31.2+k3s1", "1.31.2+k3s1", id="one v, build data"),
        pytest.param("\u3000 v1.2.3\n", "1.2.3", id="white space of any script around it"),
        pytest.param("1.2.-rc1", "1.2.0-rc1", id="no patch number but a pre-release"),
        pytest.param("18446744073709551615.0.0", "18446744073709551615.0.0", id="uint64's highest"),
        pytest.param("0.0.0-18446744073709551615", "0.0.0-18446744073709551615", id="in an id too"),
        pytest.param("1.0.0-a+b+c", None, id="two plus signs"),
        pytest.param("1.0.0-a-b.-", "1.0.0-a-b.-", id="hyphens in identifiers"),
        pytest.param("1.0.0+01.-", "1.0.0+01.-", id="leading zeros in build data"),
    ],
)
def test_parse(text: str, expected: str | None) -> None:
    version = versions.parse(text)

    assert (None if version is None else str(version)) == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("", 'strconv.ParseUint: parsing "": invalid syntax', id="nothing"),
        pytest.param(
            "V1.2.3", 'Invalid character(s) found in major number "0V1"', id="a capital V"
        ),
        pytest.param(
            "\x1c1.2.3", 'Invalid character(s) found in major number "0\\x1c1"', id="not white"
        ),
        pytest.param("é", 'Invalid character(s) found in major number "0é"', id="one character"),
        pytest.param("x", 'Invalid character(s) found in major number "x"', id="one byte"),
        pytest.param(
            "1.2-rc1", "Short version cannot contain PreRelease/Build meta data", id="short"
        ),
        pytest.param(
            "1+a", "Short version cannot contain PreRelease/Build meta data", id="shorter"
        ),
        pytest.param(
            "18446744073709551616",
            'strconv.ParseUint: parsing "18446744073709551616": value out of range',
            id="one above uint64",
        ),
        pytest.param(
            "1.2.3-" + "9" * 30,
            f'strconv.ParseUint: parsing "{"9" * 30}": value out of range',
            id="an identifier above uint64",
        ),
        pytest.param(
            "1.2.0001-x.01",
            'Numeric PreRelease version must not contain leading zeroes "01"',
            id="a leading zero in an identifier",
        ),
        pytest.param("1.2.3-a..b", "Prerelease is empty", id="an empty identifier"),
        pytest.param("1.2.3+", "Build meta data is empty", id="empty build data"),
        pytest.param(
            "1.2.3-el9_4", 'Invalid character(s) found in prerelease "el9_4"', id="an underscore"
        ),
        pytest.param(
            "1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"', id="in build data"
        ),
        pytest.param(
            "1.2.3.4", 'Invalid character(s) found in patch number "3.4"', id="four parts"
        ),
    ],
)
def test_errors_are_in_the_words_of_the_go_parser(text: str, error: str) -> None:
    with pytest.raises(VersionError) as caught:
        versions.parse_tolerant(text)

    assert str(caught.value) == error
    assert versions.parse(text) is None


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        pytest.param("5.15.0-1053-aws", "5.15.0", id="a pre-release is below its release"),
        pytest.param("1.0.0-9", "1.0.0-10", id="numbers by value"),
        pytest.param("1.0.0-122-generic", "1.0.0-91-generic", id="other identifiers as text"),
        pytest.param("1.0.0-999", "1.0.0-a", id="numbers below words"),
        pytest.param("1.0.0-B", "1.0.0-a", id="words by ASCII"),
        pytest.param("1.0.0-a", "1.0.0-a.0", id="the longer list wins"),
        pytest.param("1.9", "1.10", id="not as text"),
    ],
)
def test_order(lower: str, higher: str) -> None:
    low, high = versions.parse_tolerant(lower), versions.parse_tolerant(higher)

    assert low < high
    assert high > low
    assert low != high


def test_build_data_does_not_count() -> None:
    assert versions.parse("1.31.2") == versions.parse("v1.31.2+k3s1")


def test_a_long_text_parses_like_a_short_one() -> None:
    """Whether it is remembered or not."""
    long = "1.2.3-" + "a" * 1000

    assert str(versions.parse(long)) == long
    assert versions.parse(long + "_") is None
    assert versions.order(long) == (1, 2, 3, False, ((1, 0, "a" * 1000),))
    assert versions.order("1.2.3-a") == (1, 2, 3, False, ((1, 0, "a"),))
    assert versions.order(long + "_") is versions.order("1.2.3-_") is None


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        pytest.param("a b", '"a b"', id="as it is"),
        pytest.param('"\\', '"\\"\\\\"', id="quotes and backslashes"),
        pytest.param("\a\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"', id="the short escapes"),
        pytest.param("\x00\x1f\x7f", '"\\x00\\x1f\\x7f"', id="control characters"),
        pytest.param("\x80\u0085\u00a0", '"\\u0080\\u0085\\u00a0"', id="invisible ones"),
        pytest.param("\U000e0001", '"\\U000e0001"', id="invisible ones far out"),
        pytest.param("é😀", '"é😀"', id="letters and pictures"),
    ],
)
def test_go_quote(text: str, quoted: str) -> None:
    assert versions.go_quote(text) == quoted


@pytest.mark.parametrize(
    "text", ["0.0.0", "1.2.3", "5.15.0", "10.20.30", "9999999999999999999.0.9999999999999999999"]
)
def test_a_plain_version_is_read_as_any_other(text: str) -> None:
    """White space around a text makes it one that is not plain."""
    assert versions.order(text) == versions.order(f" {text}")
    assert versions.order(text) == (*map(int, text.split(".")), True, ())


@pytest.mark.parametrize(
    "text", ["1.2.3\n", "1.2.03", "01.2.3", "1.2", "1.2.3.4", "\uff11.2.3", "-1.2.3"]
)
def test_what_looks_like_a_plain_version_is_left_to_the_parser(text: str) -> None:
    version = versions.parse(text)
    expected = version and (version.major, version.minor, version.patch, True, ())

    assert versions.order(text) == expected
