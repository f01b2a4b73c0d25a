"""Values at run time.

bool, int, float, str, bytes, None, list and dict are Python's own; lists and dicts are never
changed once made. The rest is here. An unsigned integer, a duration and a timestamp are integers
of a class of their own, told apart by `type(value) is ...`, never by isinstance.
Keys of a dict: str, int, Uint, float and, for booleans, BoolKey (in Python True == 1).
"""

from typing import Final, Generic, TypeVar

V = TypeVar("V")


class Uint(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


class Duration(int):
    """Nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """Nanoseconds since the epoch."""

    __slots__ = ()
