"""AdmissionReview v1: decodes the request, encodes the response.

Objects of other kinds, deletions and subresources are always allowed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from extender.errors import BadRequestError
from extender.framework.interface import Settings
from extender.model.nulls import Decoder
from extender.model.workloads import KINDS, Ruled
from extender.review import fields
from extender.review.fields import FieldError
from extender.review.validation import Report, Review

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"
_NULL: Final = Raw(b"null")
# Operations without a new object that could have rules.
_NOT_JUDGED: Final = frozenset({"DELETE", "CONNECT"})

T = TypeVar("T")


class ObjectKind(Struct, frozen=True, gc=False):
    """Group and kind of an object."""

    group: str = ""
    kind: str = ""


class AdmissionRequest(Struct, frozen=True, gc=False, rename="camel"):
    """The request of the API server; objects stay raw until their kind is known."""

    uid: str
    kind: ObjectKind
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    operation: str = ""
    object: Raw = _NULL
    old_object: Raw = _NULL


class _AdmissionReview(Struct, frozen=True, gc=False, rename="camel"):
    api_version: str
    kind: str
    request: AdmissionRequest | None


class _Cause(Struct, frozen=True, gc=False):
    reason: str
    message: str
    field: str


class _Details(Struct, frozen=True, gc=False, omit_defaults=True):
    name: str
    kind: str
    causes: tuple[_Cause, ...]
    group: str = ""


class _Status(Struct, frozen=True, gc=False):
    message: str
    details: _Details
    status: str = "Failure"
    reason: str = "Invalid"
    code: int = 422


class _AdmissionResponse(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    uid: str
    allowed: bool
    status: _Status | None = None
    warnings: tuple[str, ...] = ()
    patch_type: str = ""
    patch: bytes = b""  # JSON; written as base64


class _Answer(Struct, frozen=True, gc=False, rename="camel"):
    response: _AdmissionResponse
    api_version: str = API_VERSION
    kind: str = KIND


_REVIEW: Final[Decoder[_AdmissionReview]] = Decoder(_AdmissionReview)
_OBJECTS: Final[Mapping[tuple[str, str], Decoder[Ruled]]] = {
    at: Decoder(kind) for at, kind in KINDS.items()
}
_ENCODER: Final = msgspec.json.Encoder()


def decode(body: bytes) -> AdmissionRequest:
    """The request of a review; BadRequestError if the body is not one."""
    try:
        body.decode()
    except UnicodeDecodeError as exc:
        raise BadRequestError(f"the body is not UTF-8: {exc.reason} at byte {exc.start}") from exc
    review = _decoded(_REVIEW, body, KIND)
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise BadRequestError(
            f"the body is {review.kind[:64]!r} of {review.api_version[:64]!r},"
            f" not an {KIND} of {API_VERSION}"
        )
    if review.request is None:
        raise BadRequestError(f"the {KIND} cannot be read: it has no request")
    return review.request


def judged(request: AdmissionRequest, settings: Settings) -> Review | None:
    """The object of a request, ready for validation; None if there is nothing to validate."""
    decoder = _OBJECTS.get((request.kind.group, request.kind.kind))
    if decoder is None or request.sub_resource or request.operation in _NOT_JUDGED:
        return None
    if _is_null(request.object):
        return None
    new: Ruled = _decoded(decoder, request.object, "object")
    old: Ruled | None = (
        None if _is_null(request.old_object) else _decoded(decoder, request.old_object, "oldObject")
    )
    return Review(new, old, settings)


def kind_label(request: AdmissionRequest) -> str:
    """The kind for a metric label; `other` for kinds without rules, which bounds the label."""
    kind = request.kind
    return kind.kind if (kind.group, kind.kind) in KINDS else "other"


def encode(request: AdmissionRequest, report: Report) -> bytes:
    """The response to a request."""
    status = _status(request, report.errors) if report.errors else None
    warnings = tuple(map(str, report.warnings))
    response = _AdmissionResponse(request.uid, not report.errors, status, warnings)
    return _ENCODER.encode(_Answer(response))


def encode_patch(request: AdmissionRequest, operations: Sequence[Mapping[str, Any]]) -> bytes:
    """The response that lets an object in, changed by a JSON patch."""
    response = _AdmissionResponse(request.uid, allowed=True)
    if operations:
        patch = _ENCODER.encode(operations)
        response = replace(response, patch_type="JSONPatch", patch=patch)
    return _ENCODER.encode(_Answer(response))


def _status(request: AdmissionRequest, errors: Iterable[FieldError]) -> _Status:
    found = tuple(errors)
    causes = tuple(_Cause(error.reason, error.message, error.field) for error in found)
    details = _Details(request.name, request.kind.kind, causes, request.kind.group)
    return _Status(fields.summary(found), details)


def _is_null(raw: Raw) -> bool:
    return bytes(raw).strip() in (b"null", b"")


def _decoded(decoder: Decoder[T], data: bytes | Raw, what: str) -> T:
    try:
        return decoder.decode(data)
    except RecursionError as exc:
        raise BadRequestError(f"the {what} is nested too deeply") from exc
    except (msgspec.DecodeError, UnicodeError) as exc:
        raise BadRequestError(f"the {what} cannot be read: {exc}") from exc
