"""Parses URLs as Go's net/url does (Go 1.26), with its error texts.

Works on bytes, as Go does: an escape may stand for invalid UTF-8.
"""

import re
from typing import Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.addresses import parse_address
from extender.match.cel.library.quoting import quoted

_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(rb"([a-zA-Z][a-zA-Z0-9+.-]*+):")
_USERINFO: Final = re.compile(rb"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_PORT: Final = re.compile(rb"(?::[0-9]*)?")
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9a-fA-F]{2})")

_HEX: Final = "0123456789abcdefABCDEF"
_BYTES: Final = {f"{a}{b}".encode(): bytes.fromhex(a + b) for a in _HEX for b in _HEX}

_UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"
_SUB_DELIMITERS: Final = b"!$&'()*+,;="
_HOST: Final = _UNRESERVED + _SUB_DELIMITERS + b':[]<>"'


class _Encoding:
    """Which bytes of a part are written as they are, and which as escapes."""

    __slots__ = ("_encoded", "_written")

    def __init__(self, safe: bytes) -> None:
        self._written = [b"%c" % b if b in safe else b"%%%02X" % b for b in range(256)]
        # Further bytes that are accepted unescaped.
        allowed = safe + _SUB_DELIMITERS + b":@[]%"
        self._encoded = re.compile(b"[" + re.escape(allowed) + b"]*")

    def escape(self, data: bytes) -> bytes:
        return b"".join(map(self._written.__getitem__, data))

    def corrected(self, text: bytes) -> bytes:
        """The text if its encoding is valid, else encoded again."""
        return text if self._encoded.fullmatch(text) else self.escape(unescape(text))


_IN_PATH: Final = _Encoding(_UNRESERVED + b"$&+,/:;=@")
_IN_FRAGMENT: Final = _Encoding(_UNRESERVED + b"$&+,/:;=?@!()*")
_IN_USER: Final = _Encoding(_UNRESERVED + b"$&+,;=")
_IN_HOST: Final = _Encoding(_HOST)

# In a host escapes are for bytes beyond ASCII, in a zone for what a host has unescaped, and the
# space; in both for the percent sign.
_NO_HOST: Final = b"[^" + re.escape(_HOST) + rb"%\x80-\xff]"
_HOST_FAULT: Final = re.compile(rb"%(?!25|[89a-fA-F][0-9a-fA-F])|" + _NO_HOST)
_ZONE_ESCAPES: Final = b"|".join(b"%02x" % byte for byte in _HOST + b"% ")
_ZONE_FAULT: Final = re.compile(b"%(?!(?i:" + _ZONE_ESCAPES + b"))|" + _NO_HOST)


class Parts(Struct):
    """The parts of a URL as written; only the host is decoded."""

    scheme: bytes = b""
    opaque: bytes = b""
    user: bytes | None = None  # and the password
    host: bytes = b""
    path: bytes = b""
    query: bytes = b""
    fragment: bytes = b""
    has_empty_query: bool = False
    has_authority: bool = False

    def escaped_path(self) -> bytes:
        """The path as it was encoded, if that was valid."""
        return _IN_PATH.corrected(self.path)

    def text(self) -> bytes:
        """The rebuilt text; URLs are equal if it is."""
        parts = [self.scheme, b":"] if self.scheme else []
        parts += [self.opaque] if self.opaque else [*self._authority(), self.escaped_path()]
        if self.query or self.has_empty_query:
            parts += [b"?", self.query]
        if self.fragment:
            parts += [b"#", _IN_FRAGMENT.corrected(self.fragment)]
        return b"".join(parts)

    def _authority(self) -> list[bytes]:
        if not self.has_authority or not (self.host or self.path or self.user is not None):
            return []
        if self.user is None:
            return [b"//", _IN_HOST.escape(self.host)]
        name, colon, password = self.user.partition(b":")
        user = _IN_USER.escape(unescape(name)) + colon + _IN_USER.escape(unescape(password))
        return [b"//", user, b"@", _IN_HOST.escape(self.host)]


def parse(text: bytes) -> Parts:
    """The parts of a text that is a valid request URI."""
    before, _, fragment = text.partition(b"#")
    parts = _parse(before, of_request=False)
    parts.fragment = fragment
    try:
        _check_escapes(fragment)
    except EvaluationError as fault:
        raise _refused(text, fault) from None
    return parts


def check_request_uri(text: bytes) -> None:
    """Refuse what is neither an absolute URL nor an absolute path. `#` starts no fragment here."""
    _parse(text, of_request=True)


