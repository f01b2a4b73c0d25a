"""What every test shares."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop
from hypothesis import HealthCheck, settings

from extender import rows
from extender.rows import plain

# The rooms whose tests run on both implementations of the rows: the code looks them up in
# `extender.rows` at use.
ON_BOTH_ROWS = ("tests.wire.", "tests.verbs.", "tests.server.")
# What is in those rooms and never looks at a row, or does nothing but HTTP.
WITHOUT_ROWS = frozenset(
    f"tests.server.test_{name}"
    for name in ("connection", "drain", "notices", "ops", "reply", "status", "tls", "webhook")
)
# The event loops that serve in production and in tests.
LOOPS: Mapping[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
ON_BOTH_LOOPS = frozenset({"tests.server.test_connection", "tests.server.test_drain"})
NATIVE = rows.IMPLEMENTATION == "native"

# A busy machine is not a fault: no example is judged by the time it takes.
settings.register_profile(
    "leeway",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("leeway")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of some rooms on the compiled rows and on those in Python."""
    name = metafunc.module.__name__
    if NATIVE and name.startswith(ON_BOTH_ROWS) and name not in WITHOUT_ROWS:
        metafunc.fixturenames.append("rows_in")
        metafunc.parametrize("rows_in", ["native", "python"], indirect=True)


@pytest.fixture
def rows_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which implementation of the rows the test runs on."""
    which: str = request.param
    if which == "python":
        for name in ("Candidates", "NameIndex", "recognise"):
            monkeypatch.setattr(rows, name, getattr(plain, name))
    return which


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the tests of connections on both event loops."""
    name = item.getparent(pytest.Module).obj.__name__  # type: ignore[union-attr]
    return LOOPS if name in ON_BOTH_LOOPS else {"asyncio": LOOPS["asyncio"]}
