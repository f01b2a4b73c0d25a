"""The doors of `leeway controller`, with a real client."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import trustme
from prometheus_client import CollectorRegistry

from extender.cluster.source import State
from extender.config.schema import Address, Config, Listen, TLSFiles
from extender.metrics import Metrics
from extender.review import admission
from extender.review.admission import AdmissionRequest
from extender.server.controller_listeners import ControllerListeners
from extender.server.webhook import AdmissionDoor
from extender.verbs.cel_budget import CelBudget

FREE = Address("127.0.0.1", 0)
REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {"uid": "r", "kind": {"group": "", "kind": "Pod"}, "operation": "CREATE"},
}


class Listed:
    """A cluster that is listed."""

    def state(self) -> State:
        return State(None, "3 nodes")


class Doors:
    """Listeners that are open, and how a client reaches them."""

    def __init__(self, ports: dict[str, int], session: aiohttp.ClientSession) -> None:
        self.ports = ports
        self._session = session

    async def get(self, path: str) -> tuple[int, str]:
        async with self._session.get(f"http://127.0.0.1:{self.ports['ops']}{path}") as response:
            return response.status, await response.text()

    async def post(self, path: str, body: object) -> tuple[int, str]:
        url = f"https://127.0.0.1:{self.ports['admission']}{path}"
        async with self._session.post(url, json=body) as response:
            return response.status, await response.text()


class Hold:
    """Keeps a review waiting."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()


@contextlib.asynccontextmanager
async def opened(folder: Path, hold: Hold | None = None) -> AsyncIterator[Doors]:
    authority = trustme.CA()
    certificate, key = folder / "tls.crt", folder / "tls.key"
    issued = authority.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(str(certificate))
    issued.private_key_pem.write_to_path(str(key))
    files = TLSFiles(str(certificate), str(key))
    config = Config(listen=Listen(ops=FREE, admission=FREE), admission_tls=files)
    registry = CollectorRegistry()
    settings = config.settings()

    async def mutate(asked: AdmissionRequest) -> bytes:
        if hold is not None:
            hold.begun.set()
            await hold.go_on.wait()
        return admission.encode_patch(asked, [{"op": "remove", "path": "/x"}])

    cel = CelBudget(settings)
    door = AdmissionDoor(
        settings, cel, limits=config.limits, metrics=Metrics(registry), mutate=mutate
    )
    listeners = ControllerListeners(
        config,
        door,
        registry=registry,
        source=Listed(),
        checks={"leader": lambda: (None, "leading")},
    )
    context = ssl.create_default_context()
    authority.configure_trust(context)
    connector = aiohttp.TCPConnector(ssl=context)
    with cel.running():
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            listeners.running() as listening,
        ):
            yield Doors({each.name: each.address.port for each in listening}, session)


async def test_the_operator_sees_health_leader_and_metrics(tmp_path: Path) -> None:
    async with opened(tmp_path) as doors:
        ready = await doors.get("/readyz?verbose")
        metrics = await doors.get("/metrics")
        status = await doors.get("/status")

    assert ready[0] == 200
    assert "[+]leader ok\n    leading\n" in ready[1]
    assert "leeway_build_info" in metrics[1]
    assert '"cluster": "3 nodes"' in status[1]


async def test_the_api_server_is_answered_on_both_paths(tmp_path: Path) -> None:
    async with opened(tmp_path) as doors:
        validated = await doors.post("/admission/validate", REVIEW)
        mutated = await doors.post("/admission/mutate", REVIEW)
        garbage = await doors.post("/admission/mutate", [])
        elsewhere = await doors.post("/filter", {})

    assert validated[0] == mutated[0] == 200
    assert '"patchType":"JSONPatch"' in mutated[1]
    assert (garbage[0], elsewhere[0]) == (400, 404)


async def test_what_has_begun_is_answered_before_it_closes(tmp_path: Path) -> None:
    hold = Hold()
    stack = contextlib.AsyncExitStack()
    doors = await stack.enter_async_context(opened(tmp_path, hold))
    asked = asyncio.create_task(doors.post("/admission/mutate", REVIEW))
    await hold.begun.wait()
    closing = asyncio.create_task(stack.aclose())
    not_ready = await doors.get("/readyz")
    while not_ready[0] == 200:
        not_ready = await doors.get("/readyz")
    hold.go_on.set()
    answered = await asked
    await closing

    assert not_ready[0] == 503
    assert "draining" in not_ready[1]
    assert answered[0] == 200