def readable(data: bytes) -> str:
    """Bytes as text, with invalid UTF-8 as `quoted` expects it."""
    return data.decode(errors="surrogateescape")


def unescape(text: bytes) -> bytes:
    """The text with its escapes replaced by the bytes they stand for."""
    _check_escapes(text)
    first, *others = text.split(b"%")
    return first + b"".join(_BYTES[part[:2]] + part[2:] for part in others)


def _check_escapes(text: bytes) -> None:
    bad = _BAD_ESCAPE.search(text)
    if bad is not None:
        raise _bad_escape(text[bad.start() :])


def _refused(text: bytes, fault: EvaluationError) -> EvaluationError:
    return EvaluationError(f"parse {quoted(readable(text))}: {fault}")


def _bad_escape(text: bytes) -> EvaluationError:
    return EvaluationError(f"invalid URL escape {quoted(readable(text[:3]))}")


def _parse(text: bytes, *, of_request: bool) -> Parts:
    try:
        _check(text)
        return _parse_parts(text, of_request=of_request)
    except EvaluationError as fault:
        raise _refused(text, fault) from None


def _check(text: bytes) -> None:
    if _CONTROL.search(text):
        raise EvaluationError("net/url: invalid control character in URL")
    if not text:
        raise EvaluationError("empty url")
    if text.startswith(b":"):
        raise EvaluationError("missing protocol scheme")


def _parse_parts(text: bytes, *, of_request: bool) -> Parts:
    if text == b"*":
        return Parts(path=text)
    scheme = _SCHEME.match(text)
    parts = Parts(scheme=scheme[1].lower() if scheme else b"")
    rest, mark, parts.query = text[scheme.end() if scheme else 0 :].partition(b"?")
    parts.has_empty_query = bool(mark) and not parts.query
    if not rest.startswith(b"/"):
        if not parts.scheme:
            raise EvaluationError("invalid URI for request")
        parts.opaque = rest
        return parts
    may_have_authority = parts.scheme or not (of_request or rest.startswith(b"///"))
    if may_have_authority and rest.startswith(b"//"):
        authority, slash, path = rest[2:].partition(b"/")
        parts.has_authority = True
        parts.user, parts.host = _parse_authority(parts.scheme, authority)
        rest = slash + path
    _check_escapes(rest)
    parts.path = rest
    return parts


def _parse_authority(scheme: bytes, authority: bytes) -> tuple[bytes | None, bytes]:
    before, at, after = authority.rpartition(b"@")
    host = _parse_host(scheme, after)
    if not at:
        return None, host
    if not _USERINFO.fullmatch(before):
        raise EvaluationError("net/url: invalid userinfo")
    for part in before.split(b":", 1):
        _check_escapes(part)
    return before, host


def _parse_host(scheme: bytes, host: bytes) -> bytes:
    bracket = host.rfind(b"[")
    if bracket > 0:
        raise EvaluationError("invalid IP-literal")
    if bracket == 0:
        return _parse_literal(host)
    # URLs of databases list several hosts, so several colons are valid.
    is_strict = scheme in (b"http", b"https")
    colon = host.find(b":") if is_strict else host.rfind(b":")
    if colon >= 0:
        _check_port(host[colon:])
    return _unescape_host(host)


def _check_port(port: bytes) -> None:
    if not _PORT.fullmatch(port):
        raise EvaluationError(f"invalid port {quoted(readable(port))} after host")


def _parse_literal(host: bytes) -> bytes:
    """An IPv6 address in brackets; %25 in it stands for the percent sign before a zone."""
    address, bracket, port = host[1:].rpartition(b"]")
    if not bracket:
        raise EvaluationError("missing ']' in host")
    _check_port(port)
    before, percent, zone = address.partition(b"%25")
    decoded = _unescape_host(before) + _unescape_host(percent + zone, _ZONE_FAULT)
    try:
        bits = parse_address(readable(decoded)).bits
    except EvaluationError as fault:
        raise EvaluationError(f"invalid host: {fault}") from None
    if bits != 128:
        raise EvaluationError("invalid IP-literal")
    return b"[" + decoded + b"]" + port


def _unescape_host(text: bytes, faults: re.Pattern[bytes] = _HOST_FAULT) -> bytes:
    fault = faults.search(text)
    if fault is None:
        return unescape(text)
    if fault[0] == b"%":
        raise _bad_escape(text[fault.start() :])
    raise EvaluationError(f"invalid character {quoted(readable(fault[0]))} in host name")
