"""Foreign text made harmless: names, values and reasons of others go to terminals and logs.

Control characters could colour the screen, move the cursor or forge a line. Marks of direction
could show a text in another order than it has. Everything that Python does not call printable is
escaped: C0 and C1, bidi marks, line and paragraph separators, spaces other than the usual one.

The first sentence of every command goes through here, so YAML is imported late.
"""

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import yaml

    from extender.model.documents import Plain

_LINE_END: Final = "\n"


def line(text: str) -> str:
    """One line, on which nothing is left that does not print."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def lines(text: str, indent: str = "  ") -> str:
    """The same for a text of several lines; those after the first are indented.

    So no line of others looks like one of ours.
    """
    return f"{_LINE_END}{indent}".join(map(line, text.split(_LINE_END)))


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON that is easy to read: letters are left as they are."""
    text = json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    return _in_quotes(text, lambda char: json.dumps(char)[1:-1])


def yaml_text(document: "Plain") -> str:
    """YAML that is easy to read, with keys in insertion order."""
    import yaml

    text = yaml.dump(document, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=100)
    return _in_quotes(str(text), lambda char: f"\\U{ord(char):08x}")


def _in_quotes(text: str, beyond: Callable[[str], str]) -> str:
    """Escape what only stands in double quotes; formats differ `beyond` four digits."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char == _LINE_END or char.isprintable()
        else f"\\u{ord(char):04x}"
        if char <= "\uffff"
        else beyond(char)
        for char in text
    )


@functools.cache
def _dumper() -> "type[yaml.SafeDumper]":
    """Puts strings with anything to escape in double quotes."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """A dumper with a representer of its own."""

    Dumper.add_representer(str, _string)
    return Dumper


def _string(dumper: "yaml.SafeDumper", text: str) -> "yaml.ScalarNode":
    plain = text.replace(_LINE_END, "").isprintable()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')
