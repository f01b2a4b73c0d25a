"""What the operator's door tells: readiness, and who called."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from extender import __version__

MAX_CALLERS: Final = 50

# Why a check fails, or None; the second text is a remark on one that holds.
Check = Callable[[], tuple[str | None, str]]


class Readiness:
    """Named checks. Ready while every one of them holds."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks

    def report(self) -> tuple[bool, str]:
        """Whether all hold, and a line a check as the API server writes them."""
        lines: list[str] = []
        ready = True
        for name, check in self._checks.items():
            why, remark = check()
            if why is None:
                lines.append(f"[+]{name} ok")
                lines += [f"    {remark}"] if remark else []
            else:
                lines.append(f"[-]{name} failed: {why}")
                ready = False
        lines.append(f"readyz check {'passed' if ready else 'failed'}")
        return ready, "\n".join(lines) + "\n"


@dataclass(slots=True)
class Caller:
    """One client of the scheduler listener."""

    remote: str
    user_agent: bytes
    verb: str
    mode: str
    certificate: str | None  # whom its client certificate names
    calls: int = 0
    last: float = 0.0  # seconds since 1970


class Callers:
    """Who called, when and in which mode; the longest silent are forgotten first."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._started = now()
        self._callers: OrderedDict[tuple[str, bytes, str, str, str | None], Caller] = OrderedDict()

    def record(
        self, remote: str, user_agent: bytes, verb: str, mode: str, certificate: str | None = None
    ) -> None:
        """Note one call."""
        key = (remote, user_agent[:200], verb, mode, certificate and certificate[:200])
        caller = self._callers.get(key)
        if caller is None:
            caller = self._callers[key] = Caller(*key)
            if len(self._callers) > MAX_CALLERS:
                self._callers.popitem(last=False)
        else:
            self._callers.move_to_end(key)  # the newest stands last
        caller.calls += 1
        caller.last = self._now()

    def document(self, cluster: str) -> dict[str, object]:
        """The page that `/status` shows."""
        return {
            "version": __version__,
            "startedAt": _moment(self._started),
            "cluster": cluster,
            "callers": [
                {
                    "remote": caller.remote,
                    "userAgent": caller.user_agent.decode(errors="replace"),
                    "certificate": caller.certificate,
                    "verb": caller.verb,
                    "mode": caller.mode,
                    "calls": caller.calls,
                    "last": _moment(caller.last),
                }
                for caller in reversed(self._callers.values())
            ],
        }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
