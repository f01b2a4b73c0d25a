"""Answers the API server's question about a pod on its way into the cluster.

What cannot be computed in time is left to the controller: a pod then waits a little longer, and
is never misplaced.
"""

import asyncio
from typing import Final

import msgspec

from extender.control.planner import Planner
from extender.errors import BadRequestError
from extender.metrics import ControllerMetrics
from extender.model.core_v1 import LivePod
from extender.model.nulls import Decoder
from extender.native import carried
from extender.native.mutation import Mutation, Mutator
from extender.review import admission, fields
from extender.review.admission import AdmissionRequest
from extender.review.validation import Report

# The webhook's timeoutSeconds are 2.
SECONDS: Final = 1.0
_POD: Final[Decoder[LivePod]] = Decoder(LivePod)
_UNCHANGED: Final = Mutation("unchanged")


class MutatingWebhook:
    """The answers of one process, leader or not."""

    def __init__(self, mutator: Mutator, planner: Planner, metrics: ControllerMetrics) -> None:
        self._mutator = mutator
        self._planner = planner
        self._metrics = metrics

    async def answer(self, request: AdmissionRequest) -> bytes:
        """The response to a review; BadRequestError if its objects cannot be read."""
        operation = request.operation
        if request.kind.kind != "Pod" or request.kind.group or request.sub_resource:
            operation = ""
        match operation:
            case "CREATE":
                mutation = await self._created(_pod(request.object, "object"))
            case "UPDATE":
                pod = _pod(request.object, "object")
                mutation = await self._updated(pod, _pod(request.old_object, "oldObject"))
            case _:
                mutation = _UNCHANGED
        self._metrics.count_mutation(operation or "other", mutation.result)
        if mutation.refusal:
            path = f"metadata.annotations[{self._planner.settings.annotation_prefix}node-affinity]"
            refusal = fields.forbidden(path, mutation.refusal)
            return admission.encode(request, Report((refusal,)))
        return admission.encode_patch(request, mutation.operations)

    async def _created(self, pod: LivePod) -> Mutation:
        await self._prepared(pod)
        return self._mutator.created(pod, self._planner.taints)

    async def _updated(self, pod: LivePod, old: LivePod) -> Mutation:
        await self._prepared(old)
        await self._prepared(pod)
        return self._mutator.updated(pod, old)

    async def _prepared(self, pod: LivePod) -> None:
        """Do the work that the rules of a pod take, as far as there is time for it."""
        try:
            async with asyncio.timeout(SECONDS / 2):
                prepared = False
                while self._planner.plan(pod, prepared=prepared) is None:
                    await self._planner.prepare(pod)
                    prepared = True
        except TimeoutError:
            return  # what is computed in part is of use to the controller


def _pod(raw: msgspec.Raw, what: str) -> LivePod:
    try:
        pod = _POD.decode(raw)
        carried.tolerations_of(pod)  # they are read where they are needed, and must be readable
    except RecursionError as exc:
        raise BadRequestError(f"the {what} is nested too deeply") from exc
    except (msgspec.DecodeError, UnicodeError) as exc:
        raise BadRequestError(f"the {what} cannot be read: {exc}") from exc
    return pod
