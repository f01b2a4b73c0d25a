"""Converts plain data to typed values and collects every problem with its path."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from extender.config.schema import Address
from extender.match import selectors
from extender.match.taints import HARD_EFFECTS, PREFER_NO_SCHEDULE
from extender.model.core_v1 import Taint
from extender.model.documents import Plain

T = TypeVar("T")

_DURATION: Final = re.compile(
    r"(?:([0-9]{1,18})h)?(?:([0-9]{1,18})m)?(?:([0-9]{1,18})s)?(?:([0-9]{1,18})ms)?"
)
_MILLISECONDS: Final = (3_600_000, 60_000, 1_000, 1)
_PORT_MAX: Final = 65535
_DNS_LABEL_MAX: Final = 63
_EFFECTS: Final = frozenset({*HARD_EFFECTS, PREFER_NO_SCHEDULE})
_EMPTY: Final[Mapping[str, Plain]] = {}


class Reader:
    """Reads one mapping of the file and collects wrong values and unknown keys.

    `flags` has the paths that were set by a flag, so that a problem names what the user typed.
    """

    def __init__(
        self,
        data: Mapping[str, Plain],
        problems: list[str],
        *,
        path: str = "",
        flags: Mapping[str, str],
    ) -> None:
        self._data = data
        self._problems = problems
        self._path = path
        self._flags = flags
        self._asked: set[str] = set()

    def problem(self, key: str, what: str) -> None:
        """Record a problem with a key."""
        path = self._child(key)
        self._problems.append(f"{self._flags.get(path, path)}: {what}")

    def value(self, key: str, default: T, read: Callable[[Plain], T]) -> T:
        """The value of a key; `read` raises ValueError with what is wrong with it."""
        self._asked.add(key)
        raw = self._data.get(key)
        if raw is None:
            return default
        try:
            return read(raw)
        except ValueError as exc:
            self.problem(key, str(exc))
            return default

    def section(self, key: str) -> "Reader":
        """The mapping under a key; an empty one where it is absent or wrong."""
        data: Mapping[str, Plain] = self.value(key, _EMPTY, _mapping)
        return Reader(data, self._problems, path=self._child(key), flags=self._flags)

    def sections(self, key: str) -> Iterator["Reader"]:
        """The mappings of the list under a key."""
        items: Sequence[Plain] = self.value(key, (), _list)
        for index, item in enumerate(items):
            path = f"{self._child(key)}[{index}]"
            if isinstance(item, Mapping):
                yield Reader(item, self._problems, path=path, flags=self._flags)
            else:
                self._problems.append(f"{path}: must be a mapping, not {_kind(item)}")

    def known(self, *keys: str) -> None:
        """Accept these keys without reading them."""
        self._asked.update(keys)

    def __contains__(self, key: str) -> bool:
        """Whether the key is there."""
        self._asked.add(key)
        return self._data.get(key) is not None

    def finish(self) -> None:
        """Record every key that was not read as unknown."""
        for key in self._data:
            if key not in self._asked:
                known = ", ".join(sorted(self._asked))
                self.problem(key, f"unknown key; known here: {known}")

    def _child(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key


def text(raw: Plain) -> str:
    """A non-empty string."""
    if not isinstance(raw, str):
        raise ValueError(f"must be text, not {_kind(raw)}")  # noqa: TRY004 - see Reader.value
    if not raw:
        raise ValueError("must not be empty")
    return raw


def annotation_prefix(raw: Plain) -> str:
    """The prefix of our annotations: a DNS subdomain and a slash."""
    prefix = text(raw)
    if not prefix.endswith("/") or not selectors.is_label_key(f"{prefix}x"):
        raise ValueError(f"must be a DNS name and a slash, such as scheduling.leeway/, not {raw!r}")
    return prefix


def dns_name(raw: Plain) -> str:
    """The name of a Kubernetes object: a DNS subdomain."""
    name = text(raw)
    if not selectors.is_label_key(f"{name}/x"):
        raise ValueError(f"must be a DNS name, such as leeway-controller, not {raw!r}")
    return name


def namespace(raw: Plain) -> str:
    """The name of a namespace: one label of a DNS name."""
    name = dns_name(raw)
    if "." in name or len(name) > _DNS_LABEL_MAX:
        raise ValueError(f"must be the name of a namespace, such as leeway, not {raw!r}")
    return name


def taints(raw: Plain) -> tuple[Taint, ...]:
    """A list of taints as kubectl writes them: `key=value:Effect` or `key:Effect`."""
    return tuple(_taint(item) for item in texts(raw))


def _taint(written: str) -> Taint:
    key_and_value, _, effect = written.rpartition(":")
    key, _, value = key_and_value.partition("=")
    if not (selectors.is_label_key(key) and selectors.is_label_value(value)):
        raise ValueError(f"must be key=value:Effect or key:Effect, not {written!r}")
    if effect not in _EFFECTS:
        known = ", ".join(sorted(_EFFECTS))
        raise ValueError(f"unknown effect {effect!r} in {written!r}; known: {known}")
    return Taint(key, value, effect)


def taint_keys(raw: Plain) -> tuple[str, ...]:
    """A list of taint keys; one that ends in a slash stands for all keys of that prefix."""
    entries = texts(raw)
    for entry in entries:
        if not selectors.is_label_key(f"{entry}x" if entry.endswith("/") else entry):
            raise ValueError(f"must be a taint key, or a prefix that ends in /, not {entry!r}")
    return entries


def texts(raw: Plain) -> tuple[str, ...]:
    """A list of non-empty strings."""
    return tuple(text(item) for item in _list(raw))


def boolean(raw: Plain) -> bool:
    """True or false."""
    if not isinstance(raw, bool):
        raise ValueError(f"must be true or false, not {_kind(raw)}")  # noqa: TRY004
    return raw


def integer(low: int, high: int) -> Callable[[Plain], int]:
    """An integer within bounds."""

    def read(raw: Plain) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int):
            raise ValueError(f"must be a whole number, not {_kind(raw)}")  # noqa: TRY004
        if not low <= raw <= high:
            raise ValueError(f"must be from {low} to {high}, not {raw}")
        return raw

    return read


def one_of(*choices: T) -> Callable[[Plain], T]:
    """One of several words."""

    def read(raw: Plain) -> T:
        for choice in choices:
            if raw == choice:
                return choice
        words = " or ".join(map(str, choices))
        raise ValueError(f"must be {words}, not {raw!r}")

    return read


def duration(raw: Plain) -> float:
    """Seconds, from a text such as `1m30s`, `20s` or `50ms`; a bare 0 is allowed."""
    if raw in (0, "0") and not isinstance(raw, bool):
        return 0.0
    matched = _DURATION.fullmatch(raw) if isinstance(raw, str) and raw else None
    if matched is None:
        raise ValueError(f"must be a duration such as 20s or 50ms, not {raw!r}")
    milliseconds = sum(
        int(part) * unit for part, unit in zip(matched.groups(), _MILLISECONDS, strict=True) if part
    )
    return milliseconds / 1000


def positive_duration(raw: Plain) -> float:
    """A duration above zero."""
    seconds = duration(raw)
    if not seconds:
        raise ValueError("must be above zero")
    return seconds


def whole_seconds(high: int) -> Callable[[Plain], int]:
    """A duration of so many seconds at most, without a fraction."""

    def read(raw: Plain) -> int:
        seconds = duration(raw)
        if seconds > high or seconds % 1:
            raise ValueError(f"must be whole seconds from 0s to {high}s, not {raw!r}")
        return int(seconds)

    return read


def address(raw: Plain) -> Address:
    """HOST:PORT, with an IPv6 host in brackets."""
    host, colon, port = text(raw).rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    ok = colon and host and port.isascii() and port.isdigit() and int(port) <= _PORT_MAX
    if not ok or (":" in host and not bracketed):
        raise ValueError(f"must be HOST:PORT, such as 127.0.0.1:8888, not {raw!r}")
    return Address(host, int(port))


def _mapping(raw: Plain) -> Mapping[str, Plain]:
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be a mapping, not {_kind(raw)}")  # noqa: TRY004
    return raw


def _list(raw: Plain) -> Sequence[Plain]:
    if not isinstance(raw, list):
        raise ValueError(f"must be a list, not {_kind(raw)}")  # noqa: TRY004
    return raw


def _kind(raw: Plain) -> str:
    match raw:
        case str():
            return "text"
        case list():
            return "a list"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case _:
            return "a mapping"
