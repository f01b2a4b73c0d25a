"""Single requests to the API server: access reviews, its version, a ConfigMap."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import quote

from msgspec import Struct

from extender.cluster.api import Connection
from extender.cluster.resources import decode
from extender.errors import GarbageError
from extender.model.nulls import Decoder

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_DIGITS: Final = re.compile(r"\d+")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """A verb on a resource, for an access review."""

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""  # empty: all namespaces
    name: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        kind = f"{self.resource}.{self.group}" if self.group else self.resource
        kind += f"/{self.subresource}" if self.subresource else ""
        name = f" {self.name}" if self.name else ""
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {kind}{name}{where}"


class _Version(Struct, frozen=True):
    major: str = ""
    minor: str = ""


class _Verdict(Struct, frozen=True):
    allowed: bool = False


class _Review(Struct, frozen=True):
    status: _Verdict


class _ConfigMap(Struct, frozen=True):
    data: dict[str, str] | None = None


async def server_version(connection: Connection) -> tuple[int, int]:
    """Major and minor version of the API server."""
    found = _decoded(await connection.get("/version", {}), _Version)
    major, minor = _DIGITS.match(found.major), _DIGITS.match(found.minor)
    if not major or not minor:
        raise GarbageError(f"the API server has no version: {found}")
    return int(major[0]), int(minor[0])  # managed clusters report a minor version such as 31+


async def config_map(connection: Connection, namespace: str, name: str) -> Mapping[str, str]:
    """The data of a ConfigMap."""
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/configmaps/{quote(name, safe='')}"
    return _decoded(await connection.get(path, {}), _ConfigMap).data or {}


async def is_allowed(connection: Connection, access: Access, user: str = "") -> bool:
    """Whether we, or the user that we impersonate, have this access."""
    attributes = {
        "verb": access.verb,
        "group": access.group,
        "resource": access.resource,
        "namespace": access.namespace,
        "name": access.name,
        "subresource": access.subresource,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    headers = {"Impersonate-User": user} if user else {}
    answer = _decoded(await connection.post(_REVIEWS, review, headers), _Review)
    return answer.status.allowed


def _decoded(body: bytes, kind: type[T]) -> T:
    decoder: Decoder[T] = Decoder(kind)
    return decode(decoder, body)
