"""kubectl of the same version as the control plane, as an administrator."""

import subprocess
from pathlib import Path

from tests.e2e import binaries
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import ADMIN


def ran(
    plane: ControlPlane, *arguments: str | Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """What it printed, and how it ended."""
    return subprocess.run(  # noqa: S603 - our own arguments
        [
            binaries.obtain() / "kubectl",
            f"--kubeconfig={plane.kubeconfig(ADMIN)}",
            *arguments,
        ],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def kubectl(plane: ControlPlane, *arguments: str | Path, stdin: str = "") -> str:
    """What kubectl prints; a warning is a failure too."""
    done = ran(plane, *arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
