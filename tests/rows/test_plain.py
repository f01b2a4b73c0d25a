"""The rows in Python."""

from typing import Any

import pytest

from extender.rows import plain
from tests.rows.contract import *  # noqa: F403


@pytest.fixture
def rows() -> Any:
    return plain
