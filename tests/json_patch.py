"""JSON patches as the API server applies them: all operations, or none."""

import copy
from collections.abc import Sequence
from typing import Any

from tests.builders import JSON

_ABSENT = object()


class PatchError(Exception):
    """An operation that cannot be carried out, or a test that does not hold."""


def applied(document: JSON, operations: Sequence[JSON]) -> JSON:
    """The document after a patch; the given one stays as it is."""
    changed = copy.deepcopy(document)
    for operation in operations:
        value, path = operation.get("value"), operation["path"]
        match operation["op"]:
            case "test":
                found = _get(changed, path)
                if (None if found is _ABSENT else found) != value:
                    raise PatchError(f"test of {path}: {found!r} is not {value!r}")
            case "add":
                _add(changed, path, copy.deepcopy(value))
            case "remove":
                _remove(changed, path)
            case "move":
                _add(changed, path, _remove(changed, operation["from"]))
            case other:
                raise PatchError(f"no operation {other}")
    return changed


def _parts(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _get(document: Any, path: str) -> Any:
    for part in _parts(path):
        if isinstance(document, list):
            if int(part) >= len(document):
                raise PatchError(f"no index {part} in {path}")
            document = document[int(part)]
        elif part in document:
            document = document[part]
        else:
            return _ABSENT
    return document


def _parent(document: Any, path: str) -> tuple[Any, str]:
    head, _, last = path.rpartition("/")
    parent = _get(document, head)
    if parent is _ABSENT:
        raise PatchError(f"nothing at {head}")
    return parent, last.replace("~1", "/").replace("~0", "~")


def _add(document: Any, path: str, value: Any) -> None:
    parent, last = _parent(document, path)
    if isinstance(parent, dict):
        parent[last] = value
    elif int(last) <= len(parent):
        parent.insert(int(last), value)
    else:
        raise PatchError(f"no index {last} in {path}")


def _remove(document: Any, path: str) -> Any:
    parent, last = _parent(document, path)
    try:
        return parent.pop(int(last) if isinstance(parent, list) else last)
    except (KeyError, IndexError) as exc:
        raise PatchError(f"nothing at {path}") from exc
