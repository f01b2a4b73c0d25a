import pytest

from extender.match import integers

INT64_MAX = 9_223_372_036_854_775_807
INT64_MIN = -9_223_372_036_854_775_808


@pytest.mark.parametrize(
    ("text", "canonical", "signed"),
    [
        pytest.param("0", 0, 0, id="zero"),
        pytest.param("950", 950, 950, id="a number"),
        pytest.param("-5", -5, -5, id="below zero"),
        pytest.param("9223372036854775807", INT64_MAX, INT64_MAX, id="the highest"),
        pytest.param("-9223372036854775808", INT64_MIN, INT64_MIN, id="the lowest"),
        pytest.param("9223372036854775808", None, None, id="one above the highest"),
        pytest.param("-9223372036854775809", None, None, id="one below the lowest"),
        pytest.param("12345678901234567890", None, None, id="twenty digits"),
        pytest.param("+5", None, 5, id="a plus sign"),
        pytest.param("-0", None, 0, id="minus zero"),
        pytest.param("00", None, 0, id="two zeros"),
        pytest.param("0950", None, 950, id="a leading zero"),
        pytest.param("-0950", None, -950, id="a leading zero below zero"),
        pytest.param("0" * 500 + "7", None, 7, id="500 leading zeros"),
        pytest.param("-" + "0" * 500 + "7", None, -7, id="500 leading zeros below zero"),
        pytest.param("+" + "0" * 500, None, 0, id="500 zeros and a plus sign"),
        pytest.param("9" * 5000, None, None, id="5,000 digits"),
        pytest.param("-" + "9" * 5000, None, None, id="5,000 digits below zero"),
        pytest.param("", None, None, id="nothing"),
        pytest.param("-", None, None, id="a sign alone"),
        pytest.param("--5", None, None, id="two signs"),
        pytest.param(" 950", None, None, id="white space before"),
        pytest.param("950\n", None, None, id="a newline behind"),
        pytest.param("95.5", None, None, id="a fraction"),
        pytest.param("1e3", None, None, id="an exponent"),
        pytest.param("1_000", None, None, id="an underscore"),
        pytest.param("0x10", None, None, id="base 16"),
        pytest.param("٩٥٠", None, None, id="Arabic-Indic digits"),
        pytest.param("\uff19\uff15\uff10", None, None, id="full-width digits"),
        pytest.param("\u22125", None, None, id="a typographic minus"),
        pytest.param("high", None, None, id="a word"),
    ],
)
def test_integers(text: str, canonical: int | None, signed: int | None) -> None:
    assert integers.canonical(text) == canonical
    assert integers.signed(text) == signed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("9223372036854775807", None, id="the highest"),
        pytest.param("-9223372036854775808", None, id="the lowest"),
        pytest.param("+" + "0" * 500 + "7", None, id="leading zeros"),
        pytest.param("9223372036854775808", "value out of range", id="above"),
        pytest.param("-9223372036854775809", "value out of range", id="below"),
        pytest.param("18446744073709551616x", "value out of range", id="too large before it ends"),
        pytest.param("18446744073709551615x", "invalid syntax", id="large, and then no digit"),
        pytest.param("", "invalid syntax", id="nothing"),
        pytest.param("-", "invalid syntax", id="a sign alone"),
        pytest.param("+-1", "invalid syntax", id="two signs"),
        pytest.param("1_000", "invalid syntax", id="an underscore"),
        pytest.param("٩", "invalid syntax", id="another digit"),
        pytest.param('9"', "invalid syntax", id="a quote"),
    ],
)
def test_why_it_is_no_integer_in_the_words_of_go(text: str, why: str | None) -> None:
    quoted = text.replace('"', '\\"')
    expected = why and f'strconv.ParseInt: parsing "{quoted}": {why}'

    assert integers.parse_int_problem(text) == expected
    assert (integers.signed(text) is None) is (why is not None)
