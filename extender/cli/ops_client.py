"""Asks the ops listener of a running Leeway."""

import http.client
from typing import Any, Final

import msgspec

from extender.config import loading
from extender.config.schema import Config
from extender.errors import ConfigError
from extender.review.doctor import urls

_SECONDS: Final = 10.0
_PAGE_BYTES: Final = 1 << 20


class _Status(msgspec.Struct, frozen=True):
    """What matters of the page `/status`."""

    configuration: dict[str, Any] | None = None


def configuration(url: str) -> Config:
    """The configuration that a running Leeway judges with."""
    where = f"--extender {url.rstrip('/')}/status"
    code, page = get(url.rstrip("/"), "/status")
    try:
        data = msgspec.json.decode(page, type=_Status).configuration
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise ConfigError([f"{where}: HTTP {code}, this is not Leeway's ops listener"]) from exc
    if data is None:
        raise ConfigError([f"{where}: this Leeway does not say its configuration: use --config"])
    try:
        return loading.from_data(data)
    except ConfigError as exc:
        raise ConfigError([f"{where}: {problem}" for problem in exc.problems]) from None


def get(url: str, path: str) -> tuple[int, bytes]:
    """Get a page of the listener, without a proxy."""
    parts = urls.parse(url)
    if parts.scheme != "http":
        raise ConfigError([f"--extender {url}: give http://HOST:PORT of the ops listener"])
    connection = http.client.HTTPConnection(parts.host, parts.port, timeout=_SECONDS)
    try:
        connection.request("GET", path, headers={"User-Agent": "leeway"})
        response = connection.getresponse()
        return response.status, response.read(_PAGE_BYTES)
    except (OSError, http.client.HTTPException) as exc:
        raise ConfigError([f"--extender {url}: {type(exc).__name__}: {exc}"]) from exc
    finally:
        connection.close()
