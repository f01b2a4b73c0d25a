"""Chromium without a screen: the one that is installed, or Debian's."""

import os
import shutil
from pathlib import Path

from tests.e2e import packages
from tests.e2e.packages import PackageError
from tests.e2e.processes import Process

_FLAGS = (
    "--headless",
    "--no-sandbox",  # tests run as root in containers, where there is none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-proxy-server",
    # A name that a stranger's DNS server points at loopback, as in a rebinding attack.
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
    "--remote-debugging-port=0",
)


class ChromiumError(Exception):
    """Chromium cannot be had; the text is one sentence."""


def obtain() -> Path:
    """The program."""
    given = os.environ.get("LEEWAY_CHROMIUM")
    if given:
        if not Path(given).is_file():
            raise ChromiumError(f"LEEWAY_CHROMIUM={given} is not a file")
        return Path(given)
    if shutil.which("chromium") is None:
        try:
            packages.install("chromium")
        except PackageError as exc:
            raise ChromiumError(
                f"Chromium cannot be had: {exc}; install it, or name the program in LEEWAY_CHROMIUM"
            ) from exc
    return Path(shutil.which("chromium") or "chromium")


class Chromium(Process):
    """A browser with an empty profile of its own."""

    def __init__(self, folder: Path) -> None:
        self.profile = folder / "profile"
        super().__init__(
            "chromium",
            [obtain(), *_FLAGS, f"--user-data-dir={self.profile}"],
            log=folder / "chromium.log",
            is_ready=self._listens,
        )

    def _listens(self) -> bool:
        """Chromium writes its port into a file; both lines of it must be there."""
        file = self.profile / "DevToolsActivePort"
        return file.is_file() and len(file.read_text(encoding="utf-8").split()) == 2
