import pytest

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.addresses import Address, parse_address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.2.3.4", Address(0x01020304, 32), id="IPv4"),
        pytest.param("0.0.0.255", Address(255, 32), id="zeros that lead nothing"),
        pytest.param("::", Address(0, 128), id="all zeros"),
        pytest.param("::1", Address(1, 128), id="zeros first"),
        pytest.param("1::", Address(1 << 112, 128), id="zeros last"),
        pytest.param("1::2", Address(1 << 112 | 2, 128), id="zeros in the middle"),
        pytest.param(
            "1:2:3:4:5:6:7:8", Address(0x00010002000300040005000600070008, 128), id="eight groups"
        ),
        pytest.param(
            "1:2:3:4:5:6:7::", Address(0x00010002000300040005000600070000, 128), id="one zero"
        ),
        pytest.param("FE80::aBc", Address(0xFE80 << 112 | 0xABC, 128), id="letters of any case"),
        pytest.param("::1.2.3.4", Address(0x01020304, 128), id="IPv4 at the end"),
        pytest.param(
            "1:2:3:4:5:6:1.2.3.4",
            Address(0x00010002000300040005000601020304, 128),
            id="IPv4 behind six groups",
        ),
        pytest.param("::1%eth0", Address(1, 128, "eth0"), id="a zone"),
        pytest.param("::%a%b", Address(0, 128, "a%b"), id="a zone with a percent sign"),
        pytest.param("::1.2.3.4%z", Address(0x01020304, 128, "z"), id="a zone behind IPv4"),
    ],
)
def test_parsed(text: str, expected: Address) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "unable to parse IP", id="nothing"),
        pytest.param("bogus", "unable to parse IP", id="a word"),
        pytest.param("%eth0", "missing IPv6 address", id="only a zone"),
        pytest.param("1.2.3", "IPv4 address too short", id="three octets"),
        pytest.param("1.2.3.4.5", "IPv4 address too long", id="five octets"),
        pytest.param("1.2.3.256", "IPv4 field has value >255", id="a large octet"),
        pytest.param("1.2.3.04", "IPv4 field has octet with leading zero", id="a leading zero"),
        pytest.param(
            "1..2.3", 'IPv4 field must have at least one digit (at ".2.3")', id="an empty octet"
        ),
        pytest.param(
            ".1.2.3", 'IPv4 field must have at least one digit (at ".1.2.3")', id="no first octet"
        ),
        pytest.param(
            "1.2.3.", 'IPv4 field must have at least one digit (at ".")', id="no last octet"
        ),
        pytest.param("1.2.3.x", 'unexpected character (at "x")', id="a letter"),
        pytest.param(
            "1.2.3.\u0664", 'unexpected character (at "\u0664")', id="a digit of another script"
        ),
        pytest.param("fe80::1%", "zone must be a non-empty string", id="an empty zone"),
        pytest.param(
            "12345::", 'each group must have 4 or less digits (at "12345::")', id="five digits"
        ),
        pytest.param(
            ":1",
            'each colon-separated field must have at least one digit (at ":1")',
            id="no first group",
        ),
        pytest.param(
            "1::g",
            'each colon-separated field must have at least one digit (at "g")',
            id="no digit",
        ),
        pytest.param("1:2g", 'unexpected character, want colon (at "g")', id="a letter in a group"),
        pytest.param("1:", 'colon must be followed by more characters (at ":")', id="a last colon"),
        pytest.param("1::2::3", 'multiple :: in address (at ":3")', id="two gaps"),
        pytest.param("::1::", 'multiple :: in address (at ":")', id="a gap at both ends"),
        pytest.param(
            "1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")', id="nine groups"
        ),
        pytest.param("1:2", "address string too short", id="two groups"),
        pytest.param(
            "1:2:3:4::5:6:7:8",
            "the :: must expand to at least one field of zeros",
            id="a gap of nothing",
        ),
        pytest.param(
            "1:2.3.4.5",
            'embedded IPv4 address must replace the final 2 fields of the address (at "2.3.4.5")',
            id="IPv4 too early",
        ),
        pytest.param(
            "::1:2:3:4:5:6:7:1.2.3.4",
            'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")',
            id="IPv4 too late",
        ),
        pytest.param("::a.1.2.3", 'unexpected character (at "a.1.2.3")', id="IPv4 with a letter"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        parse_address(text)
    assert str(error.value) == f'ParseAddr("{text}"): {expected}'
