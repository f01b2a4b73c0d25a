"""`leeway certs` as a process: what it prints, what it writes, what it refuses."""

import base64
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from tests.cli import process
from tests.deploy.rendering import ADMISSION, CONTROLLER_ADMISSION, OVERLAYS

WEBHOOK = ADMISSION / "webhook.yaml"
SERVICE = "leeway-admission.leeway.svc"


def documents(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


def certificates(encoded: str) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(base64.b64decode(encoded))


def bundles(configuration: Any) -> list[str]:
    return [hook["clientConfig"]["caBundle"] for hook in configuration["webhooks"]]


def test_a_secret_is_printed() -> None:
    ended = process.run_here("certs")
    (secret,) = documents(ended.out)
    (ca,) = certificates(secret["data"]["ca.crt"])
    (certificate,) = certificates(secret["data"]["tls.crt"])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert (ended.code, ended.err) == (0, "")
    assert secret["type"] == "kubernetes.io/tls"
    assert secret["metadata"] == {"name": "leeway-admission-tls", "namespace": "leeway"}
    assert base64.b64decode(secret["data"]["tls.key"]).startswith(b"-----BEGIN PRIVATE KEY-----")
    assert SERVICE in names.get_values_for_type(x509.DNSName)
    certificate.verify_directly_issued_by(ca)


def test_the_configuration_of_the_webhook_trusts_it_and_is_else_unchanged() -> None:
    configuration, secret = documents(process.run_here("certs", "--webhook", str(WEBHOOK)).out)
    (shipped,) = documents(WEBHOOK.read_text(encoding="utf-8"))

    assert set(bundles(configuration)) == {secret["data"]["ca.crt"]}
    for hook in configuration["webhooks"]:
        del hook["clientConfig"]["caBundle"]
    assert configuration == shipped


def test_what_a_cluster_shows_is_renewed_and_the_old_ca_stays_trusted() -> None:
    old, _ = documents(process.run_here("certs", "--webhook", str(WEBHOOK)).out)
    old["metadata"] |= {"resourceVersion": "7", "uid": "u", "managedFields": [{}]}
    renewed = subprocess.run(  # noqa: S603 - our own command
        [*process.MODULE, "certs", "--webhook", "-"],
        input=yaml.safe_dump(old),
        capture_output=True,
        text=True,
        check=True,
    )
    configuration, secret = documents(renewed.stdout)
    (before,), (new,) = certificates(bundles(old)[0]), certificates(secret["data"]["ca.crt"])

    assert certificates(bundles(configuration)[0]) == [new, before]
    assert set(configuration["metadata"]) == {"name", "labels"}


def test_all_webhooks_of_a_controller_trust_one_ca() -> None:
    """`kubectl get` prints several objects as a List."""
    files = (OVERLAYS / "compile/webhook.yaml", CONTROLLER_ADMISSION / "webhook.yaml")
    shown = [document for file in files for document in documents(file.read_text("utf-8"))]
    done = subprocess.run(  # noqa: S603 - our own command
        [*process.MODULE, "certs", "--webhook", "-"],
        input=yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": shown}),
        capture_output=True,
        text=True,
        check=True,
    )
    mutating, validating, secret = documents(done.stdout)

    assert (mutating["kind"], validating["kind"]) == (
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    )
    assert {*bundles(mutating), *bundles(validating)} == {secret["data"]["ca.crt"]}


def test_files_are_written_and_the_key_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    arguments = ("certs", "--out", str(folder), "--webhook", str(WEBHOOK))
    first, again = (process.run_here(*arguments) for _ in range(2))

    assert first.code == again.code == 0
    assert again.out.split() == [
        str(folder / name) for name in ("ca.crt", "tls.crt", "tls.key", "webhook.yaml")
    ]
    assert sorted(file.name for file in folder.iterdir()) == [
        "ca.crt",
        "tls.crt",
        "tls.key",
        "webhook.yaml",
    ]
    assert stat.S_IMODE((folder / "tls.key").stat().st_mode) == 0o600
    assert "PRIVATE" not in first.out + again.out


def test_other_names(tmp_path: Path) -> None:
    ended = process.run_here(
        "certs", "--service", "hook", "-n", "tools", "--secret", "s", "--days", "2"
    )
    (secret,) = documents(ended.out)
    (certificate,) = certificates(secret["data"]["tls.crt"])
    lasting = certificate.not_valid_after_utc - certificate.not_valid_before_utc

    assert secret["metadata"] == {"name": "s", "namespace": "tools"}
    assert "CN=hook" in certificate.subject.rfc4514_string()
    assert lasting.days == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--days", "0"], "--days: must be from 1 to 3650, not 0"),
        (["--service", "Not A Name"], "--service: 'Not A Name' can be no name"),
        (["--webhook", "missing.yaml"], "missing.yaml: cannot be read: No such file"),
        (["--webhook", str(ADMISSION / "service.yaml")], "holds something that is no webhook"),
        (["--webhook", "/dev/null"], "/dev/null: holds no webhook configuration"),
        (["--out", "/dev/null/certs"], "cannot be written: Not a directory"),
    ],
)
def test_what_cannot_be_made_is_a_sentence(arguments: list[str], says: str) -> None:
    ended = process.run_here("certs", *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert "Traceback" not in ended.err


def test_a_configuration_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "webhook.yaml"
    file.write_text("a: [")
    ended = process.run_here("certs", "--webhook", str(file))

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"leeway: {file}: line")


def test_odd_configurations_are_left_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "webhook.yaml"
    file.write_text(
        "---\n---\nkind: ValidatingWebhookConfiguration\nwebhooks:\n- 7\n- {name: x}\n"
        "- {clientConfig: {caBundle: 'not base64'}}\n- {clientConfig: {caBundle: 7}}\n"
    )
    configuration, secret = documents(process.run_here("certs", "--webhook", str(file)).out)

    assert configuration["webhooks"][:2] == [7, {"name": "x"}]
    assert configuration["webhooks"][2]["clientConfig"]["caBundle"] == secret["data"]["ca.crt"]
