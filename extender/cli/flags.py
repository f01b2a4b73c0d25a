"""The flags that several commands share, each with its place in the configuration file."""

import argparse
from pathlib import Path
from typing import Final

from extender.config import loading
from extender.config.schema import Config
from extender.model.documents import Plain

_HELP: Final = {
    "--scheduler-listen": ("HOST:PORT", "where kube-scheduler calls (127.0.0.1:8888)"),
    "--admission-listen": ("HOST:PORT", "where the API server calls the webhook (off)"),
    "--ops-listen": ("HOST:PORT", "health, metrics, version and status (127.0.0.1:8080)"),
    "--kubeconfig": ("FILE", "watch the cluster of this kubeconfig"),
    "--tls-cert-file": ("FILE", "certificate of the scheduler listener; reloaded on change"),
    "--tls-private-key-file": ("FILE", "its key"),
    "--client-ca-file": ("FILE", "the CA that signs client certificates; switches mutual TLS on"),
    "--admission-tls-cert-file": ("FILE", "certificate of the admission listener"),
    "--admission-tls-private-key-file": ("FILE", "its key"),
    "--max-staleness": ("DURATION", "not ready after this long without the API server"),
    "--catch-up": (
        "DURATION",
        "how long to hold a total refusal for a late event (50ms; 0 is off)",
    ),
}
_BOOLEANS: Final = {"true": True, "false": False}


def add_rules_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say which rules there are; the file may say everything."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="an ExtenderConfiguration; flags win over it"
    )
    parser.add_argument(
        "--feature-gates",
        dest="--feature-gates",
        type=_gates,
        metavar="A=true,B=false",
        help="switch rules on or off; all are on by default",
    )


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the configuration."""
    add_rules_to(parser)
    for flag, (metavar, text) in _HELP.items():
        parser.add_argument(flag, dest=flag, metavar=metavar, help=text)
    add_cluster(
        parser,
        "take the cluster from files or folders of YAML or JSON manifests; SIGHUP reads them again",
    )
    parser.add_argument(
        "--max-request-bytes",
        dest="--max-request-bytes",
        type=int,
        metavar="N",
        help="the largest body of a request (268435456)",
    )
    parser.add_argument(
        "--enable-explain",
        dest="--enable-explain",
        action="store_const",
        const=True,
        help="answer POST /explain on the ops listener (off)",
    )
    parser.add_argument(
        "--log-format", dest="--log-format", choices=["text", "json"], help="how to log (text)"
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
    """The configuration that file and flags amount to."""
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
