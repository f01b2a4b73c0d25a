"""The listeners of `leeway controller`: for the operator, and for the API server's reviews."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

from prometheus_client import CollectorRegistry

from extender.config.schema import Config
from extender.server.entrances import Entrances, Listening
from extender.server.listeners import admission_tls, watch_tls
from extender.server.ops import Stating, ops_app
from extender.server.status import Callers, Check, Readiness
from extender.server.webhook import AdmissionDoor


class ControllerListeners:
    """The ops listener, and the admission listener where one is configured."""

    def __init__(
        self,
        config: Config,
        admission: AdmissionDoor,
        *,
        registry: CollectorRegistry,
        source: Stating,
        checks: Mapping[str, Check],
    ) -> None:
        self._config = config
        self._admission = admission
        self._tls = admission_tls(config)
        self._entrances = Entrances(config.limits)
        readiness = Readiness({**checks, "shutdown": self._check_shutdown})
        self._ops = ops_app(
            readiness, registry=registry, callers=Callers(), source=source, config=config
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[list[Listening]]:
        """Listen; on the way out become unready, finish what has begun, and close."""
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self._entrances.closing())
            listening = await self._listen()
            for task in (watch_tls(self._tls), *self._entrances.watch_time()):
                stack.callback(asyncio.create_task(task).cancel)
            yield listening
            self._admission.draining = True
            self._entrances.close("admission")
            await self._admission.wait_idle(self._config.limits.drain_timeout)

    async def _listen(self) -> list[Listening]:
        listen, entrances = self._config.listen, self._entrances
        listening = [await entrances.serve("ops", self._ops, listen.ops, None)]
        if listen.admission is not None:
            app = self._admission.app()
            listening.append(await entrances.serve("admission", app, listen.admission, self._tls))
        return listening

    def _check_shutdown(self) -> tuple[str | None, str]:
        return ("draining", "") if self._admission.draining else (None, "")
