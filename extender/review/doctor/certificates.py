"""Certificates: their dates and their names."""

import ipaddress
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from extender.errors import DocumentError
from extender.review.doctor.problems import Problem

if TYPE_CHECKING:
    from cryptography import x509

SOON: Final = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The dates, names and addresses of a certificate."""

    begins: datetime
    ends: datetime
    names: tuple[str, ...] = ()

    def is_for(self, host: str) -> bool:
        """Whether it is valid for a host; a wildcard stands for one label."""
        host = host.lower().rstrip(".")
        _, _, parent = host.partition(".")
        wanted = {host} if _is_address(host) else {host, f"*.{parent}"}
        return not wanted.isdisjoint(name.lower() for name in self.names)


def check(where: str, certificate: Certificate, now: datetime) -> Iterator[Problem]:
    """Check that a certificate is valid now and does not expire soon."""
    at = f"{certificate.ends:%Y-%m-%d %H:%M} UTC"
    fix = "renew it; Leeway takes up changed files by itself, the scheduler reads its CA only once"
    if now >= certificate.ends:
        why = f"it has expired at {at}: every call fails"
        yield Problem("error", "certificate", where, why, fix)
    elif now < certificate.begins:
        begins = f"{certificate.begins:%Y-%m-%d %H:%M} UTC"
        why = f"it is not valid before {begins}: every call fails"
        yield Problem("error", "certificate", where, why, fix)
    elif certificate.ends - now < SOON:
        yield Problem("warning", "certificate", where, f"it expires at {at}", fix)


def check_names(where: str, certificate: Certificate, hosts: Collection[str]) -> Iterator[Problem]:
    """Check that a listener's certificate is valid for the hosts that the scheduler calls."""
    for host in hosts:
        if not certificate.is_for(host):
            made_out = ", ".join(certificate.names) or "nobody"
            yield Problem(
                "error",
                "certificate-name",
                where,
                f"the scheduler asks for {host}, and it is made out for {made_out}: every call"
                " fails",
                f"make it out for {host}, or set tlsConfig.serverName to a name that it has",
            )


def from_pem(text: str) -> list[Certificate]:
    """The certificates of a PEM file; DocumentError if one cannot be read."""
    from cryptography import x509  # a slow import that other commands do not need

    try:
        loaded = x509.load_pem_x509_certificates(text.encode(errors="replace"))
        return [_read(each) for each in loaded]
    except ValueError as exc:
        raise DocumentError("there is no certificate in it that can be read") from exc


def _read(certificate: "x509.Certificate") -> Certificate:
    from cryptography import x509

    names: list[str] = []
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        pass
    else:
        names += found.get_values_for_type(x509.DNSName)
        names += map(str, found.get_values_for_type(x509.IPAddress))
    return Certificate(
        certificate.not_valid_before_utc, certificate.not_valid_after_utc, tuple(names)
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
