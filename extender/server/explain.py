"""The operator's question: POST /explain, off unless it is enabled.

An explanation takes many small steps, and every other request has its turn in between. It has
compiled expressions of its own: what is asked here cannot spend or evict what scheduling needs.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from http import HTTPStatus
from time import perf_counter
from typing import Final

import msgspec
from aiohttp import web

from extender.cluster.source import ClusterSource
from extender.config.schema import Config
from extender.errors import (
    AllowanceError,
    AnnotationError,
    BadRequestError,
    BudgetError,
    LeewayError,
    ManifestError,
    NotFoundError,
    NotSyncedError,
    RequestTooLargeError,
)
from extender.framework import rules
from extender.framework.snapshot import Snapshot
from extender.match.cel.cache import ProgramCache
from extender.match.lru import CacheBudget
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PodSpec,
)
from extender.model.documents import Plain
from extender.review.explain import owners, templates
from extender.review.explain.explaining import explaining
from extender.review.explain.inquiry import Bounds, Inquiry
from extender.review.explain.schema import Explanation
from extender.review.explain.templates import Subject
from extender.server import bodies, reply
from extender.server.refusal import STATUS_OF_FAULT
from extender.server.room import stranger_limits
from extender.verbs.cel_budget import CelBudget
from extender.verbs.profiles import Profiles

log = logging.getLogger("leeway.explain")

PATH: Final = "/explain"
MAX_BYTES: Final = 262_144
MAX_WAITING: Final = 4
BOUNDS: Final = Bounds(verdicts=500, names=10, fixes=6, rows=200)
# Its programs must not push out those of the scheduler.
_CACHE_BYTES: Final = 4 << 20
_STATUS: Final[dict[type[LeewayError], HTTPStatus]] = {
    **STATUS_OF_FAULT,
    NotFoundError: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotSyncedError: HTTPStatus.SERVICE_UNAVAILABLE,
    AllowanceError: HTTPStatus.SERVICE_UNAVAILABLE,
    BudgetError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
}


# A pod has some ten of them; what is more takes too long in one step.
MAX_RULES: Final = 200
MAX_RULE_TEXT: Final = 16_384
# What a question may compare altogether: it tries many changes, in seconds and step by step.
MAX_WORK: Final = 6_000_000


class Question(msgspec.Struct, frozen=True):
    """The body: a pod, or a workload with a template, and the node to derive a verdict on."""

    pod: msgspec.Raw
    node: str | None = None


_QUESTION: Final = msgspec.json.Decoder(Question)


class ExplainDoor:
    """Answers one question after the other, a bit at a time."""

    def __init__(self, config: Config, source: ClusterSource) -> None:
        self._source = source
        self._profiles = Profiles(config, ProgramCache(CacheBudget(_CACHE_BYTES)))
        self._cel = CelBudget(self._profiles.settings)
        self._limits = stranger_limits(config.limits, MAX_BYTES)
        self._turn = asyncio.Lock()
        self._waiting = 0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Have a thread for expressions at hand."""
        with self._cel.running():
            yield

    async def handle(self, request: web.Request) -> web.Response:
        """One question, and the fault that may come of it."""
        try:
            body = await bodies.read(request, self._limits)
            begun = perf_counter()
            explanation = await self._in_turn(body)
        except tuple(_STATUS) as exc:
            status = next(_STATUS[kind] for kind in type(exc).__mro__ if kind in _STATUS)
            return _refused(request, status, str(exc))
        except Exception as exc:
            log.error("internal fault", exc_info=exc)  # noqa: TRY400 - with its own words
            sentence = f"internal fault ({type(exc).__name__}): see the log of the extender"
            return _refused(request, HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
        pod = explanation.pod
        fields = {
            "pod": f"{pod.namespace}/{pod.name}",
            "nodes": explanation.nodes,
            "passed": explanation.passing,
            "ms": round((perf_counter() - begun) * 1000, 3),
        }
        log.info("explain", extra={"fields": fields})
        encoded = msgspec.json.encode(explanation)
        return web.Response(body=encoded, content_type="application/json")

    async def _in_turn(self, body: bytes) -> Explanation:
        subject, node = _decoded(body)
        _require_few_rules(subject, self._profiles.settings.annotation_prefix)
        if self._waiting >= MAX_WAITING:
            raise NotSyncedError(f"{self._waiting} questions wait already: ask again later")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._explained(subject, node)
        finally:
            self._waiting -= 1

    async def _explained(self, subject: Subject, node: str | None) -> Explanation:
        await self._foresee(subject, self._source.snapshot())
        self._cel.begin_call()
        self._profiles.settings.budget.left = MAX_WORK
        inquiry = Inquiry(
            subject,
            self._profiles.of(subject.pod),
            self._profiles.settings,
            self._source.snapshot(),
            node,
            BOUNDS,
        )
        steps = explaining(inquiry)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                explanation: Explanation = end.value
                return explanation
            await asyncio.sleep(0)

    async def _foresee(self, subject: Subject, snapshot: Snapshot) -> None:
        """Have the expressions of the pod asked about every taint, beside the event loop."""
        with contextlib.suppress(AnnotationError):  # which is then what is explained
            work = self._cel.work_of(subject.pod, (), snapshot)
            if work.jobs:
                await self._cel.run(work)


def _decoded(body: bytes) -> tuple[Subject, str | None]:
    try:
        question = _QUESTION.decode(body)
        pod: Plain = msgspec.json.decode(question.pod)
        if not isinstance(pod, dict):
            raise BadRequestError("pod: must be a Pod, or a workload with a pod template")
        found = list(templates.subjects("pod", {"kind": "Pod", **pod}))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadRequestError(
            f'the body must be {{"pod": {{...}}, "node": "optional"}}: {exc}'
        ) from exc
    except ManifestError as exc:
        raise BadRequestError(str(exc)) from exc
    if len(found) != 1:
        kinds = ", ".join(templates.TEMPLATES)
        raise BadRequestError(f"pod: must be one object of the kinds {kinds}")
    # Leeway has no right to read workloads, but the pod names its own.
    return owners.found(found[0], lambda *_: None), question.node


def _require_few_rules(subject: Subject, prefix: str) -> None:
    spec, meta = subject.pod.spec or PodSpec(), subject.pod.metadata or ObjectMeta()
    affinity = rules.native_affinity(subject.pod) or NodeAffinity()
    terms = [
        *((affinity.required or NodeSelector()).node_selector_terms or ()),
        *(each.preference or NodeSelectorTerm() for each in affinity.preferred or ()),
    ]
    lists = (spec.tolerations, spec.node_selector, spec.topology_spread_constraints, spec.volumes)
    count = len(terms) + sum(len(each or ()) for each in lists)
    count += sum(len(each.match_expressions or ()) + len(each.match_fields or ()) for each in terms)
    texts = [text for name, text in (meta.annotations or {}).items() if name.startswith(prefix)]
    if count > MAX_RULES or max(map(len, texts), default=0) > MAX_RULE_TEXT:
        raise RequestTooLargeError(
            f"the pod has more than {MAX_RULES} rules, or an annotation of more than"
            f" {MAX_RULE_TEXT} characters: use the command leeway explain"
        )


def _refused(request: web.Request, status: HTTPStatus, sentence: str) -> web.Response:
    fields = {"code": status.value, "remote": reply.remote(request), "error": sentence[:300]}
    log.warning("explain", extra={"fields": fields})
    return reply.refusal(request, status, sentence)
