"""The commands. Wires everything together, and is the only package that prints."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence

from extender.cli import commands, completion_output, escapes, manual, program
from extender.cli.parsing import Parser
from extender.errors import ApiError, ConfigError, LeewayError


def parser(wanted: Iterable[str] = commands.SUMMARIES) -> argparse.ArgumentParser:
    """The parser of all commands; only the wanted ones with their flags and manual pages."""
    root: argparse.ArgumentParser = Parser(
        prog=program.name(),
        description=manual.filled(
            "A scheduler extender for Kubernetes that understands more tolerations than"
            " kube-scheduler: by number, by version, by expression."
        ),
        epilog=manual.filled("'leeway COMMAND --help' is the manual page of a command."),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument(
        "--version", action="store_true", help=f"the same as '{program.name()} version'"
    )
    below = root.add_subparsers(required=True, metavar="COMMAND", title="commands")
    commands.add_to(below, wanted)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; an error of the user is one sentence and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["--version"]:
        words[0] = "version"
    if words[:1] == [completion_output.LIVE]:
        from extender.cli import live_names  # slow

        return live_names.run(words[1:])
    try:
        arguments = parser(words[:1]).parse_args(words)
        code: int = arguments.run(arguments)
    except ConfigError as exc:
        return _failed(*exc.problems)
    except ApiError as exc:
        return _failed(exc.message)
    except LeewayError as exc:
        return _failed(str(exc))
    except BrokenPipeError:
        # The reader has closed the pipe. Without this, Python complains once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _failed(*problems: str) -> int:
    for problem in problems:
        print(f"{program.name()}: {escapes.lines(problem)}", file=sys.stderr)
    return 2
