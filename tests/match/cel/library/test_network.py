from ipaddress import IPv4Address

import pytest

from extender.match.cel.equality import equals
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.network import Cidr, Ip
from extender.match.cel.values import Value, size, type_name
from tests.match.cel.library.calls import RUN

KINDS = {
    "unspecified": "ip_is_unspecified",
    "loopback": "ip_is_loopback",
    "link-local multicast": "ip_is_link_local_multicast",
    "link-local unicast": "ip_is_link_local_unicast",
    "global unicast": "ip_is_global_unicast",
}
CIDR_REASON = "network address parse error during conversion from string: "


def ip(text: str) -> Value:
    return RUN["string_to_ip"](text)


def cidr(text: str) -> Value:
    return RUN["string_to_cidr"](text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("10.0.0.1", "10.0.0.1", id="IPv4"),
        pytest.param("2001:DB8:0:0::1", "2001:db8::1", id="the longest run of zeros is left out"),
        pytest.param("1:0:0:2:0:0:3:4", "1::2:0:0:3:4", id="the first of two"),
        pytest.param("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7", id="a single zero stays"),
        pytest.param("::1.2.3.4", "::102:304", id="an embedded IPv4 address is not shown"),
        pytest.param("::", "::", id="all zeros"),
    ],
)
def test_ip_printed(text: str, expected: str) -> None:
    assert RUN["ip_to_string"](ip(text)) == expected
    assert RUN["is_ip"](text) is True
    assert RUN["ip_is_canonical"](text) is (text == expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "1.2.3.04",
            'IP Address "1.2.3.04" parse error during conversion from string: '
            'ParseAddr("1.2.3.04"): IPv4 field has octet with leading zero',
            id="a leading zero",
        ),
        pytest.param(
            "::1%eth0", 'IP address "::1%eth0" with zone value is not allowed', id="a zone"
        ),
        pytest.param(
            "::ffff:1.2.3.4",
            'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed',
            id="IPv4 in IPv6",
        ),
        pytest.param(
            "::ffff:102:304",
            'IPv4-mapped IPv6 address "::ffff:102:304" is not allowed',
            id="IPv4 in IPv6, in other words",
        ),
    ],
)
def test_ip_refused(text: str, expected: str) -> None:
    for overload in ("string_to_ip", "ip_is_canonical"):
        with pytest.raises(EvaluationError) as error:
            RUN[overload](text)
        assert str(error.value) == expected
    assert RUN["is_ip"](text) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(str(IPv4Address(0)), {"unspecified"}, id="IPv4 zero"),
        pytest.param("::", {"unspecified"}, id="IPv6 zero"),
        pytest.param("127.255.0.1", {"loopback"}, id="IPv4 loopback"),
        pytest.param("::1", {"loopback"}, id="IPv6 loopback"),
        pytest.param("224.0.0.9", {"link-local multicast"}, id="IPv4 multicast on the link"),
        pytest.param("224.0.1.0", set(), id="IPv4 multicast"),
        pytest.param("239.1.1.1", set(), id="the last IPv4 multicast"),
        pytest.param("ff02::1", {"link-local multicast"}, id="IPv6 multicast on the link"),
        pytest.param("ff12::1", {"link-local multicast"}, id="transient IPv6 multicast"),
        pytest.param("ff0e::1", set(), id="IPv6 multicast"),
        pytest.param("169.254.1.1", {"link-local unicast"}, id="IPv4 unicast on the link"),
        pytest.param("169.253.1.1", {"global unicast"}, id="before it"),
        pytest.param("febf::1", {"link-local unicast"}, id="IPv6 unicast on the link"),
        pytest.param("fec0::1", {"global unicast"}, id="behind it"),
        pytest.param("255.255.255.255", set(), id="IPv4 broadcast"),
        pytest.param("::ff:ffff:ffff", {"global unicast"}, id="its number is nothing in IPv6"),
        pytest.param("10.1.2.3", {"global unicast"}, id="a private address is global"),
    ],
)
def test_kind(text: str, expected: set[str]) -> None:
    address = ip(text)
    assert {kind for kind, overload in KINDS.items() if RUN[overload](address)} == expected
    assert RUN["ip_family"](address) == (6 if ":" in text else 4)


@pytest.mark.parametrize(
    ("text", "masked", "size_in_bytes"),
    [
        pytest.param("192.168.1.7/24", "192.168.1.0/24", 3, id="IPv4"),
        pytest.param("10.1.2.3/9", "10.0.0.0/9", 2, id="bits that fill no byte"),
        pytest.param("1.2.3.4/0", "0.0.0.0/0", 0, id="all of IPv4"),
        pytest.param("2001:db8::1/32", "2001:db8::/32", 4, id="IPv6"),
        pytest.param("::1/128", "::1/128", 16, id="one address"),
    ],
)
def test_cidr_printed(text: str, masked: str, size_in_bytes: int) -> None:
    network = cidr(text)
    assert RUN["is_cidr"](text) is True
    assert RUN["cidr_to_string"](network) == text
    assert RUN["cidr_to_string"](RUN["cidr_masked"](network)) == masked
    assert RUN["cidr_prefix_length"](network) == int(text.partition("/")[2])
    assert RUN["ip_to_string"](RUN["cidr_ip"](network)) == text.partition("/")[0]
    assert size(network) == size_in_bytes


