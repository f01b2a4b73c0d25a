"""Prometheus and promtool: those that are installed, or those of Debian's package."""

import os
import shutil
import subprocess
from pathlib import Path

import aiohttp
import yaml

from tests.builders import JSON
from tests.e2e import credentials, packages
from tests.e2e.packages import PackageError
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
    try:
        return packages.unpacked("prometheus") / "usr/bin"
    except PackageError as exc:
        raise PrometheusError(
            f"Prometheus cannot be had: {exc}; install it, or name a folder with prometheus and"
            " promtool in LEEWAY_PROMETHEUS_BIN"
        ) from exc


def _missing(folder: Path) -> list[str]:
    return [tool for tool in TOOLS if not (folder / tool).is_file()]


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
