"""Prometheus and promtool out of Debian's package, unpacked beside the control plane's binaries.

The package is downloaded and unpacked, not installed: it would start a service.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import aiohttp
import yaml

from tests.builders import JSON
from tests.e2e import credentials
from tests.e2e.processes import Process, free_port

TOOLS = ("prometheus", "promtool")


class PrometheusError(Exception):
    """Prometheus cannot be had, or refuses a query; the text is one sentence."""


def obtain() -> Path:
    """The folder with both programs in it."""
    given = os.environ.get("LEEWAY_PROMETHEUS_BIN")
    if given:
        if missing := _missing(Path(given)):
            raise PrometheusError(f"LEEWAY_PROMETHEUS_BIN={given} has no {', '.join(missing)}")
        return Path(given)
    found = shutil.which("promtool")
    if found and not _missing(Path(found).parent):
        return Path(found).parent
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "leeway" / "prometheus"
    if _missing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _download(folder)
    return folder


def _missing(folder: Path) -> list[str]:
    return [tool for tool in TOOLS if not (folder / tool).is_file()]


def _download(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        # Where the lists are older than the mirror the first try fails; only root may renew them.
        try:
            _run(scratch, "apt-get", "download", "prometheus")
        except PrometheusError:
            _run(scratch, "apt-get", "update")
            _run(scratch, "apt-get", "download", "prometheus")
        package = next(Path(scratch).glob("*.deb"))
        _run(scratch, "dpkg-deb", "--extract", package.name, ".")
        for tool in TOOLS:
            (Path(scratch) / "usr/bin" / tool).replace(folder / tool)


def _run(folder: str, *command: str) -> None:
    why = "it is not installed"
    if shutil.which(command[0]) is not None:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return
        why = (done.stderr.strip() or "no output").splitlines()[-1]
    raise PrometheusError(
        f"Prometheus cannot be had: {' '.join(command[:2])} says: {why}; install it, or name a"
        " folder with prometheus and promtool in LEEWAY_PROMETHEUS_BIN"
    )


def promtool(*arguments: str | Path) -> str:
    """What promtool says; it must be content."""
    done = subprocess.run(  # noqa: S603 - our own files
        [obtain() / "promtool", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Prometheus(Process):
    """A server that scrapes one target every second and evaluates rules as often."""

    def __init__(self, folder: Path, target_port: int, rules: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        targets = [{"targets": [f"127.0.0.1:{target_port}"]}]
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(rules)],
            "scrape_configs": [{"job_name": "leeway", "static_configs": targets}],
        }
        file = folder / "prometheus.yaml"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        super().__init__(
            "prometheus",
            [
                obtain() / "prometheus",
                f"--config.file={file}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--log.level=warn",
            ],
            log=folder / "prometheus.log",
            is_ready=lambda: credentials.plainly_answers(self.port, "/-/ready"),
        )

    async def query(self, expression: str) -> list[JSON]:
        """The samples of an expression now."""
        found: list[JSON] = (await self._get("query", query=expression))["result"]
        return found

    async def rules(self) -> list[JSON]:
        """Every rule, with its state and health."""
        groups = (await self._get("rules"))["groups"]
        return [rule for group in groups for rule in group["rules"]]

    async def _get(self, page: str, **params: str) -> JSON:
        url = f"http://127.0.0.1:{self.port}/api/v1/{page}"
        async with (
            aiohttp.ClientSession() as session,
            session.get(url, params=params) as response,
        ):
            answer: JSON = await response.json()
        if answer["status"] != "success":
            raise PrometheusError(f"{params}: {answer.get('error')}")
        data: JSON = answer["data"]
        return data
