"""A CA and a certificate that it signs, for one Service.

The key of the CA is not kept: nothing else can ever be signed with it. Another certificate needs
another CA.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Clocks differ, and clients refuse a certificate that is not valid yet.
_EARLIER: Final = timedelta(minutes=5)
_MAX_COMMON_NAME: Final = 64


@dataclass(frozen=True, slots=True)
class Bundle:
    """The CA, the certificate and its key, as PEM."""

    ca: bytes
    certificate: bytes
    key: bytes


def dns_names(service: str, namespace: str) -> tuple[str, ...]:
    """The DNS names of a Service; the API server uses the third one."""
    within = f"{service}.{namespace}"
    return service, within, f"{within}.svc", f"{within}.svc.cluster.local"


def make(names: Sequence[str], now: datetime, days: int) -> Bundle:
    """A CA, and a certificate for these names that is valid for `days`."""
    until = now + timedelta(days=days)
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = _name(f"{names[0]} CA")
    ca = (
        _builder(ca_name, ca_name, ca_key.public_key(), now, until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    certificate = (
        _builder(_name(names[0]), ca_name, key.public_key(), now, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(list(map(x509.DNSName, names))), critical=False)
        .add_extension(issuer, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return Bundle(
        ca.public_bytes(pem),
        certificate.public_bytes(pem),
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def still_valid(pem: bytes, now: datetime) -> bytes:
    """The first certificate of a bundle if it is readable and has not expired, else nothing."""
    try:
        first = x509.load_pem_x509_certificates(pem)[0]
    except ValueError:
        return b""
    return (
        first.public_bytes(serialization.Encoding.PEM) if first.not_valid_after_utc > now else b""
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:_MAX_COMMON_NAME])])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    until: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
