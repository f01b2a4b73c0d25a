"""Certificates on the spot; a running Leeway is visited in test_doctor."""

import base64
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
import trustme

from extender.cli import doctor_probes
from extender.config.schema import Config, TLSFiles
from extender.errors import ConfigError
from extender.review.doctor.scheduler import SchedulerConfiguration
from extender.review.doctor.setup import Setup

NOW = datetime.now(UTC)
CA = trustme.CA()
OLD = CA.issue_cert("127.0.0.1", not_after=NOW + timedelta(days=3))
PEM = OLD.cert_chain_pems[0].bytes()
CALLING: list[object] = [
    {"urlPrefix": "https://leeway.svc:8888"},
    {"urlPrefix": "https://leeway:8888", "tlsConfig": {"serverName": "127.0.0.1"}},
]
SETUP = Setup(schedulers=[("s", msgspec.convert({"extenders": CALLING}, SchedulerConfiguration))])


def test_the_files_and_the_data_that_configurations_name(tmp_path: Path) -> None:
    cert, other = tmp_path / "tls.crt", tmp_path / "other.crt"
    cert.write_bytes(PEM)
    other.write_text("not a certificate")
    data = base64.b64encode(PEM).decode()
    tls = {"caFile": str(cert), "certFile": "missing", "caData": data, "certData": "%"}
    scheduler = msgspec.convert(
        {"extenders": [{"urlPrefix": "https://leeway.svc", "tlsConfig": tls}]},
        SchedulerConfiguration,
    )
    ours = Config(
        scheduler_tls=TLSFiles(str(cert), "key", str(other)), admission_tls=TLSFiles("no", "key")
    )
    setup = Setup(schedulers=[("s", scheduler)], extenders=[("us", ours)])

    found = [(p.severity, p.where) for p in doctor_probes.all_certificates(setup, NOW)]
    assert found == [
        ("warning", "us: tls.scheduler.certFile"),
        ("error", "us: tls.scheduler.certFile"),  # not for leeway.svc
        ("error", "us: tls.scheduler.clientCAFile"),
        ("warning", "s: extenders[0].tlsConfig.caFile"),
        ("warning", "s: extenders[0].tlsConfig.caData"),
        ("error", "s: extenders[0].tlsConfig.certData"),
    ]


def test_the_certificate_that_a_listener_presents() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    OLD.configure_cert(context)
    context.verify_mode = ssl.CERT_REQUIRED  # as Leeway's listener does: nobody shows one here
    CA.configure_trust(context)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        expiring, misnamed = doctor_probes.presented(address, SETUP, NOW)
        thread.join()

    assert (expiring.severity, expiring.check) == ("warning", "certificate")
    assert expiring.where.startswith(address)
    assert misnamed.check == "certificate-name"
    assert "asks for leeway.svc, and it is made out for 127.0.0.1" in misnamed.why


def test_a_page_that_is_not_leeways(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ConfigError, match="not Leeway's ops listener"):
            doctor_probes.visit(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()
