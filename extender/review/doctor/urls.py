"""Where a URL leads, whatever somebody has written there."""

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; all empty where it is none."""

    scheme: str = ""
    host: str = ""
    port: int | None = None
    has_path: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine, or this pod, can be meant."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse(text: str) -> Url:
    """The parts of an http or https URL, with the port that it means."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return Url()
    if parts.scheme not in _PORTS or not parts.hostname:
        return Url()
    more = bool(parts.path.strip("/") or parts.query or parts.fragment)
    return Url(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], more)
