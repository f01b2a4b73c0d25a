"""The cluster and the files that a command reads."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from extender.cli import escapes
from extender.cluster import api
from extender.cluster.api import ApiServer
from extender.errors import ConfigError, DocumentError
from extender.model import documents
from extender.model.documents import Plain

_FILE_BYTES: Final = 1 << 30
STANDARD_INPUT: Final = "-"


def add_kubeconfig(parser: argparse.ArgumentParser) -> None:
    """Add `--kubeconfig`."""
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        help="the cluster of this kubeconfig's current context; by default the cluster that the"
        " command runs in; $KUBECONFIG is not read",
    )


def api_server(kubeconfig: str | None) -> ApiServer | None:
    """The API server of the kubeconfig, or of the cluster that we run in."""
    if kubeconfig:
        api.require_file(kubeconfig)
        return ApiServer(api.from_kubeconfig(kubeconfig))
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return ApiServer(api.in_cluster)
    return None


def tell(sentence: str) -> None:
    """Say something beside the output of a command."""
    print(f"leeway: {escapes.lines(sentence)}", file=sys.stderr)


def read(file: str) -> Iterator[tuple[str, Plain]]:
    """The documents of a file or of standard input, each with its origin."""
    try:
        if file == STANDARD_INPUT:
            text, origin = sys.stdin.read(), "standard input"
        else:
            text, origin = Path(file).read_text(encoding="utf-8"), file
        for document in documents.parse_manifests(text, _FILE_BYTES):
            yield origin, document
    except OSError as exc:
        raise ConfigError([f"{file}: cannot be read: {exc.strerror}"]) from exc
    except (DocumentError, UnicodeDecodeError) as exc:
        raise ConfigError([f"{file}: {exc}"]) from exc
