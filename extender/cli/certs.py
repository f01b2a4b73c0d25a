"""`leeway certs`: a certificate for the webhook, and a configuration that trusts it."""

import argparse
import base64
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import yaml

from extender.cli import manual
from extender.cli.manual import Page
from extender.errors import ConfigError, DocumentError, ManifestError
from extender.model import documents
from extender.model.documents import Plain
from extender.review import names

_KINDS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_NO_WEBHOOKS: Final = "no webhook configuration"
_MAX_BYTES: Final = 1 << 20
_MAX_DAYS: Final = 3650
_PRIVATE: Final = 0o600
_PUBLIC: Final = 0o644
# Fields that the API server sets and that must not be applied again.
_WRITTEN: Final = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")

_PAGE: Final = Page(
    "make a certificate for the admission webhooks",
    """Make a CA and a certificate for the Service of the webhooks, for clusters without
    cert-manager. Prints a Secret with both and, with --webhook, the webhook configurations that
    trust the CA: pipe it into 'kubectl apply'. With --out, it writes files instead.

    The key of the CA is not kept, so every run makes a new CA. A configuration that trusts an
    older CA keeps trusting it until it expires, so no request fails while the new Secret is
    rolled out. The command contacts no server.""",
    examples=[
        (
            "leeway certs --webhook deploy/kustomize/components/admission/webhook.yaml",
            "The Secret, and a configuration that trusts it, for kubectl apply -f -.",
        ),
        (
            "kubectl get validatingwebhookconfiguration leeway -o yaml"
            " | leeway certs --webhook - | kubectl apply -f -",
            "Renew both on a running cluster.",
        ),
        ("leeway certs --service admission -n tools --out certs", "Files for another Service."),
    ],
    exit_codes={0: "success", 2: "failure; one sentence says why"},
    see="docs/admission.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "certs", _PAGE)
    parser.add_argument(
        "--service",
        default="leeway-admission",
        metavar="NAME",
        help="the Service that the certificate is for (leeway-admission)",
    )
    parser.add_argument(
        "-n", "--namespace", default="leeway", metavar="NAME", help="its namespace (leeway)"
    )
    parser.add_argument(
        "--secret",
        default="leeway-admission-tls",
        metavar="NAME",
        help="the name of the Secret (leeway-admission-tls)",
    )
    parser.add_argument("--days", type=int, default=365, metavar="N", help="days of validity (365)")
    parser.add_argument(
        "--webhook",
        metavar="FILE",
        help="webhook configurations to add the CA to; - is standard input",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write files instead of printing manifests"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make everything first, then print or write it."""
    from extender.cli import certificates  # a slow import that other commands do not need

    _require_sound(arguments)
    now = datetime.now(UTC)
    hosts = certificates.dns_names(arguments.service, arguments.namespace)
    made = certificates.make(hosts, now, arguments.days)
    webhooks = []
    for document in _documents(arguments.webhook) if arguments.webhook else ():
        webhooks.append(document)
        for client in _clients(document):
            old = certificates.still_valid(_decoded(client.get("caBundle")), now)
            client["caBundle"] = base64.b64encode(made.ca + old).decode()
    files = {"ca.crt": made.ca, "tls.crt": made.certificate, "tls.key": made.key}
    if arguments.out is not None:
        _write(arguments.out, files, webhooks)
    else:
        secret = _secret(arguments.secret, arguments.namespace, files)
        # The webhook first: the CA must be trusted before its certificate is used.
        sys.stdout.write(_dumped([*webhooks, secret]))
    return 0


def _require_sound(arguments: argparse.Namespace) -> None:
    problems = [
        f"--{flag}: {value!r} can be no name: {problem}"
        for flag in ("service", "namespace", "secret")
        for value in [getattr(arguments, flag)]
        for problem in names.node_name_problems(value)
    ]
    if not 1 <= arguments.days <= _MAX_DAYS:
        problems.append(f"--days: must be from 1 to {_MAX_DAYS}, not {arguments.days}")
    if problems:
        raise ConfigError(problems)


def _documents(file: str) -> list[dict[str, Plain]]:
    """The webhook configurations in a file; any other object is an error."""
    try:
        text = (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode()
        parsed = documents.parse_all(text, _MAX_BYTES)
    except OSError as exc:
        raise ManifestError(f"{file}: cannot be read: {exc.strerror}") from exc
    except (DocumentError, UnicodeDecodeError) as exc:
        raise ManifestError(f"{file}: {exc}") from exc
    found = []
    for document in _unlisted(parsed):
        if not isinstance(document, dict) or document.get("kind") not in _KINDS:
            raise ManifestError(f"{file}: holds something that is {_NO_WEBHOOKS}")
        metadata = document.get("metadata")
        if isinstance(metadata, dict):
            for field in _WRITTEN:
                metadata.pop(field, None)
        found.append(document)
    if not found:
        raise ManifestError(f"{file}: holds {_NO_WEBHOOKS}")
    return found


def _unlisted(parsed: Iterable[Plain]) -> Iterator[Plain]:
    """The documents, those of a List one by one: kubectl prints several objects as a List."""
    for document in parsed:
        items = document.get("items") if isinstance(document, dict) else None
        if isinstance(items, list):
            yield from items
        elif document is not None:
            yield document


def _clients(document: dict[str, Plain]) -> Iterator[dict[str, Plain]]:
    """The `clientConfig` of each webhook."""
    webhooks = document.get("webhooks")
    for each in webhooks if isinstance(webhooks, list) else ():
        client = each.get("clientConfig") if isinstance(each, dict) else None
        if isinstance(client, dict):
            yield client


def _decoded(bundle: Plain) -> bytes:
    try:
        return base64.b64decode(bundle, validate=True) if isinstance(bundle, str) else b""
    except ValueError:
        return b""


def _secret(name: str, namespace: str, files: dict[str, bytes]) -> dict[str, Plain]:
    data: dict[str, Plain] = {key: base64.b64encode(value).decode() for key, value in files.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def _write(folder: Path, files: dict[str, bytes], webhooks: list[dict[str, Plain]]) -> None:
    contents = dict(files)
    if webhooks:
        contents["webhook.yaml"] = _dumped(webhooks).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            mode = _PRIVATE if name.endswith(".key") else _PUBLIC
            # Atomic, and never readable by others in between.
            partial = folder / f".{name}.partial"
            partial.unlink(missing_ok=True)
            with os.fdopen(
                os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb"
            ) as file:
                file.write(content)
            partial.replace(folder / name)
            print(folder / name)
    except OSError as exc:
        raise ManifestError(f"{exc.filename}: cannot be written: {exc.strerror}") from exc


def _dumped(found: list[dict[str, Plain]]) -> str:
    return yaml.safe_dump_all(found, sort_keys=False, width=1_000_000)
