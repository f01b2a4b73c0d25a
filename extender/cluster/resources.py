"""The resources that can be watched: their paths, their decoders and the keys of objects."""

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Raw, Struct, field

from extender.errors import GarbageError
from extender.model.core_v1 import Node, PendingPod, PlacedPod
from extender.model.nulls import Decoder
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass

# The annotation of the bookmark that ends a streaming list.
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"

# A string and not a tuple: tuples make the cycle collector visit the whole store, which takes
# 10 ms with 150,000 pods.
Key = str


class Meta(Protocol):
    """The metadata that every kind has."""

    @property
    def name(self) -> str: ...

    @property
    def namespace(self) -> str: ...

    @property
    def resource_version(self) -> str: ...


class Object(Protocol):
    """Any object of the API server."""

    @property
    def metadata(self) -> Meta | None: ...


T = TypeVar("T", bound=Object)
D = TypeVar("D")


class _ListMeta(Struct, frozen=True, gc=False, rename="camel"):
    resource_version: str = ""
    continue_: str = field(default="", name="continue")
    remaining_item_count: int | None = None  # an estimate; absent with a selector


class Page(Struct, Generic[T], frozen=True, gc=False):
    """One page of a list."""

    metadata: _ListMeta
    items: list[T] | None = None


class Event(Struct, Generic[T], frozen=True, gc=False):
    """One line of a watch stream with an object."""

    type: str
    object: T


