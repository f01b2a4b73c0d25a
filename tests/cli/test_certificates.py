"""Certificates that real TLS takes, and nothing else."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from extender.cli import certificates
from extender.cli.certificates import Bundle

NOW = datetime.now(UTC)
NAMES = certificates.dns_names("leeway-admission", "leeway")


def handshake(made: Bundle, trusted: bytes, host: str, folder: Path) -> None:
    """Client and server over a pair of sockets; raises what the client says."""
    (folder / "tls.crt").write_bytes(made.certificate)
    (folder / "tls.key").write_bytes(made.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    client = ssl.create_default_context(cadata=trusted.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = client.wrap_bio(incoming, outgoing, server_hostname=host)
    other = server.wrap_bio(outgoing, incoming, server_side=True)
    for _ in range(4):
        for side in (one, other):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue


@pytest.mark.parametrize("host", NAMES)
def test_it_is_good_for_every_name_of_the_service(tmp_path: Path, host: str) -> None:
    made = certificates.make(NAMES, NOW, 365)

    handshake(made, made.ca, host, tmp_path)


def test_it_is_good_for_no_other_name(tmp_path: Path) -> None:
    made = certificates.make(NAMES, NOW, 365)
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(made, made.ca, "leeway.leeway.svc", tmp_path)


def test_another_ca_does_not_vouch_for_it(tmp_path: Path) -> None:
    made, other = (certificates.make(NAMES, NOW, 365) for _ in range(2))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(made, other.ca, NAMES[2], tmp_path)


def test_trust_in_both_survives_a_renewal(tmp_path: Path) -> None:
    old, new = (certificates.make(NAMES, NOW, 365) for _ in range(2))
    both = new.ca + certificates.still_valid(old.ca, NOW)

    handshake(old, both, NAMES[2], tmp_path)
    handshake(new, both, NAMES[2], tmp_path)


def test_it_ends_when_it_shall_and_begins_a_little_earlier() -> None:
    made = certificates.make(NAMES, NOW, 30)
    for pem in (made.ca, made.certificate):
        certificate = x509.load_pem_x509_certificate(pem)
        assert abs(certificate.not_valid_after_utc - (NOW + timedelta(days=30))).seconds <= 1
        assert certificate.not_valid_before_utc < NOW - timedelta(minutes=4)


def test_the_key_fits_and_is_not_that_of_the_ca() -> None:
    made = certificates.make(NAMES, NOW, 1)
    key = load_pem_private_key(made.key, None)
    certificate = x509.load_pem_x509_certificate(made.certificate)
    ca = x509.load_pem_x509_certificate(made.ca)

    assert certificate.public_key() == key.public_key()
    assert ca.public_key() != key.public_key()
    certificate.verify_directly_issued_by(ca)


def test_a_long_name_is_still_a_name() -> None:
    names = certificates.dns_names("s" * 63, "n" * 63)
    certificate = x509.load_pem_x509_certificate(certificates.make(names, NOW, 1).certificate)
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert found.get_values_for_type(x509.DNSName) == list(names)


@pytest.mark.parametrize("pem", [b"", b"nonsense", b"-----BEGIN CERTIFICATE-----\nx\n"])
def test_what_is_no_certificate_is_dropped(pem: bytes) -> None:
    assert certificates.still_valid(pem, NOW) == b""


def test_what_has_ended_is_dropped_and_of_several_the_first_is_kept() -> None:
    old, older = (certificates.make(NAMES, NOW, days).ca for days in (10, 5))

    assert certificates.still_valid(old + older, NOW) == old
    assert certificates.still_valid(old, NOW + timedelta(days=11)) == b""
