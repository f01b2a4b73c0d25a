"""Room for bodies: one budget of bytes over all that the listeners hold at once.

Whoever reaches a port can send bodies, a certificate or not, so what they hold is counted together
and bounded: docs/adr/0031. A body that does not fit is refused, and whoever sent it comes again.
"""

from dataclasses import replace
from typing import Final

from extender.config.schema import Limits
from extender.errors import NoRoomError

# A listener that asks nobody for a certificate has a quarter of what there is, of bytes and of
# connections: two of them leave a half to the scheduler.
STRANGERS: Final = 4
# Small bodies of the scheduler may go beyond the whole by an eighth of it: one large body, which
# may fill it, must not keep out the calls beside it.
SPARE: Final = 8


class Share:
    """What one listener may hold, of what all may hold together."""

    __slots__ = ("_all", "held", "most")

    def __init__(self, most: int, whole: "Share | None" = None) -> None:
        self.most = most
        self.held = 0
        self._all = whole

    def part(self, parts: int) -> "Share":
        """A share that counts into this one, of at most one of so many parts."""
        return Share(self.most // parts, self)

    def take(self, count: int, *, is_small: bool = False) -> bool:
        """Hold so many bytes more, if they fit."""
        most = self.most + self.most // SPARE if is_small else self.most
        if self.held + count > most or (self._all is not None and not self._all.take(count)):
            return False
        self.held += count
        return True

    def give_back(self, count: int) -> None:
        """They are let go."""
        self.held -= count
        if self._all is not None:
            self._all.give_back(count)


class Held:
    """What one request holds of a share, until it is answered."""

    __slots__ = ("_count", "_share")

    def __init__(self, share: Share) -> None:
        self._share = share
        self._count = 0

    def take(self, count: int) -> bool:
        """Hold so many bytes more, if they fit."""
        if not self._share.take(count):
            return False
        self._count += count
        return True

    def give_back(self) -> None:
        """Let go of everything."""
        self._share.give_back(self._count)
        self._count = 0


def stranger_limits(limits: Limits, most: int) -> Limits:
    """The limits of a listener of strangers whose bodies are never larger than `most`."""
    fits = limits.in_flight_bytes // STRANGERS
    return replace(limits, request_bytes=min(limits.request_bytes, most, fits))


def no_room(limits: Limits) -> NoRoomError:
    """The fault of a body that does not fit now."""
    return NoRoomError(
        f"other bodies use up limits.inFlightBytes of {limits.in_flight_bytes}: send it again later"
    )
