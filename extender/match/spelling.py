"""The word that was probably meant."""

import difflib
from collections.abc import Iterable
from typing import Final

_MAX_WORD: Final = 320
_MAX_CHOICES: Final = 200
_CLOSE: Final = 0.75
# A swap of two letters weighs more in a short word.
_SHORT: Final = 5
_CLOSE_IF_SHORT: Final = 0.65


def spelling(word: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant: other case, another prefix, or a typo."""
    if not word or len(word) > _MAX_WORD:
        return None
    others = [each for each in choices if each != word and len(each) <= _MAX_WORD][:_MAX_CHOICES]
    for plain in (str.casefold, _name):
        for each in others:
            if plain(each) == plain(word):
                return each
    lowered = {each.casefold(): each for each in others}
    cutoff = _CLOSE if len(word) > _SHORT else _CLOSE_IF_SHORT
    close = difflib.get_close_matches(word.casefold(), lowered, n=1, cutoff=cutoff)
    return lowered[close[0]] if close else None


def _name(key: str) -> str:
    """A key without its prefix."""
    return key.rpartition("/")[2].casefold()
