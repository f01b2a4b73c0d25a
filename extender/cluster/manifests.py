"""Reads a cluster from manifest files: YAML or JSON, single objects or Lists, or folders."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from extender.cluster.cache import ClusterCache
from extender.cluster.resources import Object, key_of
from extender.errors import DocumentError, ManifestError
from extender.model import documents, nulls
from extender.model.core_v1 import Node, PlacedPod, Pod
from extender.model.documents import Plain
from extender.model.nulls import Decoder
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_FILE_BYTES: Final = 1 << 30

KINDS: Final[dict[str, type[Object]]] = {
    "Node": Node,
    "Pod": PlacedPod,
    "PersistentVolume": PersistentVolume,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "StorageClass": StorageClass,
}
# As kubectl does with namespaced objects that have no namespace.
_CLUSTER_WIDE: Final = frozenset({"Node", "PersistentVolume", "StorageClass"})
_DEFAULT_NAMESPACE: Final = "default"

_PLACED_POD: Final[Decoder[PlacedPod]] = Decoder(PlacedPod)

T = TypeVar("T")


def load(paths: Iterable[str | Path], cache: ClusterCache) -> None:
    """Load the objects of the files into an empty cache; other kinds are ignored."""
    fill(cache, chain.from_iterable(map(objects, paths)))


def fill(cache: ClusterCache, found: Iterable[tuple[str, str, Object]]) -> None:
    """Put objects, each with its kind and key, into an empty cache."""
    stores = dict(zip(KINDS, (store for _, store in cache.stores()), strict=True))
    seen: set[tuple[str, str]] = set()
    for kind, key, obj in found:
        if (kind, key) in seen:
            raise ManifestError(f"{kind} {key!r} is defined twice: remove one")
        seen.add((kind, key))
        stores[kind].put(key, obj)


def objects(path: str | Path) -> Iterator[tuple[str, str, Object]]:
    """Kind, key and object of everything in a file or folder that a cluster is made of."""
    for file, kind, item in items(path, KINDS):
        yield kind, *decoded_for_cache(file, kind, item)


def objects_in(file: Path, document: Plain) -> Iterator[tuple[str, str, Object]]:
    """The same for a document that is a part of a file."""
    for kind, item in _items(file, document, KINDS):
        yield kind, *decoded_for_cache(file, kind, _placed(kind, item))


def items(path: str | Path, kinds: Collection[str]) -> Iterator[tuple[Path, str, dict[str, Plain]]]:
    """File, kind and content of every object of these kinds, including objects in Lists."""
    for file in files(Path(path)):
        for document in _documents_of(file):
            for kind, item in _items(file, document, kinds):
                yield file, kind, _placed(kind, item)


def decoded(file: Path, kind: str, item: dict[str, Plain], shape: type[T]) -> T:
    """An object of a file, decoded as `shape`."""
    try:
        return nulls.convert(documents.bounded(item), shape)
    except (msgspec.ValidationError, DocumentError) as exc:
        raise _wrong(file, kind, item, exc) from exc


def decoded_for_cache(file: Path, kind: str, item: dict[str, Plain]) -> tuple[str, Object]:
    """Key and object, as the cluster cache keeps them."""
    obj = _decoded(file, kind, item)
    if obj.metadata is None or not obj.metadata.name:
        raise ManifestError(f"{file}: a {kind} has no metadata.name")
    return key_of(obj.metadata), obj


def files(path: Path) -> Sequence[Path]:
    """The file itself, or all manifests in a folder."""
    if not path.is_dir():
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        # Kubernetes mounts a ConfigMap as links into a hidden folder; skip that folder.
        if file.suffix in SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and file.is_file()
    )
    if not found:
        raise ManifestError(f"{path}: no file in it ends in {', '.join(sorted(SUFFIXES))}")
    return found


def _documents_of(file: Path) -> Sequence[Plain]:
    try:
        return documents.parse_all(file.read_text(encoding="utf-8"), _FILE_BYTES)
    except OSError as exc:
        raise ManifestError(f"{file}: cannot be read: {exc.strerror}") from exc
    except (DocumentError, UnicodeDecodeError) as exc:
        raise ManifestError(f"{file}: {exc}") from exc


def _items(
    file: Path, document: Plain, kinds: Collection[str]
) -> Iterator[tuple[str, dict[str, Plain]]]:
    """The objects of known kinds in one document, including objects in Lists."""
    if document is None:
        return
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ManifestError(f"{file}: a document is not a Kubernetes object: it has no kind")
    kind = str(document["kind"])
    of_kind = kind.removesuffix("List")
    if kind in kinds:
        yield kind, document
    elif kind == "List" or (kind.endswith("List") and of_kind in kinds):
        items = document.get("items")
        if not isinstance(items, list | None):
            raise ManifestError(f"{file}: items of a {kind} must be a list")
        for item in items or ():
            # Objects in a List (`kubectl get -o json`) have a kind, objects in a NodeList do not.
            if isinstance(item, dict) and of_kind:
                item = {"kind": of_kind, **item}
            yield from _items(file, item, kinds)


def _placed(kind: str, item: dict[str, Plain]) -> dict[str, Plain]:
    """The object with the default namespace, if it is namespaced and has none."""
    metadata = item.get("metadata")
    if kind in _CLUSTER_WIDE or not isinstance(metadata, dict) or metadata.get("namespace"):
        return item
    return {**item, "metadata": {**metadata, "namespace": _DEFAULT_NAMESPACE}}


def _decoded(file: Path, kind: str, item: dict[str, Plain]) -> Object:
    try:
        data = documents.bounded(item)
        if kind != "Pod":
            return nulls.convert(data, KINDS[kind])
        nulls.convert(data, Pod)  # checks the labels, which the next line leaves undecoded
        return _PLACED_POD.decode(msgspec.json.encode(data))
    except (msgspec.ValidationError, DocumentError) as exc:
        raise _wrong(file, kind, item, exc) from exc


def _wrong(file: Path, kind: str, item: dict[str, Plain], exc: Exception) -> ManifestError:
    metadata = item.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return ManifestError(f"{file}: {kind} {name!r}: {exc}")
