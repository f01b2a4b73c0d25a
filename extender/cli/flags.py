"""The flags that several commands share; each overrides a key of the configuration file."""

import argparse
from pathlib import Path
from typing import Final

from extender.config import loading
from extender.config.schema import Config
from extender.model.documents import Plain

_HELP: Final = {
    "--scheduler-listen": ("HOST:PORT", "listen here for kube-scheduler (127.0.0.1:8888)"),
    "--admission-listen": ("HOST:PORT", "listen here for the admission webhook (off)"),
    "--ops-listen": ("HOST:PORT", "listen here for health, metrics and status (127.0.0.1:8080)"),
    "--kubeconfig": ("FILE", "watch the cluster of this kubeconfig"),
    "--tls-cert-file": ("FILE", "certificate of the scheduler listener; reloaded on change"),
    "--tls-private-key-file": ("FILE", "its key"),
    "--client-ca-file": ("FILE", "CA of client certificates; turns mutual TLS on"),
    "--admission-tls-cert-file": ("FILE", "certificate of the admission listener"),
    "--admission-tls-private-key-file": ("FILE", "its key"),
    "--max-staleness": ("DURATION", "not ready after this long without the API server"),
    "--catch-up": (
        "DURATION",
        "how long a refusal of all nodes waits for the watch (50ms; 0: off)",
    ),
}
_COUNTS: Final = {
    "--max-request-bytes": "maximum size of a request body (134217728)",
    "--nudges-per-second": "wake at most this many refused pods a second that fit by now (10)",
}
_BOOLEANS: Final = {"true": True, "false": False}


def add_rules_to(parser: argparse.ArgumentParser) -> None:
    """Add `--config` and `--feature-gates`."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="an ExtenderConfiguration; flags override it"
    )
    parser.add_argument(
        "--feature-gates",
        dest="--feature-gates",
        type=_gates,
        metavar="A=true,B=false",
        help="turn rules on or off; all are on by default",
    )


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add all flags of the configuration."""
    add_rules_to(parser)
    for flag, (metavar, text) in _HELP.items():
        parser.add_argument(flag, dest=flag, metavar=metavar, help=text)
    add_cluster(
        parser,
        "read the cluster from manifests: files or folders of YAML or JSON; SIGHUP reloads",
    )
    for flag, text in _COUNTS.items():
        parser.add_argument(flag, dest=flag, type=int, metavar="N", help=text)
    parser.add_argument(
        "--refusals",
        dest="--refusals",
        choices=["needed", "always"],
        help="when to name refused nodes: only if no node passes, or always (needed)",
    )
    parser.add_argument(
        "--enable-explain",
        dest="--enable-explain",
        action="store_const",
        const=True,
        help="answer POST /explain on the ops listener (off)",
    )
    parser.add_argument(
        "--log-format",
        dest="--log-format",
        choices=["text", "json"],
        help="format of the log (text)",
    )
    parser.add_argument(
        "-v", dest="-v", action="count", help="log more, such as every call; repeat for still more"
    )


def add_cluster(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--cluster`."""
    parser.add_argument(
        "--cluster", dest="--cluster", nargs="+", action="extend", metavar="PATH", help=text
    )


def add_kubeconfig(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--kubeconfig`."""
    parser.add_argument("--kubeconfig", dest="--kubeconfig", metavar="FILE", help=text)


def effective_config(arguments: argparse.Namespace) -> Config:
    """The configuration from file and flags."""
    given: dict[str, Plain] = {
        flag: value
        for flag, value in vars(arguments).items()
        if flag in loading.PATH_OF_FLAG and value is not None
    }
    return loading.load(arguments.config, given)


def _gates(text: str) -> dict[str, Plain]:
    gates: dict[str, Plain] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"{part!r} is not of the form Name=true")
        gates[name.strip()] = _BOOLEANS.get(value.strip().lower(), value)
    return gates
