import pytest

from extender.match.cel.syntax.literals import (
    LiteralError,
    bytes_value,
    double_value,
    int_value,
    string_value,
    uint_value,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0x7fffffffffffffff", 2**63 - 1),
        ("-0x8000000000000000", -(2**63)),
        ("0" * 9000 + "1", 1),
    ],
)
def test_an_int_has_64_bits(text: str, expected: int) -> None:
    assert int_value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775808",
        "-9223372036854775809",
        "0x8000000000000000",
        "1" * 9000,
        "-" + "1" * 99,
    ],
)
def test_an_int_of_more_bits_is_refused(text: str) -> None:
    with pytest.raises(LiteralError, match="invalid int literal"):
        int_value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0u", 0), ("18446744073709551615u", 2**64 - 1), ("0xffffffffffffffffU", 2**64 - 1)],
)
def test_a_uint_has_64_bits(text: str, expected: int) -> None:
    assert uint_value(text) == expected


@pytest.mark.parametrize(
    "text", ["18446744073709551616u", "0x10000000000000000u", "9" * 9000 + "u"]
)
def test_a_uint_of_more_bits_is_refused(text: str) -> None:
    with pytest.raises(LiteralError, match="invalid uint literal"):
        uint_value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("1e-400", 0.0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
    ],
)
def test_a_double_is_rounded(text: str, expected: float) -> None:
    assert double_value(text) == expected


@pytest.mark.parametrize("text", ["1e309", "-1e309"])
def test_a_double_is_finite(text: str) -> None:
    with pytest.raises(LiteralError, match="invalid double literal"):
        double_value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("''", "", id="empty"),
        pytest.param('"a\'b"', "a'b", id="other quotes"),
        pytest.param("'''a'b'''", "a'b", id="three quotes"),
        pytest.param('""""""', "", id="three quotes, empty"),
        pytest.param(r"'\a\b\f\n\r\t\v'", "\a\b\f\n\r\t\v", id="escapes of control characters"),
        pytest.param(r"""'\"\'\\\?\`'""", "\"'\\?`", id="escapes of signs"),
        pytest.param(r"'\x41\X41\101\u0041\U00000041'", "AAAAA", id="escapes by number"),
        pytest.param(r"'\xff\377\u20ac\U0001F600'", "ÿÿ€😀", id="numbers are code points"),
        pytest.param(r"'\\n'", r"\n", id="an escaped backslash"),
        pytest.param(r"r'\n'", r"\n", id="raw"),
        pytest.param(r'R"""\n"b"""', r"\n" + '"b', id="raw, three quotes"),
        pytest.param("'''a\r\nb\rc\nd'''", "a\nb\nc\nd", id="line ends are made the same"),
        pytest.param("r'''a\r\nb'''", "a\nb", id="also raw"),
        pytest.param(r"'\r\n'", "\r\n", id="but not escaped ones"),
    ],
)
def test_a_string_is_read(text: str, expected: str) -> None:
    assert string_value(text) == expected


@pytest.mark.parametrize("text", [r"'\ud800'", r"'\uDFFF'", r"'\U00110000'", r"'\UFFFFFFFF'"])
def test_a_string_has_only_code_points_of_unicode(text: str) -> None:
    with pytest.raises(LiteralError, match="invalid unicode code point"):
        string_value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("b''", b"", id="empty"),
        pytest.param("b'é'", b"\xc3\xa9", id="text is UTF-8"),
        pytest.param(r"b'\xff\377\n'", b"\xff\xff\n", id="an escape is a byte"),
        pytest.param(r"B'é\x00é'", b"\xc3\xa9\x00\xc3\xa9", id="both"),
        pytest.param(r"br'\xff'", rb"\xff", id="raw"),
        pytest.param("b'''\r\n'''", b"\n", id="line ends are made the same"),
        pytest.param("b'\ud800\\n\ud800'", b"\xed\xa0\x80\n\xed\xa0\x80", id="half a character"),
        pytest.param("br'\ud800'", b"\xed\xa0\x80", id="half a character, raw"),
    ],
)
def test_bytes_are_read(text: str, expected: bytes) -> None:
    assert bytes_value(text) == expected


@pytest.mark.parametrize("text", [r"b'\u0041'", r"b'\U00000041'"])
def test_bytes_have_no_code_points(text: str) -> None:
    with pytest.raises(LiteralError, match="unable to unescape string"):
        bytes_value(text)
