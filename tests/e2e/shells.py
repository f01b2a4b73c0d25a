"""zsh and fish: those that are installed, or those of Debian's packages."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.e2e import packages
from tests.e2e.packages import PackageError

# Where a package has the shell, and the packages that it cannot run without.
_UNPACKED = {
    "zsh": ("bin/zsh", ("zsh",)),
    "fish": ("usr/bin/fish", ("fish", "libpcre2-32-0")),
}


class ShellError(Exception):
    """A shell cannot be had; the text is one sentence."""


def obtain() -> None:
    """Have both shells at hand."""
    for shell in _UNPACKED:
        _program(shell)


def run(shell: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What a shell says to these arguments."""
    program, environment = _program(shell)
    return subprocess.run(  # noqa: S603 - our own script
        [program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def _program(shell: str) -> tuple[str | Path, dict[str, str]]:
    """The program, and what has to be in its environment."""
    installed = shutil.which(shell)
    if installed is not None:
        return installed, {}
    program, needed = _UNPACKED[shell]
    try:
        folder = packages.unpacked(*needed)
    except PackageError as exc:
        raise ShellError(f"{shell} cannot be had: {exc}; install it") from exc
    libraries = os.pathsep.join(map(str, folder.glob("usr/lib/*-linux-gnu")))
    return folder / program, {"LD_LIBRARY_PATH": libraries}
