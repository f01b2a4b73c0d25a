"""Certificates: until when they hold, and for whom.

Of X.509 only the few fields that are asked for are read, out of DER, as Python's ssl module tells
the dates of no certificate but a verified peer's.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from extender.errors import DocumentError
from extender.review.doctor.problems import Problem

SOON: Final = timedelta(days=14)
_PEM: Final = re.compile(r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----")
_SEQUENCE: Final = 0x30
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_VERSION_TAG: Final = 0xA0


@dataclass(frozen=True, slots=True)
class Validity:
    """From when until when a certificate holds."""

    begins: datetime
    ends: datetime


def check(where: str, validity: Validity, now: datetime) -> Iterator[Problem]:
    """Whether a certificate holds now, and for a while."""
    at = f"{validity.ends:%Y-%m-%d %H:%M} UTC"
    if now >= validity.ends:
        severity, why = "error", f"it has expired at {at}: every call fails"
    elif now < validity.begins:
        begins = f"{validity.begins:%Y-%m-%d %H:%M} UTC"
        severity, why = "error", f"it is not valid before {begins}: every call fails"
    elif validity.ends - now < SOON:
        severity, why = "warning", f"it expires at {at}"
    else:
        return
    fix = "renew it; Leeway takes up changed files by itself, the scheduler reads its CA only once"
    yield Problem("error" if severity == "error" else "warning", "certificate", where, why, fix)


def from_pem(text: str) -> list[Validity]:
    """The dates of every certificate of a PEM file; DocumentError if one cannot be read."""
    found = [validity(base64.b64decode(body)) for body in _PEM.findall(text)]
    if not found:
        raise DocumentError("there is no certificate in it")
    return found


def validity(der: bytes) -> Validity:
    """The dates of one certificate."""
    try:
        (certificate,) = _elements(der)
        signed = next(_elements(certificate[1]))
        fields = [each for each in _elements(signed[1]) if each[0] != _VERSION_TAG]
        # serialNumber, signature, issuer, validity
        tag, dates = fields[3]
        begins, ends = (_time(*each) for each in _elements(dates))
    except (ValueError, IndexError, StopIteration) as exc:
        raise DocumentError("a certificate in it cannot be read") from exc
    if tag != _SEQUENCE:
        raise DocumentError("a certificate in it cannot be read")
    return Validity(begins, ends)


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each DER element."""
    position = 0
    while position < len(data):
        tag, length = data[position], data[position + 1]
        position += 2
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[position : position + size], "big")
            position += size
        content = data[position : position + length]
        if len(content) < length:
            raise ValueError("cut off")
        yield tag, content
        position += length


def _time(tag: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if tag == _UTC_TIME:
        # RFC 5280: 50 and above is the last century.
        text = ("19" if text >= "50" else "20") + text
    elif tag != _GENERALIZED_TIME:
        raise ValueError("no time")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
