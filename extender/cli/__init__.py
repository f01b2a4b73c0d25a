"""The commands. The composition root, and the only room that prints."""

import argparse
import os
import sys
from collections.abc import Sequence

from extender.cli import (
    certs,
    completion,
    config,
    doctor,
    explain,
    manual,
    scan,
    serve,
    validate,
    version,
)
from extender.errors import ConfigError, LeewayError

_COMMANDS = (serve, explain, validate, scan, doctor, certs, config, completion, version)


def parser() -> argparse.ArgumentParser:
    """Every command with its flags and its manual page."""
    root = argparse.ArgumentParser(
        prog="leeway",
        description=manual.filled(
            "A scheduler extender for Kubernetes that understands more tolerations than"
            " kube-scheduler: by number, by version, by expression."
        ),
        epilog="'leeway COMMAND --help' is the manual page of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND", title="commands")
    for command in _COMMANDS:
        command.add_to(commands)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a fault that a person can mend is a sentence and exit code 2."""
    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except ConfigError as exc:
        for problem in exc.problems:
            print(f"leeway: {problem}", file=sys.stderr)
        return 2
    except LeewayError as exc:
        print(f"leeway: {exc}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Who read the output has seen enough. Python would complain again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
