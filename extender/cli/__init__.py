"""The commands. Wires everything together, and is the only package that prints."""

import argparse
import os
import sys
from collections.abc import Sequence

from extender.cli import (
    certs,
    completion,
    config,
    controller,
    diff,
    doctor,
    escapes,
    explain,
    manual,
    scan,
    serve,
    test,
    validate,
    version,
)
from extender.errors import ConfigError, LeewayError

_COMMANDS = (
    serve,
    controller,
    explain,
    validate,
    test,
    diff,
    scan,
    doctor,
    certs,
    config,
    completion,
    version,
)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands, with their manual pages."""
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
    """Run one command; an error of the user is one sentence and exit code 2."""
    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except ConfigError as exc:
        for problem in exc.problems:
            print(f"leeway: {escapes.lines(problem)}", file=sys.stderr)
        return 2
    except LeewayError as exc:
        print(f"leeway: {escapes.lines(str(exc))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has closed the pipe. Without this, Python complains once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