class _MarkMeta(Struct, frozen=True, gc=False, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Mark(Struct, frozen=True, gc=False):
    """The object of a BOOKMARK, which has metadata, or of an ERROR, which has the rest."""

    metadata: _MarkMeta = field(default_factory=_MarkMeta)
    code: int = 0
    message: str = ""


class _MarkEvent(Struct, frozen=True, gc=False):
    type: str
    object: _Mark


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The stream is complete up to this version."""

    version: str
    ends_list: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """The server ends the stream with an error."""

    code: int
    message: str


_MARK: Final[Decoder[_MarkEvent]] = Decoder(_MarkEvent)
_MARKS: Final = (b'{"type":"BOOKMARK"', b'{"type":"ERROR"')
_CHANGES: Final = frozenset({"ADDED", "MODIFIED", "DELETED"})


class Detail(Generic[T]):
    """Decodes some objects a second time, with more of their fields.

    Most objects never need them, and decoding all fields of each takes twice the time.
    """

    def __init__(self, kind: type[T], needs: Callable[[T], bool]) -> None:
        self._needs = needs
        self._page: Decoder[Page[T]] = Decoder(Page[kind])  # type: ignore[valid-type]
        self._event: Decoder[Event[T]] = Decoder(Event[kind])  # type: ignore[valid-type]

    def of_page(self, page: Page[T], body: bytes) -> Page[T]:
        """The page with the details of the objects that need them."""
        if not any(map(self._needs, page.items or ())):
            return page
        with contextlib.suppress(GarbageError):  # what nobody can read has no details
            detailed = decode(self._page, body).items or ()
            pairs = zip(page.items or (), detailed, strict=True)
            return Page(page.metadata, [b if self._needs(a) else a for a, b in pairs])
        return page

    def of_event(self, event: Event[T], line: bytes) -> Event[T]:
        """The event with the details of its object, if that needs them."""
        if self._needs(event.object):
            with contextlib.suppress(GarbageError):
                return decode(self._event, line)
        return event


class Resource(Generic[T]):
    """One resource that the API server lists and watches."""

    def __init__(
        self,
        name: str,
        path: str,
        kind: type[T],
        *,
        page: int = 250,
        params: Mapping[str, str] | None = None,
        detail: "Detail[T] | None" = None,
    ) -> None:
        self.name = name
        self.path = path
        self.page = page  # objects a page; decoding a page blocks the event loop
        self.params = dict(params or {})
        self._detail = detail
        self._page: Decoder[Page[T]] = Decoder(Page[kind])  # type: ignore[valid-type]
        self._event: Decoder[Event[T]] = Decoder(Event[kind])  # type: ignore[valid-type]

    def decode_page(self, body: bytes) -> Page[T]:
        """One page of a list."""
        page = decode(self._page, body)
        return page if self._detail is None else self._detail.of_page(page, body)

    def decode_event(self, line: bytes) -> Event[T] | Bookmark | Fault:
        """One line of a watch stream."""
        if line.startswith(_MARKS):  # every API server writes the type first
            return _mark(decode(_MARK, line))
        event = self._decode_change(line)
        if event.type not in _CHANGES:
            return _mark(decode(_MARK, line))
        return event

    def _decode_change(self, line: bytes) -> Event[T]:
        event = decode(self._event, line)
        if self._detail is None or event.type not in _CHANGES:
            return event
        return self._detail.of_event(event, line)


class _RawPage(Struct, frozen=True, gc=False):
    metadata: _ListMeta
    items: list[Raw] | None = None


class SievedResource(Resource[T]):
    """A resource of which few objects matter: those whose JSON contains one of some texts.

    Of all others only `stub` is decoded, which has the metadata alone. Skipping what is not
    declared takes a fraction of the time, and nothing of it stays in memory.
    """

    def __init__(
        self,
        name: str,
        path: str,
        kind: type[T],
        *,
        stub: type[T],
        texts: Collection[bytes],
        params: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, path, kind, params=params)
        self._texts = tuple(texts)
        self._pages: Decoder[_RawPage] = Decoder(_RawPage)
        self._whole: Decoder[T] = Decoder(kind)
        self._stub: Decoder[T] = Decoder(stub)
        self._stub_event: Decoder[Event[T]] = Decoder(Event[stub])  # type: ignore[valid-type]

    def decode_page(self, body: bytes) -> Page[T]:
        """One page of a list."""
        page = decode(self._pages, body)
        items = [
            decode(self._whole if self._matters(raw) else self._stub, raw)
            for raw in map(bytes, page.items or ())
        ]
        return Page(page.metadata, items)

    def _decode_change(self, line: bytes) -> Event[T]:
        return decode(self._event if self._matters(line) else self._stub_event, line)

    def _matters(self, body: bytes) -> bool:
        return any(text in body for text in self._texts)


def key_of(meta: Meta) -> Key:
    """The key of an object: `namespace/name`, or the name if it has no namespace."""
    return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name


def pod_path(key: Key) -> str:
    """The path of a pod."""
    namespace, _, name = key.partition("/")
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"


def _mark(event: _MarkEvent) -> Bookmark | Fault:
    mark = event.object
    match event.type:
        case "BOOKMARK":
            annotations = mark.metadata.annotations or {}
            ends = annotations.get(INITIAL_EVENTS_END) == "true"
            return Bookmark(mark.metadata.resource_version, ends)
        case "ERROR":
            return Fault(mark.code, mark.message)
        case _:
            raise GarbageError(f"an event of unknown type {event.type[:64]!r}")


def decode(decoder: Decoder[D], body: bytes) -> D:
    """What the API server sent; GarbageError if it cannot be decoded."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise GarbageError(f"{exc} in {body[:128]!r}") from exc


def _is_pending(pod: PlacedPod) -> bool:
    return not pod.spec.node_name


NODES: Final = Resource("nodes", "/api/v1/nodes", Node, page=100)
# A finished pod counts on no node; the selector turns its end into a DELETED event.
PODS: Final = Resource(
    "pods",
    "/api/v1/pods",
    PlacedPod,
    params={"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"},
    detail=Detail[PlacedPod](PendingPod, _is_pending),
)
PERSISTENT_VOLUMES: Final = Resource(
    "persistentvolumes", "/api/v1/persistentvolumes", PersistentVolume
)
PERSISTENT_VOLUME_CLAIMS: Final = Resource(
    "persistentvolumeclaims", "/api/v1/persistentvolumeclaims", PersistentVolumeClaim
)
STORAGE_CLASSES: Final = Resource(
    "storageclasses", "/apis/storage.k8s.io/v1/storageclasses", StorageClass
)
