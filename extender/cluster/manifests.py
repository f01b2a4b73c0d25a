"""A cluster out of manifest files: YAML or JSON, single objects and Lists, folders of them."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from extender.errors import DocumentError, ManifestError
from extender.model import documents
from extender.model.core_v1 import Node
from extender.model.documents import Plain

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_FILE_BYTES: Final = 1 << 30


def load_nodes(paths: Iterable[str | Path]) -> list[Node]:
    """Every Node of the files; objects of other kinds are ignored."""
    nodes = [node for path in paths for file in _files(Path(path)) for node in _nodes(file)]
    seen: set[str] = set()
    for node in nodes:
        name = node.metadata.name if node.metadata else ""
        if name in seen:
            raise ManifestError(f"Node {name!r} is defined twice: remove one")
        seen.add(name)
    return nodes


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        # Kubernetes mounts a ConfigMap as links into a hidden folder beside them.
        if file.suffix in SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and file.is_file()
    )
    if not files:
        raise ManifestError(f"{path}: no file in it ends in {', '.join(sorted(SUFFIXES))}")
    return files


def _nodes(file: Path) -> Iterator[Node]:
    try:
        text = file.read_text(encoding="utf-8")
        parsed = documents.parse_all(text, _FILE_BYTES)
    except OSError as exc:
        raise ManifestError(f"{file}: cannot be read: {exc.strerror}") from exc
    except (DocumentError, UnicodeDecodeError) as exc:
        raise ManifestError(f"{file}: {exc}") from exc
    for document in parsed:
        yield from (_node(file, item) for item in _objects(file, document))


def _objects(file: Path, document: Plain) -> Iterator[dict[str, Plain]]:
    """The Nodes of one document, those inside Lists included."""
    if document is None:
        return
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ManifestError(f"{file}: a document is not a Kubernetes object: it has no kind")
    if document["kind"] == "Node":
        yield document
    elif document["kind"] in ("List", "NodeList"):
        items = document.get("items")
        if not isinstance(items, list | None):
            raise ManifestError(f"{file}: items of a {document['kind']} must be a list")
        for item in items or ():
            # Objects of a List, as `kubectl get -o json` gives it, have kinds; of a NodeList not.
            if isinstance(item, dict) and document["kind"] == "NodeList":
                item = {"kind": "Node", **item}
            yield from _objects(file, item)


def _node(file: Path, item: dict[str, Plain]) -> Node:
    try:
        node = msgspec.convert(documents.without_nulls(item), Node)
    except (msgspec.ValidationError, DocumentError) as exc:
        metadata = item.get("metadata")
        name = metadata.get("name", "") if isinstance(metadata, dict) else ""
        raise ManifestError(f"{file}: Node {name!r}: {exc}") from exc
    if node.metadata is None or not node.metadata.name:
        raise ManifestError(f"{file}: a Node has no metadata.name")
    return node
