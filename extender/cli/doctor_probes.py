"""What `leeway doctor` asks over the network and on disk: a running Leeway, and certificates."""

import base64
import contextlib
import http.client
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from extender.cli import ops_client
from extender.config import reading
from extender.errors import ConfigError, DocumentError
from extender.review.doctor import certificates, examining, running
from extender.review.doctor.problems import Problem
from extender.review.doctor.running import Process, Status
from extender.review.doctor.scheduler import TLSConfig
from extender.review.doctor.setup import Setup

_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Visit:
    """What a running Leeway tells at its ops listener."""

    where: str
    ready: bool
    report: str
    status: Status

    @property
    def process(self) -> Process:
        """Who answered."""
        return running.process_of(self.report, self.status)

    @property
    def is_controller(self) -> bool:
        """Whether it is a controller, which no scheduler calls."""
        return self.process.command == "controller"

    def problems(self, setup: Setup) -> Iterator[Problem]:
        """What is wrong with it, in this installation."""
        yield from running.check(
            self.where, ready=self.ready, report=self.report, status=self.status
        )
        for _, config in () if self.is_controller else setup.schedulers:
            yield from running.check_mode(self.where, self.status, config)


def visit(url: str) -> Visit:
    """Ask the ops listener of a running Leeway."""
    where = url.rstrip("/")
    code, report = ops_client.get(where, "/readyz?verbose")
    _, page = ops_client.get(where, "/status")
    try:
        status = msgspec.json.decode(page, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise ConfigError([f"{where}/status: this is not Leeway's ops listener: {exc}"]) from exc
    ready = code == http.client.OK
    return Visit(where, ready, report.decode(errors="replace"), status)


def certificates_of(file: str | None, where: str, now: datetime) -> Iterator[Problem]:
    """Check the dates of the certificates in a file, if it is on this machine."""
    if file and Path(file).is_file():
        yield from _dated(Path(file).read_text(encoding="utf-8", errors="replace"), where, now)


def certificates_in(data: str, where: str, now: datetime) -> Iterator[Problem]:
    """Check the dates of certificates that are embedded in a configuration."""
    try:
        text = base64.b64decode(data, validate=True).decode(errors="replace")
    except ValueError:
        text = ""
    yield from _dated(text, where, now)


def presented(listener: str, setup: Setup, now: datetime) -> Iterator[Problem]:
    """Check the dates and names of the certificate that a listener presents."""
    try:
        address = reading.address(listener)
        pem = ssl.get_server_certificate((address.host, address.port), timeout=_SECONDS)
    except ValueError as exc:
        raise ConfigError([f"--listener: {exc}"]) from exc
    except OSError as exc:
        raise ConfigError([f"--listener {listener}: {exc}"]) from exc
    where = f"{listener}: the certificate that it presents"
    yield from _dated(pem, where, now)
    yield from _named(pem, where, setup)


def all_certificates(setup: Setup, now: datetime) -> Iterator[Problem]:
    """Check the dates of all certificates that the configurations name and that are here."""
    for origin, config in (*setup.extenders, *setup.controllers):
        for name, files in (
            ("scheduler", config.scheduler_tls),
            ("admission", config.admission_tls),
        ):
            if files is not None:
                where = f"{origin}: tls.{name}"
                yield from certificates_of(files.cert_file, f"{where}.certFile", now)
                if name == "scheduler" and Path(files.cert_file).is_file():
                    pem = Path(files.cert_file).read_text(encoding="utf-8", errors="replace")
                    yield from _named(pem, f"{where}.certFile", setup)
                yield from certificates_of(files.client_ca_file, f"{where}.clientCAFile", now)
    for origin, scheduler in setup.schedulers:
        for path, extender in examining.our_extenders(scheduler):
            if extender.tls_config is not None:
                where = f"{origin}: {path}.tlsConfig"
                yield from _of_client(extender.tls_config, where, now)
    yield from _of_webhooks(setup, now)


def _of_webhooks(setup: Setup, now: datetime) -> Iterator[Problem]:
    for found in setup.webhooks:
        for where, hook in found.hooks():
            if bundle := hook.client_config.ca_bundle:
                yield from certificates_in(bundle, f"{where}.clientConfig.caBundle", now)


def _of_client(tls: TLSConfig, where: str, now: datetime) -> Iterator[Problem]:
    for name, file in (("caFile", tls.ca_file), ("certFile", tls.cert_file)):
        yield from certificates_of(file, f"{where}.{name}", now)
    for name, data in (("caData", tls.ca_data), ("certData", tls.cert_data)):
        if data:
            yield from certificates_in(data, f"{where}.{name}", now)


def _named(pem: str, where: str, setup: Setup) -> Iterator[Problem]:
    """Check that the first certificate is valid for the hosts that the schedulers call."""
    with contextlib.suppress(DocumentError):  # the check of the dates reports it
        own, *_ = certificates.from_pem(pem)
        yield from certificates.check_names(where, own, examining.asked_for(setup))


def _dated(pem: str, where: str, now: datetime) -> Iterator[Problem]:
    try:
        for certificate in certificates.from_pem(pem):
            yield from certificates.check(where, certificate, now)
    except DocumentError as exc:
        yield Problem("error", "certificate", where, str(exc), "replace it")
