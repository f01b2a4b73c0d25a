"""The commands. The composition root, and the only room that prints."""

import argparse
import sys
from collections.abc import Sequence

from extender.cli import config, serve, version
from extender.errors import ConfigError, LeewayError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a fault that a person can mend is a sentence and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="leeway",
        description="A scheduler extender that understands more tolerations than kube-scheduler.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    for command in (serve, config, version):
        command.add_to(commands)
    arguments = parser.parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except ConfigError as exc:
        for problem in exc.problems:
            print(f"leeway: {problem}", file=sys.stderr)
        return 2
    except LeewayError as exc:
        print(f"leeway: {exc}", file=sys.stderr)
        return 2
    return code
