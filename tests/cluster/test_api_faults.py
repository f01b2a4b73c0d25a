"""Faults in words for a person: no JSON, no class of ours or of others."""

import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from extender.cluster import api_faults

HOST = "https://api.example.com:6443"
KEY: Any = ConnectionKey("api.example.com", 6443, True, True, None, None, None)
STATUS = b'{"kind":"Status","status":"Failure","message":"nodes is forbidden","code":403}'


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        pytest.param(403, STATUS, "nodes is forbidden", id="a message"),
        pytest.param(
            409, b'{"kind":"Status","reason":"Conflict"}', "Conflict", id="a reason alone"
        ),
        pytest.param(
            500,
            b'{"kind":"Status"}',
            'the API server answered HTTP 500: {"kind":"Status"}',
            id="neither",
        ),
        pytest.param(404, b"", "the API server answered HTTP 404", id="nothing"),
        pytest.param(
            502,
            b"<html>\n <h1>Bad  Gateway</h1>",
            "the API server answered HTTP 502: <html> <h1>Bad Gateway</h1>",
            id="a page of a proxy",
        ),
        pytest.param(
            503, b"\xff[", "the API server answered HTTP 503: \N{REPLACEMENT CHARACTER}[", id="junk"
        ),
        pytest.param(
            401,
            b'{"kind":"Status","message":"Unauthorized"}',
            "the API server does not accept your credentials (Unauthorized): they may have expired;"
            " log in again, or check the user of your context in the kubeconfig",
            id="credentials",
        ),
    ],
)
def test_what_the_api_server_refuses(status: int, body: bytes, said: str) -> None:
    assert api_faults.refusal(status, body) == said


def test_a_long_answer_is_cut() -> None:
    assert len(api_faults.said(b"x" * 10_000)) == 256


@pytest.mark.parametrize(
    ("exc", "why"),
    [
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "Name or service not known")),
            f"cannot find the host of {HOST}: Name or service not known",
        ),
        (
            aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "wrong version number")),
            f"cannot speak TLS with {HOST}: wrong version number",
        ),
        (
            aiohttp.ClientConnectorError(
                KEY, ConnectionRefusedError(111, "Connect call failed ('::1', 1)")
            ),
            f"cannot connect to {HOST}: Connection refused",
        ),
        (aiohttp.ConnectionTimeoutError(), f"cannot connect to {HOST}: it does not answer"),
        (aiohttp.SocketTimeoutError(), f"no answer from {HOST} for 60 s"),
        (TimeoutError(), f"no answer from {HOST} for 60 s"),
        (aiohttp.ServerDisconnectedError(), f"{HOST} broke off the connection"),
        (aiohttp.ClientPayloadError("x"), f"{HOST} broke off the connection"),
        (
            ConnectionResetError(104, "x"),
            f"the connection to {HOST} failed: Connection reset by peer",
        ),
        (OSError("odd"), f"the connection to {HOST} failed: odd"),
        (aiohttp.InvalidURL("x"), f"the connection to {HOST} failed: x"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_keeps_us_from_the_api_server(exc: Exception, why: str) -> None:
    said, fix = api_faults.unreachable(exc, HOST, 60.0)

    assert said == why
    assert fix.startswith("check that the API server runs")


def test_a_certificate_that_nobody_trusts() -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "certificate has expired"
    said, fix = api_faults.unreachable(
        aiohttp.ClientConnectorCertificateError(KEY, error), HOST, 60.0
    )

    assert said == f"the certificate of {HOST} cannot be trusted: certificate has expired"
    assert "certificate-authority" in fix
