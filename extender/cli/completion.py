"""`leeway completion bash|zsh|fish`: prints a script that completes commands and flags."""

import argparse
from collections.abc import Iterator
from typing import Final

from extender.cli import completion_output, manual
from extender.cli.completion_output import Command, Option
from extender.cli.manual import Page

_PAGE: Final = Page(
    "print a script that completes commands and flags",
    """Print a completion script for a shell. It knows the commands and flags of this version. For
    names of pods, nodes, namespaces and contexts it asks the cluster that kubectl would use; if
    there is no answer within three seconds, it offers none.""",
    examples=[
        ("source <(leeway completion bash)", "In this bash only."),
        (
            "leeway completion bash > ~/.local/share/bash-completion/completions/leeway",
            "In every bash from now on.",
        ),
        ('leeway completion zsh > "${fpath[1]}/_leeway"', "In every zsh from now on."),
        ("leeway completion fish > ~/.config/fish/completions/leeway.fish", "In every fish."),
    ],
    exit_codes={0: "always"},
)
_FILES: Final = frozenset({"FILE", "PATH", "FILES", "POD"})
# What the live cluster is asked for, by what a flag or an argument is called.
_LIVE: Final = {
    "POD": "pods",
    "NODE": "nodes",
    "NAMESPACE": "namespaces",
    "CONTEXT": "contexts",
}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "completion", _PAGE)
    parser.add_argument("shell", choices=sorted(completion_output.SCRIPTS), help="the shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from extender.cli import parser  # imported late: the parser includes this command

    tree = list(commands_of(parser(), ("leeway",)))
    print(completion_output.SCRIPTS[arguments.shell](tree), end="")
    return 0


def commands_of(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[Command]:
    """The command of a parser, and those below it."""
    options: list[Option] = []
    below: dict[str, tuple[str, argparse.ArgumentParser]] = {}
    values: tuple[str, ...] = ()
    files, live = False, ""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            below = {name: (texts[name], inner) for name, inner in action.choices.items()}
        elif action.option_strings:
            options.append(_option(action))
        else:
            values += tuple(map(str, action.choices or ()))
            files = files or _is_file(action)
            live = live or _live(action)
    summaries = {name: text for name, (text, _) in below.items()}
    yield Command(path, tuple(options), summaries, values, files, live)
    for name, (_, inner) in below.items():
        yield from commands_of(inner, (*path, name))


def _option(action: argparse.Action) -> Option:
    return Option(
        names=tuple(action.option_strings),
        takes_value=action.nargs != 0,
        values=tuple(map(str, action.choices or ())),
        files=_is_file(action),
        text=action.help or "",
        live=_live(action),
    )


def _live(action: argparse.Action) -> str:
    return _LIVE.get(action.metavar, "") if isinstance(action.metavar, str) else ""


def _is_file(action: argparse.Action) -> bool:
    return action.metavar in _FILES
