"""What went wrong between us and the API server, in words for a person."""

import os
import ssl
from typing import Final

import msgspec
from msgspec import Struct

_TEXT: Final = 256  # of an answer that is not the API server's
_MESSAGE: Final = 4_096
_UNAUTHORIZED: Final = 401


class _Status(Struct, frozen=True):
    kind: str = ""
    message: str = ""
    reason: str = ""


def said(body: bytes) -> str:
    """The message of the API server's Status, or else the text of the answer."""
    return _message(body) or " ".join(body[: _TEXT * 4].decode(errors="replace").split())[:_TEXT]


def refusal(status: int, body: bytes) -> str:
    """The same for a person at a terminal, with the fix where there is one."""
    text = said(body)
    if status == _UNAUTHORIZED:
        return (
            f"the API server does not accept your credentials ({text or status}): they may have"
            " expired; log in again, or check the user of your context in the kubeconfig"
        )
    if _message(body):
        return text
    return f"the API server answered HTTP {status}" + (f": {text}" if text else "")


def _message(body: bytes) -> str:
    try:
        status = msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return (status.message or status.reason)[:_MESSAGE] if status.kind == "Status" else ""


def unreachable(exc: Exception, host: str, seconds: float) -> tuple[str, str]:
    """Why there was no answer, and how to fix it."""
    import aiohttp  # late: a command that reads files needs none of it

    match exc:
        case aiohttp.ClientConnectorCertificateError():
            error = exc.certificate_error
            why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error
            return (
                f"the certificate of {host} cannot be trusted: {why}",
                "check certificate-authority of the cluster in the kubeconfig",
            )
        case aiohttp.ClientConnectorDNSError():
            why = f"cannot find the host of {host}: {_reason(exc.os_error)}"
        case aiohttp.ClientSSLError():
            why = f"cannot speak TLS with {host}: {_reason(exc.os_error)}"
        case aiohttp.ClientConnectorError():
            why = f"cannot connect to {host}: {_reason(exc.os_error)}"
        case aiohttp.ConnectionTimeoutError():
            why = f"cannot connect to {host}: it does not answer"
        case TimeoutError():
            why = f"no answer from {host} for {seconds:g} s"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            why = f"{host} broke off the connection"
        case OSError():
            why = f"the connection to {host} failed: {_reason(exc)}"
        case _:
            why = f"the connection to {host} failed: {exc}"
    return why, "check that the API server runs, and that your context is the right one"


def _reason(exc: OSError) -> str:
    """What the system says; asyncio has texts of its own with addresses as tuples."""
    if exc.errno and exc.errno > 0 and not isinstance(exc, ssl.SSLError):
        return os.strerror(exc.errno)
    return exc.strerror or str(exc)
