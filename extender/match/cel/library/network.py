"""IP addresses and networks in CIDR notation."""

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import ClassVar, Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.addresses import parse_address
from extender.match.cel.library.quoting import quoted
from extender.match.cel.values import INT_MAX, Value

_V4: Final = 32
_V6: Final = 128
_MAPPED: Final = 0xFFFF  # an IPv6 address above its last 32 bits, if it stands for an IPv4 one
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
    """An address and how many of its bits name the network; the others need not be zero."""

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
        raise EvaluationError("no such overload") from None  # sic
    return _contains_ip(cidr, ip)


def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    return cidr.length <= other.length and _contains_ip(cidr, other.ip)


def _masked(cidr: Cidr) -> Cidr:
    host_bits = cidr.ip.bits - cidr.length
    return Cidr(Ip(cidr.ip.number >> host_bits << host_bits, cidr.ip.bits), cidr.length)


OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    "string_to_ip": _parse_ip,
    "is_ip": _is(_parse_ip),
    "ip_is_canonical": lambda text: str(_parse_ip(text)) == text,
    "ip_family": lambda ip: 4 if ip.bits == _V4 else 6,
    "ip_is_unspecified": lambda ip: ip.number == 0,
    "ip_is_loopback": _is_loopback,
    "ip_is_link_local_multicast": _is_link_local_multicast,
    "ip_is_link_local_unicast": _is_link_local_unicast,
    "ip_is_global_unicast": _is_global_unicast,
    "ip_to_string": str,
    "string_to_cidr": _parse_cidr,
    "is_cidr": _is(_parse_cidr),
    "cidr_contains_ip_string": _contains_ip_string,
    "cidr_contains_ip_ip": _contains_ip,
    "cidr_contains_cidr_string": lambda cidr, text: _contains_cidr(cidr, _parse_cidr(text)),
    "cidr_contains_cidr": _contains_cidr,
    "cidr_ip": lambda cidr: cidr.ip,
    "cidr_prefix_length": lambda cidr: cidr.length,
    "cidr_masked": _masked,
    "cidr_to_string": str,
}
