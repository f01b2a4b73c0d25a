"""axe-core from npm: what it finds wrong with a page for people who do not see it as we do."""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tests.e2e.devtools import Tab

# `axe-core@VERSION sha512-HASH`, as `npm view axe-core version dist.integrity` says it.
LOCK = Path(__file__).with_name("axe-core.lock")
_GRAVE = {"serious", "critical"}


class AxeError(Exception):
    """axe-core cannot be had; the text is one sentence."""


def obtain() -> Path:
    """The script, kept outside of the tree; its package must have the hash of the lock file."""
    package, integrity = LOCK.read_text(encoding="utf-8").split()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kept = cache / "leeway" / "npm" / f"{package}.js"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Beside the file, so that it appears complete or not at all.
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            _download(package, integrity, Path(scratch)).rename(kept)
    return kept


def _download(package: str, integrity: str, folder: Path) -> Path:
    if shutil.which("npm") is None:
        raise AxeError(f"{package} cannot be had: npm is not installed")
    done = subprocess.run(  # noqa: S603 - fixed arguments
        ["npm", "pack", "--silent", package],  # noqa: S607 - the machine's npm
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    archive = next(folder.glob("*.tgz"), None)
    if done.returncode != 0 or archive is None:
        why = (done.stderr.strip() or "no output").splitlines()[-1]
        raise AxeError(f"{package} cannot be had: npm says: {why}")
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != integrity:
        raise AxeError(f"{package} has the hash {found}, and {LOCK.name} says {integrity}")
    with tarfile.open(archive) as content:
        content.extract("package/axe.min.js", folder, filter="data")
    return folder / "package" / "axe.min.js"


async def grave_findings(tab: Tab) -> list[str]:
    """What is serious or critical about the page of a tab, each with its first places."""
    await tab.run(obtain().read_text(encoding="utf-8") + "; 0")
    violations = await tab.run("axe.run(document).then(result => result.violations)")
    return [
        f"{each['id']}: {each['help']}: "
        + " | ".join(f"{node['target']} {node['failureSummary']}" for node in each["nodes"][:3])
        for each in violations
        if each["impact"] in _GRAVE
    ]
