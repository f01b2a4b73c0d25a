"""The cluster and the files that a command reads."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from extender.cli import escapes, parsing, program
from extender.cluster import api, kubeconfig, manifests
from extender.cluster.api import ApiServer
from extender.errors import ConfigError, DocumentError
from extender.model import documents
from extender.model.documents import Plain

_FILE_BYTES: Final = 1 << 30
_OWN_NAMESPACE: Final = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
STANDARD_INPUT: Final = manifests.STANDARD_INPUT


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """An API server, and the namespace that a command uses there unless told otherwise."""

    server: ApiServer
    namespace: str


def live_cluster(file: str | None, context: str | None = None) -> LiveCluster | None:
    """The cluster that kubectl would use, or the one of a kubeconfig; None: there is none."""
    files = (file,) if file else kubeconfig.files(os.environ, Path.home())
    if file and not Path(file).is_file():
        raise ConfigError([f"kubeconfig {file} does not exist; give another one with --kubeconfig"])
    if files:
        content = kubeconfig.read(files)
        if context and context not in content.contexts:
            hint = parsing.did_you_mean(context, content.contexts)
            if hint:
                raise ConfigError([f"{content.origin}: there is no context {context!r}{hint}"])
        chosen = kubeconfig.chosen(content, context or "")
        server = ApiServer(api.from_kubeconfig(*files, context=chosen.name))
        return LiveCluster(server, chosen.namespace)
    if context:
        raise ConfigError([f"--context {context}: {_no_kubeconfig()}"])
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return LiveCluster(ApiServer(api.in_cluster), _own_namespace())
    return None


def api_server(file: str | None, context: str | None = None) -> ApiServer | None:
    """The API server of that cluster."""
    cluster = live_cluster(file, context)
    return cluster.server if cluster else None


def no_cluster(instead: str) -> ConfigError:
    """The error of a command that needs a cluster; `instead` is what else it could read."""
    return ConfigError([f"which cluster? {_no_kubeconfig()}; give --kubeconfig FILE, or {instead}"])


def _no_kubeconfig() -> str:
    listed = os.environ.get("KUBECONFIG", "")
    if listed:
        return f"no file of $KUBECONFIG exists: {listed}"
    return "$KUBECONFIG is not set, and there is no ~/.kube/config"


def _own_namespace() -> str:
    """The namespace of the pod that we run in."""
    try:
        return Path(_OWN_NAMESPACE).read_text(encoding="utf-8").strip()
    except OSError:
        return kubeconfig.DEFAULT_NAMESPACE


def say_nothing(_sentence: str) -> None:
    """For files that are read once more: what is left out was told already."""


def tell(sentence: str) -> None:
    """Say something beside the output of a command."""
    print(f"{program.name()}: {escapes.lines(sentence)}", file=sys.stderr)


def read(file: str) -> Iterator[tuple[str, Plain]]:
    """The documents of a file or of standard input, each with its origin."""
    try:
        origin = "standard input" if file == STANDARD_INPUT else file
        for document in documents.parse_manifests(manifests.text_of(file), _FILE_BYTES):
            yield origin, document
    except OSError as exc:
        raise ConfigError([f"{file}: cannot be read: {exc.strerror}"]) from exc
    except (DocumentError, UnicodeDecodeError) as exc:
        raise ConfigError([f"{file}: {exc}"]) from exc
