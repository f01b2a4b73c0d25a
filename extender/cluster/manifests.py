"""Reads a cluster from manifest files: YAML or JSON, single objects or Lists, or folders."""

import functools
import logging
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TextIO, TypeVar

import msgspec

from extender.cluster.cache import ClusterCache
from extender.cluster.resources import Object, key_of
from extender.errors import DocumentError, ManifestError
from extender.match import shapes
from extender.match.shapes import Words
from extender.model import documents, nulls
from extender.model.core_v1 import Node, PlacedPod, Pod
from extender.model.documents import Plain
from extender.model.nulls import Decoder
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass

STANDARD_INPUT: Final = "-"
SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_FILE_BYTES: Final = 1 << 30
log = logging.getLogger("leeway.cluster")
_KIND_FIELD: Final = re.compile(r"""(?:^|[\s{,"'-])kind["']?\s*:""")
_NAMES_SHOWN: Final = 2

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


# Gets a sentence about files that are left out.
Tell = Callable[[str], None]


class Skipped:
    """The files in a folder that are not manifests: templates of charts, values, dashboards.

    A manifest with a mistake is not one of them: it stays an error.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[str] = []

    def is_template(self, file: Path) -> bool:
        """Whether the file is a template of a chart; if so, it is skipped."""
        found = self._folder.is_dir() and any(
            parent.name == "templates" and (parent.parent / "Chart.yaml").is_file()
            for parent in file.parents
        )
        return self._add(file, found)

    def is_foreign(self, file: Path, text: str) -> bool:
        """Whether the text, which cannot be parsed, is not meant to be; if so, it is skipped."""
        is_meant = "{{" not in text and _KIND_FIELD.search(text) is not None
        return self._add(file, self._folder.is_dir() and not is_meant)

    def is_without_objects(self, file: Path, parsed: Sequence[Plain]) -> bool:
        """Whether no document has a kind; if so, the file is skipped."""
        kinds = [isinstance(each, dict) and "kind" in each for each in parsed if each is not None]
        return self._add(file, self._folder.is_dir() and bool(kinds) and not any(kinds))

    def report(self, tell: Tell) -> None:
        """One sentence about all files, if there are any."""
        if not self._files:
            return
        shown = ", ".join(self._files[:_NAMES_SHOWN])
        more = len(self._files) - _NAMES_SHOWN
        others = f" and {more} more" if more > 0 else ""
        files = (
            "1 file that is not a manifest"
            if len(self._files) == 1
            else (f"{len(self._files)} files that are not manifests")
        )
        tell(f"{self._folder}: skipped {files}: {shown}{others}")

    def _add(self, file: Path, skipped: bool) -> bool:
        if skipped:
            self._files.append(str(file.relative_to(self._folder)))
        return skipped


def load(paths: Iterable[str | Path], cache: ClusterCache, tell: Tell = log.warning) -> None:
    """Load the objects of the files into an empty cache; other kinds are ignored."""
    fill(cache, (found for path in paths for found in objects(path, tell)))


def fill(cache: ClusterCache, found: Iterable[tuple[str, str, Object]]) -> None:
    """Put objects, each with its kind and key, into an empty cache."""
    stores = dict(zip(KINDS, (store for _, store in cache.stores()), strict=True))
    seen: set[tuple[str, str]] = set()
    for kind, key, obj in found:
        if (kind, key) in seen:
            raise ManifestError(f"{kind} {key!r} is defined twice: remove one")
        seen.add((kind, key))
        stores[kind].put(key, obj)


def objects(path: str | Path, tell: Tell = log.warning) -> Iterator[tuple[str, str, Object]]:
    """Kind, key and object of everything in a file or folder that a cluster is made of."""
    for file, kind, item in items(path, KINDS, tell):
        yield kind, *decoded_for_cache(file, kind, item)


def objects_in(file: Path, document: Plain) -> Iterator[tuple[str, str, Object]]:
    """The same for a document that is a part of a file."""
    for kind, item in _items(file, document, KINDS):
        yield kind, *decoded_for_cache(file, kind, _placed(kind, item))


def items(
    path: str | Path, kinds: Collection[str], tell: Tell = log.warning
) -> Iterator[tuple[Path, str, dict[str, Plain]]]:
    """File, kind and content of every object of these kinds, including objects in Lists."""
    for file, document in read(Path(path), tell):
        for kind, item in _items(file, document, kinds):
            yield file, kind, _placed(kind, item)


def read(path: Path, tell: Tell = log.warning) -> Iterator[tuple[Path, Plain]]:
    """The documents of a file, or of all manifests in a folder, each with its file."""
    skipped = Skipped(path)
    for file in files(path):
        if not skipped.is_template(file):
            for document in _documents_of(file, skipped):
                yield file, document
    skipped.report(tell)


def decoded(file: Path, kind: str, item: dict[str, Plain], shape: type[T]) -> T:
    """An object of a file, decoded as `shape`."""
    try:
        return nulls.convert(documents.bounded(item), shape)
    except DocumentError as exc:
        raise _wrong(file, kind, item, exc) from exc
    except msgspec.ValidationError as exc:
        problem = shapes.first_problem(item, shape, exc, Words())
        raise _wrong(file, kind, item, problem) from exc


def decoded_for_cache(file: Path, kind: str, item: dict[str, Plain]) -> tuple[str, Object]:
    """Key and object, as the cluster cache keeps them."""
    obj = _decoded(file, kind, item)
    if obj.metadata is None or not obj.metadata.name:
        raise ManifestError(f"{file}: a {kind} has no metadata.name")
    return key_of(obj.metadata), obj


def text_of(file: str | Path) -> str:
    """The text of a file, or of standard input, which can be named more than once."""
    if str(file) == STANDARD_INPUT:
        return _all_of(sys.stdin)
    return Path(file).read_text(encoding="utf-8")


@functools.lru_cache(maxsize=1)
def _all_of(stream: TextIO) -> str:
    return stream.read()


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


def _documents_of(file: Path, skipped: Skipped) -> Sequence[Plain]:
    try:
        text = text_of(file)
    except OSError as exc:
        raise ManifestError(f"{file}: cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ManifestError(f"{file}: {exc}") from exc
    try:
        parsed = documents.parse_manifests(text, _FILE_BYTES)
    except DocumentError as exc:
        if skipped.is_foreign(file, text):
            return ()
        raise ManifestError(f"{file}: {exc}") from exc
    return () if skipped.is_without_objects(file, parsed) else parsed


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
    if kind != "Pod":
        return decoded(file, kind, item, KINDS[kind])
    decoded(file, kind, item, Pod)  # checks the labels, which are left undecoded below
    try:
        return _PLACED_POD.decode(msgspec.json.encode(item))
    except msgspec.ValidationError as exc:
        problem = shapes.first_problem(item, PlacedPod, exc, Words())
        raise _wrong(file, kind, item, problem) from exc


def _wrong(file: Path, kind: str, item: dict[str, Plain], why: object) -> ManifestError:
    metadata = item.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return ManifestError(f"{file}: {kind} {name!r}: {why}")
