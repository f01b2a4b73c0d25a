"""`kubectl_complete-leeway`: kubectl asks it how to complete `kubectl leeway ...`.

kubectl calls it with the words after `kubectl leeway`, of which the last is unfinished. It prints
one choice a line, and last what else the shell should offer: files, or nothing.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from extender import cli
from extender.cli import completion
from extender.cli.completion_output import Command, Option

# Directives of Cobra, which kubectl is made with.
_FILES: Final = 0
_NOTHING_ELSE: Final = 4


def main() -> int:
    """Print the choices; a failure offers none."""
    words = sys.argv[1:] or [""]
    command, option = _place(words)
    holder = option or command
    try:
        found = sorted(set(_choices(command, option, words)))
    except Exception:  # noqa: BLE001 - whatever it is, nobody wants to read it now
        found = []
    sys.stdout.writelines(f"{each}\n" for each in found if each.startswith(words[-1]))
    print(f":{_FILES if holder.files else _NOTHING_ELSE}")
    return 0


def _place(words: Sequence[str]) -> tuple[Command, Option | None]:
    """The command that the words lead to, and the flag whose value is wanted."""
    root = cli.parser(words[:1])
    commands = {each.path: each for each in completion.commands_of(root, ("leeway",))}
    path: tuple[str, ...] = ("leeway",)
    for word in words[:-1]:
        path = (*path, word) if (*path, word) in commands else path
    before = words[-2] if len(words) > 1 else ""
    options = (each for each in commands[path].options if before in each.names)
    return commands[path], next((each for each in options if each.takes_value), None)


def _choices(command: Command, option: Option | None, words: Sequence[str]) -> Iterator[str]:
    holder = option or command
    yield from holder.values
    if option is None:
        yield from command.commands
        if words[-1].startswith("-"):
            yield from (name for each in command.options for name in each.names)
            return
    if holder.live:
        from extender.cli import live_names  # slow

        yield from live_names.names(holder.live, *words)
