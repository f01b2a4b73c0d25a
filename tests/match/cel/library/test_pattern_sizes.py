"""The instructions of classes and characters, as RE2 makes them."""

import pytest
import re2  # type: ignore[import-untyped]

from extender.match.cel.library import pattern_sizes
from extender.match.cel.library.pattern_sizes import MAX_SIZE, class_size, literal_size


@pytest.mark.parametrize(
    ("said", "fold", "size"),
    [
        pytest.param(r"\d", False, 1, id="digits"),
        pytest.param("[a-z]", False, 1, id="letters"),
        pytest.param("[a-z]", True, 6, id="letters and what folds to them"),
        pytest.param(".", False, 8, id="any character"),
    ],
)
def test_classes(said: str, size: int, *, fold: bool) -> None:
    assert class_size(said, fold=fold) == size


def test_a_unicode_group_is_large() -> None:
    assert 1_000 < class_size(r"\pL", fold=False) < MAX_SIZE / 10


def test_a_class_that_re2_has_no_room_for_is_as_large_as_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pattern_sizes, "_CLASS_MEMORY", 1_000)

    assert class_size(r"[\pL\pN12345]", fold=False) == MAX_SIZE


@pytest.mark.parametrize("fold", [True, False], ids=["folded", "as it is"])
@pytest.mark.parametrize("char", ["a", "k", "S", "-", "\u00e9", "\u4e2d", "\U0001f600", "\u03b8"])
def test_characters(char: str, *, fold: bool) -> None:
    made = re2.compile(("(?i)" if fold else "") + char).programsize - pattern_sizes.FRAME_SIZE

    assert made <= literal_size(char, fold=fold) <= (10 if fold else made)


def test_no_character_takes_more_than_is_assumed() -> None:
    """Looked up for all that fold at all: their cases differ, or they are marks and signs."""
    cased = [chr(code) for code in range(0x80, 0x1E944) if chr(code).upper() != chr(code).lower()]
    some = cased[::7]

    assert len(some) > 300
    for char in some:
        assert class_size(f"[{char}]", fold=True) <= literal_size(char, fold=True)
