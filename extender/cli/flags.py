"""The flags that several commands share; each overrides a key of the configuration file."""

import argparse
from collections.abc import Set
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
_CHOICES: Final = {
    "--refusals": (
        ["needed", "always"],
        "when to name refused nodes: only if no node passes, or always (needed)",
    ),
    "--log-format": (["text", "json"], "format of the log (text)"),
}
_OF_SERVE_ALONE: Final = frozenset(
    {
        "--scheduler-listen",
        "--tls-cert-file",
        "--tls-private-key-file",
        "--client-ca-file",
        "--max-request-bytes",
        "--catch-up",
        "--refusals",
        "--nudges-per-second",
        "--enable-explain",
    }
)
_OF_CONTROLLER_ALONE: Final = frozenset({"--leader-elect"})
_BOOLEANS: Final = {"true": True, "false": False}


def add_rules_to(parser: argparse.ArgumentParser) -> None:
    """Add `--config` and `--feature-gates`."""
    parser.add_argument(
        "--config",
        type=_config_file,
        metavar="FILE",
        help="an ExtenderConfiguration, - for standard input; flags override it",
    )
    parser.add_argument(
        "--feature-gates",
        dest="--feature-gates",
        type=_gates,
        metavar="A=true,B=false",
        help="turn rules on or off; all are on by default",
    )


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `leeway serve`."""
    _add(parser, without=_OF_CONTROLLER_ALONE)


def add_controller_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `leeway controller`."""
    _add(parser, without=_OF_SERVE_ALONE)


def add_all_to(parser: argparse.ArgumentParser) -> None:
    """Add all flags of the configuration."""
    _add(parser, without=frozenset())


def _add(parser: argparse.ArgumentParser, *, without: Set[str]) -> None:
    add_rules_to(parser)
    for flag, (metavar, text) in _HELP.items():
        if flag not in without:
            parser.add_argument(flag, dest=flag, metavar=metavar, help=text)
    if "--cluster" not in without:
        add_cluster(
            parser,
            "read the cluster from manifests: files or folders of YAML or JSON; SIGHUP reloads",
        )
    for flag, text in _COUNTS.items():
        if flag not in without:
            parser.add_argument(flag, dest=flag, type=int, metavar="N", help=text)
    for flag, (choices, text) in _CHOICES.items():
        if flag not in without:
            parser.add_argument(flag, dest=flag, choices=choices, help=text)
    if "--enable-explain" not in without:
        parser.add_argument(
            "--enable-explain",
            dest="--enable-explain",
            action="store_const",
            const=True,
            help="answer POST /explain on the ops listener (off)",
        )
    if "--leader-elect" not in without:
        parser.add_argument(
            "--leader-elect",
            dest="--leader-elect",
            nargs="?",
            const=True,
            type=_boolean,
            metavar="true|false",
            help="write pods only while this process holds the Lease (true)",
        )
    parser.add_argument(
        "-v", dest="-v", action="count", help="log more, such as every call; repeat for still more"
    )


def add_cluster(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--cluster`."""
    parser.add_argument(
        "--cluster", dest="--cluster", nargs="+", action="extend", metavar="PATH", help=text
    )


def add_kubeconfig(parser: argparse.ArgumentParser) -> None:
    """Add `--kubeconfig` and `--context`, of a command that reads a cluster as kubectl does."""
    parser.add_argument(
        "--kubeconfig",
        dest="--kubeconfig",
        metavar="FILE",
        help="the kubeconfig, instead of those of $KUBECONFIG or ~/.kube/config",
    )
    parser.add_argument(
        "--context", metavar="CONTEXT", help="the context of the kubeconfig (the current one)"
    )


def add_filename(parser: argparse.ArgumentParser) -> None:
    """Add `-f`, for those who type it out of habit."""
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="PATH",
        help="the same as a file or folder without -f",
    )


def effective_config(arguments: argparse.Namespace) -> Config:
    """The configuration from file and flags."""
    given: dict[str, Plain] = {
        flag: value
        for flag, value in vars(arguments).items()
        if flag in loading.PATH_OF_FLAG and value is not None
    }
    return loading.load(arguments.config, given)


def _config_file(text: str) -> Path:
    return Path("/dev/stdin" if text == "-" else text)


def _gates(text: str) -> dict[str, Plain]:
    gates: dict[str, Plain] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"{part!r} is not of the form Name=true")
        gates[name.strip()] = _BOOLEANS.get(value.strip().lower(), value)
    return gates


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return _BOOLEANS[text.lower()]
