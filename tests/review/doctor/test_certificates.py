"""Certificates: their dates and names."""

from datetime import UTC, datetime, timedelta

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from extender.errors import DocumentError
from extender.review.doctor import certificates
from extender.review.doctor.certificates import Certificate

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ENDS = datetime(2060, 6, 1, 12, tzinfo=UTC)
CA = trustme.CA()
LEAF = CA.issue_cert("leeway.leeway.svc", "127.0.0.1", not_after=ENDS)
PEM = b"".join(blob.bytes() for blob in LEAF.cert_chain_pems).decode()


def test_the_dates_and_the_names() -> None:
    own, *_ = certificates.from_pem(PEM)

    assert own.ends == ENDS
    assert own.names == ("leeway.leeway.svc", "127.0.0.1")


def test_an_authority_has_no_names() -> None:
    (authority,) = certificates.from_pem(CA.cert_pem.bytes().decode())

    assert authority.names == ()
    assert not authority.is_for("leeway")


@given(st.text(max_size=50) | st.just(PEM.replace("MI", "AA")) | st.just(PEM[:300]))
def test_what_is_no_certificate(text: str) -> None:
    with pytest.raises(DocumentError):
        certificates.from_pem(text)


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
    certificate = Certificate(NOW + timedelta(days=begins), NOW + timedelta(days=ends))

    assert [p.severity for p in certificates.check("here", certificate, NOW)] == expected


@pytest.mark.parametrize(
    ("names", "host", "expected"),
    [
        (("leeway.svc",), "leeway.svc", True),
        (("Leeway.SVC",), "leeway.svc.", True),
        (("*.svc",), "leeway.svc", True),
        (("*.svc",), "a.leeway.svc", False),
        (("127.0.0.1",), "127.0.0.1", True),
        (("*.0.0.1",), "127.0.0.1", False),
        (("other",), "leeway.svc", False),
        ((), "leeway.svc", False),
    ],
)
def test_for_whom_it_is(names: tuple[str, ...], host: str, expected: bool) -> None:
    certificate = Certificate(NOW, NOW, names)

    assert certificate.is_for(host) is expected
    found = list(certificates.check_names("here", certificate, [host]))
    assert [p.check for p in found] == ([] if expected else ["certificate-name"])
