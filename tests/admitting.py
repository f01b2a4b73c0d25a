"""A real server with a real admission listener, asked as the API server asks."""

import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import trustme
from prometheus_client import CollectorRegistry

from extender.cluster.source import NoSource
from extender.config.schema import Config, TLSFiles
from extender.metrics import Metrics
from extender.server.listeners import Server
from tests.builders import JSON
from tests.serving import ANYWHERE

PATH = "/admission/validate"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def review(
    new: Any,
    old: Any = None,
    *,
    kind: str = "Pod",
    group: str = "",
    operation: str = "",
    **more: Any,
) -> JSON:
    """An AdmissionReview as the API server sends it, with what we do not read left out."""
    metadata = (new or old or {}).get("metadata") or {}
    request = {
        "uid": UID,
        "kind": {"group": group, "version": "v1", "kind": kind},
        "resource": {"group": group, "version": "v1", "resource": kind.lower() + "s"},
        "requestKind": {"group": group, "version": "v1", "kind": kind},
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", "default"),
        "operation": operation or ("UPDATE" if old else "CREATE"),
        "userInfo": {"username": "system:admin"},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **more,
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


@dataclass(frozen=True, slots=True)
class ApiServer:
    """The caller of the webhook."""

    session: aiohttp.ClientSession
    admission: str
    ops: str
    metrics: Metrics
    tls: ssl.SSLContext

    async def ask(self, body: Any) -> Any:
        """The response of a review; anything but 200 fails the test."""
        status, text = await self.post(msgspec.json.encode(body))
        assert status == 200, text
        answer = msgspec.json.decode(text)
        assert answer.pop("response")["uid"] == body["request"]["uid"]
        assert answer == {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}
        return msgspec.json.decode(text)["response"]

    async def post(self, body: bytes, path: str = PATH, **more: Any) -> tuple[int, str]:
        """Status and text of the answer to raw bytes."""
        url = f"{self.admission}{path}"
        async with self.session.post(url, data=body, ssl=self.tls, **more) as response:
            return response.status, await response.text()

    def counted(self, kind: str, allowed: str, code: str = "200") -> float | None:
        """How many reviews were counted so."""
        return self.metrics.registry.get_sample_value(
            "leeway_admission_requests_total", {"kind": kind, "allowed": allowed, "code": code}
        )


def certificate(folder: Path, authority: trustme.CA) -> TLSFiles:
    """A certificate for the loopback address, in files."""
    issued = authority.issue_cert("127.0.0.1")
    cert, key = folder / "tls.crt", folder / "tls.key"
    issued.cert_chain_pems[0].write_to_path(cert)
    issued.private_key_pem.write_to_path(key)
    return TLSFiles(str(cert), str(key))


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@contextlib.asynccontextmanager
async def admitting(folder: Path, config: Config | None = None) -> AsyncIterator[ApiServer]:
    """Serve in this process, with the webhook on."""
    authority = trustme.CA()
    config = replace(
        config or Config(),
        listen=replace(ANYWHERE, admission=ANYWHERE.scheduler),
        admission_tls=certificate(folder, authority),
    )
    metrics = Metrics(CollectorRegistry())
    async with (
        Server(config, NoSource(), metrics).running() as listening,
        aiohttp.ClientSession() as session,
    ):
        _, ops, admission = (f"{each.scheme}://{each.address}" for each in listening)
        yield ApiServer(session, admission, ops, metrics, trusting(authority))
