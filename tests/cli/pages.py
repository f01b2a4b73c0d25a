"""The commands that a page of the documentation shows, run as they stand there."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from tests.cli import process

ROOT = Path(__file__).parent.parent.parent
# A command that needs no shell is run in this process, which saves a second each.
_NO_SHELL = re.compile(r"leeway [-\w ./:=,@\"']*")
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(page: str) -> list[tuple[str, str]]:
    """Every command of the page's console blocks, and what it shows as its output."""
    pairs = []
    for block in _CONSOLE.findall((ROOT / page).read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, rest = part.partition("\n")
            pairs.append((command, rest))
    return pairs


def printed(command: str) -> str:
    """What a shell prints for the command, in the root of the project."""
    if _NO_SHELL.fullmatch(command):
        ended = process.run_here(*shlex.split(command)[1:], cwd=ROOT)
        if not ended.err:  # else the order of both matters
            return ended.out
    folder = str(Path(process.SCRIPT).parent)
    return subprocess.run(  # noqa: S603 - our own documentation
        ["/bin/bash", "-c", command],
        cwd=ROOT,
        env=process.environment() | {"PATH": f"{folder}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout
