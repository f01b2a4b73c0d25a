"""The rows in Python."""

from typing import Any

import pytest

from extender.rows import plain
from tests.rows.contract import *  # noqa: F403


@pytest.fixture
def rows() -> Any:
    return plain


def test_what_is_longer_than_an_offset_can_say_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_MAX_BODY", 9)
    index = plain.NameIndex(1)

    assert index.read(b'["abcd"]}', 0) is not None
    assert index.read(b'["abcde"]}', 0) is None
    with pytest.raises(ValueError, match="too long"):
        plain.Candidates([1], [b'"abcdefg"'])
