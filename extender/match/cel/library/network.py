"""IP addresses and networks in CIDR notation."""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import ClassVar, Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.addresses import parse_address
from extender.match.cel.library.charges import BY_FIRST, BY_FIRST_TWICE, ONE, PARSED, Charge, tenth
from extender.match.cel.library.estimates import ONE as ONE_UNIT
from extender.match.cel.library.estimates import TRAVERSAL, TWICE, Bounds, Estimate, Rule, traversal
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.quoting import quoted
from extender.match.cel.values import INT_MAX, Value, size

_V4: Final = 32
_V6: Final = 128
_MAPPED: Final = 0xFFFF  # the upper 96 bits of an IPv4-mapped IPv6 address
_PREFIX_LENGTH: Final = re.compile("[1-9][0-9]*|0")
_INT_DIGITS: Final = 19


class Ip(Struct, frozen=True, gc=False):
    """An address of 32 or 128 bits."""

    type_name: ClassVar[str] = "net.IP"

    number: int
    bits: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bits // 8

    def __str__(self) -> str:
        return str(IPv4Address(self.number) if self.bits == _V4 else IPv6Address(self.number))


class Cidr(Struct, frozen=True, gc=False):
    """An address and a prefix length; the host bits need not be zero."""

    type_name: ClassVar[str] = "net.CIDR"

    ip: Ip
    length: int

    @property
    def size(self) -> int:
        """Bytes that the network takes."""
        return -(-self.length // 8)

    def __str__(self) -> str:
        return f"{self.ip}/{self.length}"


def _parse_ip(text: str) -> Ip:
    try:
        address = parse_address(text)
    except EvaluationError as fault:
        reason = f"IP Address {quoted(text)} parse error during conversion from string: {fault}"
        raise EvaluationError(reason) from None
    if address.zone:
        raise EvaluationError(f"IP address {quoted(text)} with zone value is not allowed")
    ip = Ip(address.number, address.bits)
    if _is_mapped(ip):
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return ip


def _is_mapped(ip: Ip) -> bool:
    return ip.bits == _V6 and ip.number >> _V4 == _MAPPED


def _parse_cidr(text: str) -> Cidr:
    reason = "network address parse error during conversion from string: "
    try:
        cidr = _parse_prefix(text)
    except EvaluationError as fault:
        raise EvaluationError(
            f"{reason}{reason}netip.ParsePrefix({quoted(text)}): {fault}"
        ) from None
    if _is_mapped(cidr.ip):
        raise EvaluationError(f"{reason}IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return cidr


def _parse_prefix(text: str) -> Cidr:
    before, slash, after = text.rpartition("/")
    if not slash:
        raise EvaluationError("no '/'")
    address = parse_address(before)
    if address.zone:
        raise EvaluationError("IPv6 zones cannot be present in a prefix")
    length = int(after) if _PREFIX_LENGTH.fullmatch(after) and len(after) <= _INT_DIGITS else None
    if length is None or length > INT_MAX:
        raise EvaluationError(f"bad bits after slash: {quoted(after)}")
    if length > address.bits:
        raise EvaluationError("prefix length out of range")
    return Cidr(Ip(address.number, address.bits), length)


def _is(parse: Callable[[str], Value]) -> Callable[[str], bool]:
    def is_parsed(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return is_parsed


def _family(ip: Ip) -> int:
    return 4 if ip.bits == _V4 else 6


def _is_loopback(ip: Ip) -> bool:
    return ip.number >> 24 == 127 if ip.bits == _V4 else ip.number == 1


def _is_multicast(ip: Ip) -> bool:
    return ip.number >> 28 == 0xE if ip.bits == _V4 else ip.number >> 120 == 0xFF


def _is_link_local_multicast(ip: Ip) -> bool:
    if ip.bits == _V4:
        return ip.number >> 8 == 224 << 16
    return ip.number >> 112 & 0xFF0F == 0xFF02


def _is_link_local_unicast(ip: Ip) -> bool:
    if ip.bits == _V4:
        return ip.number >> 16 == 169 << 8 | 254
    return ip.number >> 118 == 0xFE80 >> 6


def _is_global_unicast(ip: Ip) -> bool:
    if ip.number == 0 or (ip.bits == _V4 and ip.number == (1 << _V4) - 1):
        return False
    return not (_is_loopback(ip) or _is_multicast(ip) or _is_link_local_unicast(ip))


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return cidr.ip.bits == ip.bits and _network(cidr.ip, cidr.length) == _network(ip, cidr.length)


def _network(ip: Ip, length: int) -> int:
    return ip.number >> (ip.bits - length)


def _contains_ip_string(cidr: Cidr, text: str) -> bool:
    try:
        ip = _parse_ip(text)
    except EvaluationError:
        raise EvaluationError("no such overload") from None  # upstream's text
    return _contains_ip(cidr, ip)


def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    return cidr.length <= other.length and _contains_ip(cidr, other.ip)


def _masked(cidr: Cidr) -> Cidr:
    host_bits = cidr.ip.bits - cidr.length
    return Cidr(Ip(cidr.ip.number >> host_bits << host_bits, cidr.ip.bits), cidr.length)


_ADDRESS: Final = Bounds(4, 16)  # bytes of an IP address
_CONTAINING_IP: Final = (_ADDRESS + _ADDRESS).scaled(TRAVERSAL)
_CONTAINING_CIDR: Final = _CONTAINING_IP + _ADDRESS.scaled(TRAVERSAL) + ONE_UNIT


def _parsing_too(cost: Bounds) -> Rule:
    return lambda _, text: Estimate(cost + text.size.scaled(TRAVERSAL))


def _charge_ip(cidr: Value) -> int:
    return tenth(2 * size(cidr))


def _charge_cidr(cidr: Value) -> int:
    return _charge_ip(cidr) + tenth(size(cidr)) + 1


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "ip",
        overload(
            "string_to_ip",
            "(string) -> ip",
            _parse_ip,
            estimate=traversal(),
            work=PARSED,
        ),
        overload("cidr_ip", "cidr.() -> ip", lambda cidr: cidr.ip, charge=ONE),
        charge=BY_FIRST,
    ),
    function(
        "isIP",
        overload("is_ip", "(string) -> bool", _is(_parse_ip)),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function(
        "ip.isCanonical",
        overload("ip_is_canonical", "(string) -> bool", lambda text: str(_parse_ip(text)) == text),
        estimate=traversal(0, TWICE),
        charge=BY_FIRST_TWICE,
        work=PARSED,
    ),
    function("family", overload("ip_family", "ip.() -> int", _family)),
    function(
        "isUnspecified",
        overload("ip_is_unspecified", "ip.() -> bool", lambda ip: ip.number == 0),
    ),
    function("isLoopback", overload("ip_is_loopback", "ip.() -> bool", _is_loopback)),
    function(
        "isLinkLocalMulticast",
        overload("ip_is_link_local_multicast", "ip.() -> bool", _is_link_local_multicast),
    ),
    function(
        "isLinkLocalUnicast",
        overload("ip_is_link_local_unicast", "ip.() -> bool", _is_link_local_unicast),
    ),
    function(
        "isGlobalUnicast", overload("ip_is_global_unicast", "ip.() -> bool", _is_global_unicast)
    ),
    function(
        "cidr",
        overload("string_to_cidr", "(string) -> cidr", _parse_cidr),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function(
        "isCIDR",
        overload("is_cidr", "(string) -> bool", _is(_parse_cidr)),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function(
        "containsIP",
        overload(
            "cidr_contains_ip_string",
            "cidr.(string) -> bool",
            _contains_ip_string,
            estimate=_parsing_too(_CONTAINING_IP),
            charge=Charge(by_arguments=lambda cidr, text: _charge_ip(cidr) + tenth(size(text))),
            work=PARSED,
        ),
        overload(
            "cidr_contains_ip_ip",
            "cidr.(ip) -> bool",
            _contains_ip,
            estimate=lambda *_: Estimate(_CONTAINING_IP),
        ),
        charge=Charge(by_arguments=lambda cidr, _: _charge_ip(cidr)),
    ),
    function(
        "containsCIDR",
        overload(
            "cidr_contains_cidr_string",
            "cidr.(string) -> bool",
            lambda cidr, text: _contains_cidr(cidr, _parse_cidr(text)),
            estimate=_parsing_too(_CONTAINING_CIDR),
            charge=Charge(by_arguments=lambda cidr, text: _charge_cidr(cidr) + tenth(size(text))),
            work=PARSED,
        ),
        overload(
            "cidr_contains_cidr",
            "cidr.(cidr) -> bool",
            _contains_cidr,
            estimate=lambda *_: Estimate(_CONTAINING_CIDR),
        ),
        charge=Charge(by_arguments=lambda cidr, _: _charge_cidr(cidr)),
    ),
    function(
        "prefixLength", overload("cidr_prefix_length", "cidr.() -> int", lambda cidr: cidr.length)
    ),
    function("masked", overload("cidr_masked", "cidr.() -> cidr", _masked)),
)
