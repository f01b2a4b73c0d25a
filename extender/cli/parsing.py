"""The parser of command lines; it names what was probably meant."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn

from extender.cli import program

# argparse reads these as values.
_NUMBER: Final = re.compile(r"-\d+|-\d*\.\d+")
_END_OF_FLAGS: Final = "--"
_WRONG_COMMAND_LINE: Final = 2


class Parser(argparse.ArgumentParser):
    """Refuses all unknown flags at once, before it looks at anything else."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the words that belong to this command."""
        words = sys.argv[1:] if args is None else list(args)
        unknown = list(self._unknown(words))
        if unknown:
            self.refuse(unknown)
        return super().parse_known_args(words, namespace)

    def refuse(self, problems: Iterable[str]) -> NoReturn:
        """End with a sentence for each problem, and where to read more."""
        lines = [f"{program.name()}: {problem}" for problem in problems]
        self.exit(_WRONG_COMMAND_LINE, "\n".join([*lines, f"See '{self.prog} --help'.", ""]))

    def _unknown(self, words: list[str]) -> Iterator[str]:
        """A sentence for each flag that this command does not have."""
        has_commands = self._subparsers is not None
        for before, word in zip(["", *words], words, strict=False):
            if word == _END_OF_FLAGS or (has_commands and not word.startswith("-")):
                return
            if self._is_unknown(word) and not self._takes_value(before):
                flag = word.partition("=")[0]
                hint = did_you_mean(flag, self._option_string_actions)
                # `kubectl --context x get` is right, so people try the same here.
                early = "; flags come after the command" if has_commands and not hint else ""
                yield f"unknown flag {flag}{hint}{early}"

    def _is_unknown(self, word: str) -> bool:
        if not word.startswith("-") or word == "-" or " " in word or _NUMBER.fullmatch(word):
            return False
        known = self._option_string_actions
        if not word.startswith("--"):
            return word[:2] not in known  # -n, -nNAME and -vv
        flag = word.partition("=")[0]
        return not any(each.startswith(flag) for each in known)

    def _takes_value(self, word: str) -> bool:
        """Whether a word is a flag with a value to come, which argparse knows how to refuse."""
        action = self._option_string_actions.get(word)
        return action is not None and action.nargs != 0

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices; for a command, too."""
        choices = action.choices
        if choices is None or value in choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            self.refuse([f"there is no command {value!r}{did_you_mean(value, choices)}"])
        hint = did_you_mean(str(value), map(str, choices))
        raise argparse.ArgumentError(
            action, f"{value!r} is none of {', '.join(map(str, choices))}{hint}"
        )


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The end of a sentence: what was probably meant, or nothing."""
    from extender.review.explain import nearness  # slow, and only needed after a slip

    meant = nearness.spelling(word, choices)
    return f"; did you mean {meant}?" if meant else ""
