"""The scheduler's door: POST /filter, /prioritize, /preempt.

One place where a call is answered, measured and logged, and where a fault becomes an answer:
kube-scheduler reads nothing but 200, and only filter has a field to say what went wrong.
"""

import asyncio
import logging
from collections.abc import Collection, Coroutine, Mapping
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import Final, Protocol

from extender.config.schema import Limits
from extender.errors import LeewayError
from extender.server.accepting import Leave
from extender.server.call_log import CallLog
from extender.server.connection import TIME_CHECK_SECONDS, Connection, Request
from extender.server.drain import Owed
from extender.server.hold import RefusalHold
from extender.server.refusal import STATUS_OF_FAULT, Refusal, refusal_of
from extender.server.room import Share
from extender.verbs import filter as filter_verb
from extender.verbs import preempt, prioritize
from extender.verbs.answer import Answer
from extender.verbs.cel_budget import DeferredError
from extender.verbs.context import Context
from extender.wire import extender_v1
from extender.wire.node_stream import Body, NodeStreamReader

log = logging.getLogger("leeway.scheduler")

_NOT_FOUND: Final = Refusal(HTTPStatus.NOT_FOUND, "404: Not Found")
_ONLY_POST: Final = Refusal(
    HTTPStatus.METHOD_NOT_ALLOWED, "405: Method Not Allowed", b"Allow: POST\r\n"
)
_FAULTS: Final = tuple(STATUS_OF_FAULT)


class Verb(Protocol):
    """One of the three verbs."""

    def __call__(self, body: Body, *, may_defer: bool = False) -> Answer: ...


class SchedulerDoor(Owed):
    """Answers kube-scheduler."""

    def __init__(
        self,
        context: Context,
        hold: RefusalHold,
        call_log: CallLog,
        limits: Limits,
        room: Share,
    ) -> None:
        super().__init__()
        self.limits = limits
        self.room = room
        self._context = context
        self._verbs: Mapping[str, Verb] = {
            "/filter": partial(filter_verb.answer, context),
            "/prioritize": partial(prioritize.answer, context),
            "/preempt": partial(preempt.answer, context),
        }
        self._hold = hold
        self._call_log = call_log
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def paths(self) -> Collection[str]:
        """What can be asked for, by POST."""
        return self._verbs

    def connect(self, leave: Leave) -> Connection:
        """For one more client."""
        return Connection(self, asyncio.get_running_loop(), leave)

    async def watch_time(self) -> None:
        """Give up on clients that are late, now and then."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TIME_CHECK_SECONDS)
            for connection in tuple(self._connections):
                connection.check_time(loop.time())

    def drain(self) -> None:
        """Take no more requests: idle connections are closed now, busy ones after their answer."""
        self.draining = True
        for connection in tuple(self._connections):
            if not connection.is_busy:
                connection.close()

    def close(self) -> None:
        """Close every connection."""
        for connection in tuple(self._connections):
            connection.close()

    # What a connection asks.

    def opened(self, connection: Connection) -> None:
        """There is one more connection."""
        self._connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """The connection is no more."""
        self._connections.discard(connection)

    def refusal_of(self, method: bytes, path: str) -> Refusal | None:
        """A path that is not ours is 404, another method 405."""
        if path not in self._verbs:
            return _NOT_FOUND
        return None if method == b"POST" else _ONLY_POST

    def node_stream(self) -> NodeStreamReader:
        """Reads a large body while it arrives."""
        return self._context.node_stream()

    def answer(self, connection: Connection, request: Request) -> asyncio.Task[None] | None:
        """Answer a request now, or by a task."""
        begun = perf_counter()
        try:
            answer = self._verbs[request.path](request.body, may_defer=True)
            held = self._hold.decide(answer)
        except DeferredError as deferred:
            return self._later(connection, self._deferred(connection, request, deferred, begun))
        except Exception as exc:  # noqa: BLE001 - the door: whatever breaks below ends here
            self._fault(connection, request, exc)
            return None
        if held == "hold":
            return self._later(connection, self._held(connection, request, answer, begun))
        self._send(connection, request, answer, begun, held)
        return None

    def refuse(self, connection: Connection, request: Request, refusal: Refusal) -> None:
        """Count and log a refusal, and send it."""
        if refusal.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            self._call_log.refuse(
                request.path[1:], refusal.status, connection.peer, refusal.sentence
            )
        connection.send_sentence(request, refusal)

    # How a call is answered.

    def _later(
        self, connection: Connection, answering: Coroutine[None, None, None]
    ) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(answering)
        self._tasks.add(task)  # nobody else holds it
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _task: connection.finish_task())
        return task

    async def _deferred(
        self, connection: Connection, request: Request, deferred: DeferredError, begun: float
    ) -> None:
        """Have expressions evaluated beside the event loop, and answer then."""
        try:
            await self._context.cel.run(deferred.work)
            answer = self._verbs[request.path](request.body)
            held = self._hold.decide(answer)
        except Exception as exc:  # noqa: BLE001 - the door, as above
            self._fault(connection, request, exc)
            return
        if held == "hold":
            await self._held(connection, request, answer, begun)
        else:
            self._send(connection, request, answer, begun, held)

    async def _held(
        self, connection: Connection, request: Request, answer: Answer, begun: float
    ) -> None:
        """Hold a refusal for news that may be on its way, and answer then."""
        verb = self._verbs[request.path]
        try:
            answer, held = await self._hold.hold(answer, lambda: verb(request.body))
        except Exception as exc:  # noqa: BLE001 - the door, as above
            self._fault(connection, request, exc)
            return
        self._send(connection, request, answer, begun, held)

    def _send(
        self,
        connection: Connection,
        request: Request,
        answer: Answer,
        begun: float,
        held: str | None,
    ) -> None:
        connection.send(request, answer.pieces)
        # Counted in the next turn of the loop, when the answer is on its way.
        asyncio.get_running_loop().call_soon(
            self._call_log.record,
            connection.peer,
            request.user_agent,
            request.path[1:],
            answer,
            perf_counter() - begun,
            held,
        )

    def _fault(self, connection: Connection, request: Request, exc: Exception) -> None:
        verb = request.path[1:]
        if isinstance(exc, _FAULTS):
            self.refuse(connection, request, refusal_of(exc))
            return
        sentence = self._sentence(verb, exc)
        if verb != "filter":
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            self.refuse(connection, request, Refusal(status, sentence))
            return
        self._call_log.refuse(verb, HTTPStatus.OK, connection.peer, sentence)
        connection.send(request, (extender_v1.encode_filter_error(None, sentence),))

    def _sentence(self, verb: str, exc: Exception) -> str:
        """What the client is told; the log has the rest."""
        if not isinstance(exc, LeewayError):
            log.error("internal fault", exc_info=exc, extra={"fields": {"verb": verb}})
            return f"internal fault ({type(exc).__name__}): see the log of the extender"
        cause = exc.__cause__
        if cause is not None and not isinstance(cause, LeewayError):
            log.error("a plugin broke", exc_info=cause, extra={"fields": {"verb": verb}})
        return str(exc)
