"""The dates of certificates, compared with what a library reads out of them."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from extender.errors import DocumentError
from extender.review.doctor import certificates
from extender.review.doctor.certificates import Validity

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LEAF = trustme.CA().issue_cert("leeway.svc", not_after=datetime(2049, 12, 31, tzinfo=UTC))
PEM = b"".join(blob.bytes() for blob in LEAF.cert_chain_pems).decode()


def test_the_dates_are_those_that_a_library_reads() -> None:
    parsed = x509.load_pem_x509_certificates(PEM.encode())

    assert certificates.from_pem(PEM) == [
        Validity(each.not_valid_before_utc, each.not_valid_after_utc) for each in parsed
    ]


def test_a_date_after_2049_is_written_in_another_way() -> None:
    leaf = trustme.CA().issue_cert("a", not_after=datetime(2060, 6, 1, 12, tzinfo=UTC))
    (validity,) = certificates.from_pem(leaf.cert_chain_pems[0].bytes().decode())

    assert validity.ends == datetime(2060, 6, 1, 12, tzinfo=UTC)


def test_a_date_of_the_last_century() -> None:
    der = b"\x17\x0d991231235959Z"

    assert certificates._time(der[0], der[2:]) == datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "no certificate", PEM.replace("MI", "AA", 1)])
def test_what_is_no_certificate(text: str) -> None:
    with pytest.raises(DocumentError):
        certificates.from_pem(text)


@given(st.binary(max_size=300))
def test_no_bytes_break_it(der: bytes) -> None:
    with pytest.raises(DocumentError):
        certificates.validity(der)


@given(st.data())
def test_no_damage_breaks_it(data: st.DataObject) -> None:
    der = bytearray(x509.load_pem_x509_certificate(PEM.encode()).public_bytes(Encoding.DER))
    for _ in range(data.draw(st.integers(1, 5))):
        der[data.draw(st.integers(0, len(der) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DocumentError):
        certificates.validity(bytes(der))


@pytest.mark.parametrize(
    ("begins", "ends", "expected"),
    [
        pytest.param(-10, 100, [], id="holds"),
        pytest.param(-10, 13, ["warning"], id="soon over"),
        pytest.param(-10, 0, ["error"], id="over"),
        pytest.param(1, 100, ["error"], id="not yet"),
    ],
)
def test_what_is_said_of_dates(begins: int, ends: int, expected: list[str]) -> None:
    validity = Validity(NOW + timedelta(days=begins), NOW + timedelta(days=ends))

    assert [p.severity for p in certificates.check("here", validity, NOW)] == expected
