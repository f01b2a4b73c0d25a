"""Programs out of Debian's packages, unpacked beside the control plane's binaries.

A package is downloaded and unpacked, not installed: some would start a service.
Only a program that needs dozens of libraries and fonts is installed.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


class PackageError(Exception):
    """A package cannot be had; the text is one sentence."""


def unpacked(*packages: str) -> Path:
    """The folder with the files of these packages, as below the root; kept outside of the tree."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "leeway" / "debian" / "-".join(packages)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _download(packages, folder)
    return folder


def install(*packages: str) -> None:
    """Install packages with all that they need; that takes root."""
    command = ("apt-get", "install", "--yes", "--no-install-recommends", *packages)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            _run(scratch, *command)
        except PackageError:
            _run(scratch, "apt-get", "update")
            _run(scratch, *command)


def _download(packages: Sequence[str], folder: Path) -> None:
    # Beside the folder, so that it appears complete or not at all.
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        # Where the lists are older than the mirror the first try fails; only root may renew them.
        try:
            _run(scratch, "apt-get", "download", *packages)
        except PackageError:
            _run(scratch, "apt-get", "update")
            _run(scratch, "apt-get", "download", *packages)
        files = Path(scratch) / "files"
        for package in Path(scratch).glob("*.deb"):
            _run(scratch, "dpkg-deb", "--extract", package.name, files.name)
        files.rename(folder)


def _run(folder: str, *command: str) -> None:
    why = "it is not installed"
    if shutil.which(command[0]) is not None:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return
        why = (done.stderr.strip() or "no output").splitlines()[-1]
    raise PackageError(f"{' '.join(command[:3])} says: {why}")
