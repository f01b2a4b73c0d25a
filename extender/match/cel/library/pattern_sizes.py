"""How many instructions a part of a regular expression compiles to, told before it compiles.

RE2 compiles about 3 million instructions a second, and no other thread runs meanwhile. Only
counted repetitions multiply; a single class is small, so RE2 itself is asked for its size.
"""

import functools
from typing import Final

import re2  # type: ignore[import-untyped]

# A regular expression of so many takes 6 to 12 ms to compile, twice: to find, and to match.
MAX_SIZE: Final = 20_000
# What every program begins and ends with.
FRAME_SIZE: Final = 4
# Room for 80,000; a class of 10 KiB has 3,500.
_CLASS_MEMORY: Final = 1 << 20
# The most that a character beyond ASCII and those that fold to it take, all in UTF-8.
_FOLDED_SIZE: Final = 10
# k and s fold to the sign of Kelvin and to a long s.
_FOLDED_BEYOND_ASCII: Final = {"k": 4, "K": 4, "s": 3, "S": 3}


def options(memory: int) -> re2.Options:
    """How RE2 reads, with so many bytes for a program and the states that searching adds."""
    chosen = re2.Options()
    chosen.max_mem = memory
    chosen.log_errors = False
    return chosen


@functools.lru_cache(maxsize=256)
def class_size(said: str, *, fold: bool) -> int:
    """The instructions of a class in RE2's dialect."""
    try:
        expression = re2.compile(f"(?i){said}" if fold else said, options(_CLASS_MEMORY))
    except re2.error:
        return MAX_SIZE
    re2.purge()  # re2's own cache would keep 128 of them
    size: int = expression.programsize
    return size - FRAME_SIZE


def literal_size(char: str, *, fold: bool) -> int:
    """The instructions of a character."""
    if not fold:
        return len(char.encode(errors="replace"))
    return _FOLDED_BEYOND_ASCII.get(char, 1) if char.isascii() else _FOLDED_SIZE