def prefix_fault(text: str, reason: str) -> str:
    return f'{CIDR_REASON}{CIDR_REASON}netip.ParsePrefix("{text}"): {reason}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("bogus", prefix_fault("bogus", "no '/'"), id="no slash"),
        pytest.param(
            "bogus/8",
            prefix_fault("bogus/8", 'ParseAddr("bogus"): unable to parse IP'),
            id="no address",
        ),
        pytest.param(
            "::1%e/8",
            prefix_fault("::1%e/8", "IPv6 zones cannot be present in a prefix"),
            id="a zone",
        ),
        *[
            pytest.param(
                f"1.2.3.4/{bits}",
                prefix_fault(f"1.2.3.4/{bits}", f'bad bits after slash: "{bits}"'),
                id=f"length {bits or 'missing'}",
            )
            for bits in ("", "08", "+8", "-1", "x", "8 ", "9223372036854775808", "9" * 20)
        ],
        pytest.param(
            "1.2.3.4/33", prefix_fault("1.2.3.4/33", "prefix length out of range"), id="33 of 32"
        ),
        pytest.param(
            "::1/129", prefix_fault("::1/129", "prefix length out of range"), id="129 of 128"
        ),
        pytest.param(
            "::ffff:1.2.3.4/100",
            f'{CIDR_REASON}IPv4-mapped IPv6 address "::ffff:1.2.3.4/100" is not allowed',
            id="IPv4 in IPv6",
        ),
    ],
)
def test_cidr_refused(text: str, expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        cidr(text)
    assert str(error.value) == expected
    assert RUN["is_cidr"](text) is False
    with pytest.raises(EvaluationError) as error:
        RUN["cidr_contains_cidr_string"](cidr("10.0.0.0/8"), text)
    assert str(error.value) == expected


@pytest.mark.parametrize(
    ("network", "address", "expected"),
    [
        pytest.param("10.0.0.0/8", "10.255.0.1", True, id="inside"),
        pytest.param("10.0.0.0/8", "11.0.0.1", False, id="outside"),
        pytest.param("10.1.2.3/8", "10.9.9.9", True, id="the network need not be masked"),
        pytest.param("0.0.0.0/0", "1.2.3.4", True, id="all of IPv4"),
        pytest.param("0.0.0.0/0", "::1", False, id="IPv6 is not in IPv4"),
        pytest.param("::/0", "1.2.3.4", False, id="IPv4 is not in IPv6"),
        pytest.param("fe80::/10", "febf::1", True, id="inside of IPv6"),
    ],
)
def test_contains_ip(network: str, address: str, expected: bool) -> None:
    assert RUN["cidr_contains_ip_string"](cidr(network), address) is expected
    assert RUN["cidr_contains_ip_ip"](cidr(network), ip(address)) is expected


def test_contains_what_is_no_address() -> None:
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        RUN["cidr_contains_ip_string"](cidr("10.0.0.0/8"), "bogus")


@pytest.mark.parametrize(
    ("network", "other", "expected"),
    [
        pytest.param("10.0.0.0/8", "10.1.0.0/16", True, id="a smaller one inside"),
        pytest.param("10.0.0.0/8", "10.0.0.0/8", True, id="itself"),
        pytest.param("10.1.0.0/16", "10.0.0.0/8", False, id="a larger one around"),
        pytest.param("10.0.0.0/8", "11.0.0.0/16", False, id="outside"),
        pytest.param("::/0", "10.0.0.0/8", False, id="another family"),
    ],
)
def test_contains_cidr(network: str, other: str, expected: bool) -> None:
    assert RUN["cidr_contains_cidr_string"](cidr(network), other) is expected
    assert RUN["cidr_contains_cidr"](cidr(network), cidr(other)) is expected


def test_equality() -> None:
    assert equals(ip("FE80::1"), ip("fe80::1"))
    assert not equals(ip("0.0.0.1"), ip("::1"))
    assert equals(cidr("10.0.0.1/8"), cidr("10.0.0.1/8"))
    assert not equals(cidr("10.0.0.1/8"), cidr("10.0.0.0/8"))
    assert not equals(cidr("10.0.0.0/8"), cidr("10.0.0.0/9"))


def test_values() -> None:
    assert (type_name(ip("1.2.3.4")), size(ip("1.2.3.4"))) == ("net.IP", 4)
    assert (type_name(cidr("::/0")), size(ip("::"))) == ("net.CIDR", 16)
    assert {Ip(1, 32), Ip(1, 32)} == {Ip(1, 32)}
    assert {Cidr(Ip(1, 32), 8), Cidr(Ip(1, 32), 8)} == {Cidr(Ip(1, 32), 8)}
