"""The rows in C, where the package was built with a compiler."""

from typing import Any

import pytest

from tests.rows.contract import *  # noqa: F403

_native = pytest.importorskip("extender.rows._native")


@pytest.fixture
def rows() -> Any:
    return _native
