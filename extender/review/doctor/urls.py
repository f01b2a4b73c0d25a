"""Parses URLs of extenders without raising."""

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; all empty if it is invalid."""

    scheme: str = ""
    host: str = ""
    port: int | None = None
    has_path: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether the host is loopback."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse(text: str) -> Url:
    """The parts of an http or https URL, with the default port filled in."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return Url()
    if parts.scheme not in _PORTS or not parts.hostname:
        return Url()
    more = bool(parts.path.strip("/") or parts.query or parts.fragment)
    return Url(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], more)
