"""What compiling makes of an object: values to set, and what to say about it."""

from collections.abc import Iterable
from dataclasses import dataclass

from extender.model.core_v1 import Toleration
from extender.model.documents import Plain
from extender.model.positions import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """One value to set, or None to remove it; parents that are missing are created."""

    path: Path
    value: Plain


@dataclass(frozen=True, slots=True)
class Remark:
    """An error or a warning about a field."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What an object needs to say in plain fields what its rules mean now."""

    edits: tuple[Edit, ...] = ()  # none: the object is current
    added: int = 0  # how many values the lists grow by
    errors: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()


def plain(toleration: Toleration) -> Plain:
    """A toleration as a manifest has it."""
    found = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {name: value for name, value in found.items() if value is not None}


def at(data: Plain, path: Path) -> Plain:
    """The value at a path; None if there is none."""
    for part in path:
        if isinstance(data, dict) and isinstance(part, str):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def nested(path: Path, value: Plain) -> Plain:
    """The value inside of mappings with the keys of a path."""
    for part in reversed(path):
        value = {str(part): value}
    return value


def applied(data: Plain, edits: Iterable[Edit]) -> Plain:
    """The object with the edits; what is not on their paths is shared."""
    for edit in edits:
        data = _with(data, edit.path, edit.value)
    return data


def _with(data: Plain, path: Path, value: Plain) -> Plain:
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(data, list) and isinstance(first, int):
        return [_with(each, rest, value) if n == first else each for n, each in enumerate(data)]
    mapping = dict(data) if isinstance(data, dict) else {}
    if value is None and str(first) not in mapping:
        return data
    new = _with(mapping.get(str(first)), rest, value)
    if new is None:
        del mapping[str(first)]
    else:
        mapping[str(first)] = new
    return mapping
