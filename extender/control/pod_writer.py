"""Sends patches of pods to the API server, and says what came of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from msgspec import Struct, field

from extender.cluster.api import JSON_PATCH, ApiServer
from extender.cluster.kept_connection import KeptConnection
from extender.cluster.resources import Key, pod_path
from extender.errors import ApiError
from extender.model.core_v1 import LivePod
from extender.model.nulls import Decoder
from extender.native.patches import Operation

# written: it stands. lost: the pod is not as it was seen, look again. gone: there is no such pod.
# refused: the API server will not have it. failed: it could not do it, for this pod at least.
# unavailable: nobody answers as they should.
Outcome = Literal["written", "lost", "gone", "refused", "failed", "unavailable"]

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_INVALID: Final = 422
# Of one pod, perhaps: a webhook that is asked about it fails, or it is too large to be stored.
_FAILED: Final = 500
_POD: Final[Decoder[LivePod]] = Decoder(LivePod)


class _Details(Struct, frozen=True, gc=False):
    name: str = ""


class _Status(Struct, frozen=True, gc=False):
    message: str = ""
    details: _Details = field(default_factory=_Details)


_STATUS: Final[Decoder[_Status]] = Decoder(_Status)


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a patch: the HTTP status, and the pod as it is now, or why it is not."""

    outcome: Outcome
    code: int
    pod: LivePod | None = None
    message: str = ""


class PodWriter:
    """Patches pods, several at a time over one connection."""

    def __init__(self, api: ApiServer) -> None:
        self._kept = KeptConnection(api)

    async def write(self, key: Key, operations: Sequence[Operation]) -> Written:
        """Patch one pod; never raises for what the API server does."""
        try:
            async with self._kept.use() as connection:
                body = await connection.patch(pod_path(key), list(operations), JSON_PATCH)
        except ApiError as exc:
            return _failed(exc)
        try:
            return Written("written", 200, _POD.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Written("written", 200)  # the watch will tell

    async def close(self) -> None:
        """Hang up."""
        await self._kept.close()


def _failed(exc: ApiError) -> Written:
    code = exc.status
    if exc.is_temporary and code != _FAILED:
        return Written("unavailable", code, message=str(exc))
    if code == _NOT_FOUND:
        return Written("gone", code)
    try:
        status = _STATUS.decode(exc.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Written("failed" if code == _FAILED else "refused", code, message=str(exc))
    if code == _FAILED:
        return Written("failed", code, message=status.message or str(exc))
    # A failed test says only that the request is in error; what validation refuses has a name.
    if code == _CONFLICT or (code == _INVALID and not status.details.name):
        return Written("lost", code, message=status.message)
    return Written("refused", code, message=status.message or str(exc))
