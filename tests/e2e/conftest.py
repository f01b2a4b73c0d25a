"""One control plane a session, one namespace a story, and every log beside a failure."""

import asyncio
import itertools
import os
import shutil
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import axe, binaries, chromium, prometheus, shells
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ROOT, ControlPlane
from tests.e2e.objects import EXTENDED, WHOLE_NODES

_numbers = itertools.count(1)
_planes = pytest.StashKey[list[ControlPlane]]()
_sizes = pytest.StashKey[dict[str, int]]()
_CANNOT_BE_HAD = (
    axe.AxeError,
    binaries.BinariesError,
    chromium.ChromiumError,
    prometheus.PrometheusError,
    shells.ShellError,
)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_planes] = []
    if hasattr(config, "workerinput"):
        return
    try:
        binaries.obtain()
        prometheus.obtain()
        shells.obtain()
        chromium.obtain()
        axe.obtain()
    except _CANNOT_BE_HAD as exc:
        raise pytest.UsageError(str(exc)) from exc


@pytest.fixture(scope="session")
def new_plane(request: pytest.FixtureRequest) -> Callable[..., ControlPlane]:
    """Makes control planes whose logs are shown beside a failure."""

    def make(folder: Path, **more: Any) -> ControlPlane:
        control_plane = ControlPlane(folder, **more)
        request.config.stash[_planes].append(control_plane)
        return control_plane

    return make


@pytest.fixture(scope="session")
def plane(new_plane: Callable[..., ControlPlane]) -> Iterator[ControlPlane]:
    """The control plane of the session, running. Its logs are kept until the next session."""
    folder = ROOT / "build" / "e2e" / os.environ.get("PYTEST_XDIST_WORKER", "main")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    control_plane = new_plane(folder)
    try:
        asyncio.run(control_plane.start())
        yield control_plane
    finally:
        asyncio.run(control_plane.stop())


@pytest.fixture
async def cluster(plane: ControlPlane) -> AsyncIterator[Cluster]:
    """An empty cluster in which everything runs, whatever the story before did to it."""
    await plane.start()
    plane.forget()
    async with plane.connected() as admin:
        story = Cluster(admin, plane, f"story-{next(_numbers)}")
        metadata = {"metadata": {"name": story.namespace}}
        await admin.ensure("/api/v1/namespaces", metadata)
        await story.clean()
        yield story
        await plane.start()
        await story.clean()


@pytest.fixture(scope="module")
def default_scheduler(plane: ControlPlane) -> Iterator[None]:
    """An unmodified scheduler beside the others, as long as the stories of one module run."""
    asyncio.run(plane.default_scheduler.start())
    try:
        yield
    finally:
        asyncio.run(plane.default_scheduler.stop())


@pytest.fixture(params=[EXTENDED, WHOLE_NODES], ids=["names", "whole nodes"])
def scheduler(request: pytest.FixtureRequest) -> str:
    """The schedulerName of both ways to ask Leeway."""
    name: str = request.param
    return name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[_sizes] = {
        str(process.log): process.logged()
        for plane in item.config.stash[_planes]
        for process in plane.processes
    }
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what every process wrote during a story that failed."""
    report = yield
    if report.failed:
        for plane in item.config.stash[_planes]:
            for process in plane.processes:
                text = process.tail(item.stash[_sizes].get(str(process.log), 0))
                report.sections.append((f"{process.name} ({process.log})", text))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what the stories have measured."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{report.nodeid}: {name}: {value}")
