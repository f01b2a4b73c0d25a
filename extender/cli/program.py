"""The name that the program was started by: `leeway`, or as a plugin `kubectl leeway`."""

import os
import re
import sys
from collections.abc import Iterable
from typing import Final

_OWN: Final = "leeway"
_PLUGIN: Final = "kubectl-leeway"


def name() -> str:
    """What a person types to start this program."""
    started_as = os.path.basename(sys.argv[0] if sys.argv else "")
    return "kubectl leeway" if started_as == _PLUGIN else _OWN


def named(text: str, commands: Iterable[str]) -> str:
    """A text with the command lines in it as they are typed here."""
    if name() == _OWN:
        return text
    return re.sub(rf"\b{_OWN} (?=(?:{'|'.join(commands)})\b)", f"{name()} ", text)
