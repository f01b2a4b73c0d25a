"""The webhook of compile mode up, down, hanging and slow, as the API server calls it."""

import asyncio
import contextlib
import json
import re
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web

from tests.builders import JSON, taint, toleration
from tests.e2e.api import ApiServerError
from tests.e2e.cluster import Cluster
from tests.e2e.compiling import RECORD, SLA, Rig, carried, compiling, guard, ruled, shown, webhook
from tests.e2e.controlplane import ControlPlane
from tests.e2e.kubectl import ran
from tests.e2e.objects import DEFAULT, node, pod
from tests.e2e.processes import free_port

pytestmark = pytest.mark.usefixtures("default_scheduler")

GOOD = "Equal 950:NoSchedule"
STAYS = "Equal 950:NoExecute"
STRIPPING = "failed calling webhook .*strip-guards.leeway.scheduling"
HIGH = {"level": "high"}


@dataclass
class Listener:
    """Who listens where the API server asks, and about whom it was asked."""

    plane: ControlPlane
    to: int
    port: int = field(default_factory=free_port)
    asked: list[str] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def answering(self, after: float = 0.0) -> AsyncIterator[None]:
        """Each question is noted, and answered by the controller after some seconds."""
        files = self.plane.credentials
        there = ssl.create_default_context(cafile=str(files.ca))

        async def answer(request: web.Request) -> web.Response:
            body = await request.read()
            self.asked.append(json.loads(body)["request"]["name"])
            await asyncio.sleep(after)
            url, kind = f"https://127.0.0.1:{self.to}{request.path}", request.content_type
            async with (
                aiohttp.ClientSession() as session,
                session.post(url, data=body, headers={"Content-Type": kind}, ssl=there) as found,
            ):
                said = web.Response(status=found.status, body=await found.read())
            said.content_type = "application/json"
            said.force_close()  # no connection is left over when this server ends
            return said

        app = web.Application()
        app.router.add_post("/{path:.*}", answer)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*files.server)
        await web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=context).start()
        try:
            yield
        finally:
            await runner.cleanup()

    @contextlib.asynccontextmanager
    async def hanging(self) -> AsyncIterator[None]:
        """Each connection is accepted, noted, and never answered."""
        over = asyncio.Event()

        async def accept(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.asked.append("a connection")
            await over.wait()
            writer.close()

        server = await asyncio.start_server(accept, "127.0.0.1", self.port)
        try:
            yield
        finally:
            over.set()
            server.close()

    def forgotten(self) -> list[str]:
        """Whom it was asked about since the last look."""
        asked, self.asked = self.asked, []
        return asked


@dataclass
class Hooked:
    """A controller with a webhook that a test can break, and two nodes."""

    rig: Rig
    listener: Listener

    async def create(self, made: JSON) -> JSON:
        return await self.rig.cluster.api.create(self.rig.cluster.pods_path, made)

    async def strips(self, made: JSON) -> bool:
        """Whether a copied guard is taken away; else the copy must be refused."""
        try:
            found = await self.create(made)
        except ApiServerError as exc:
            if re.search(STRIPPING, str(exc)):
                return False
            raise
        assert guard() not in map(shown, carried(found))
        assert RECORD not in found["metadata"]["annotations"]
        return True


@pytest.fixture
async def hooked(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Hooked]:
    async with compiling(cluster, plane, extender=True) as rig:
        listener = Listener(plane, rig.controller.port)
        await cluster.add(
            node("low", taint(SLA, "800")), node("high", taint(SLA, "950"), labels=HIGH)
        )
        await rig.knows_nodes(2)
        async with webhook(cluster, listener.port):
            yield Hooked(rig, listener)


def plain(name: str) -> JSON:
    """A pod that Leeway has nothing to do with."""
    native = [toleration(SLA, "Equal", "800", "NoSchedule")]
    return pod(name, native=native, scheduler=DEFAULT, cpu="10m")


def copy(name: str) -> JSON:
    """A copy of a guarded pod, which the guard would let onto every node."""
    copied = [{"key": SLA, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 4}]
    made = ruled(name, "Gt", "900", annotations={RECORD: json.dumps([SLA])})
    made["spec"]["tolerations"] = copied
    return made


async def test_while_it_answers_pods_are_compiled_when_they_are_created(hooked: Hooked) -> None:
    """The controller has nothing left to write, and nobody asks about other pods."""
    names = [f"ruled-{i}" for i in range(8)]
    async with hooked.listener.answering():
        for i in range(8):
            await hooked.create(plain(f"plain-{i}"))
        assert hooked.listener.forgotten() == []
        made = [await hooked.create(ruled(name, "Gt", "900", "NoSchedule")) for name in names]
        assert hooked.listener.forgotten() == names
    placed = {name: await hooked.rig.cluster.placed(name) for name in names}

    assert [GOOD in map(shown, carried(each)) for each in made] == [True] * 8
    assert set(placed.values()) == {"high"}
    assert {await hooked.rig.cluster.placed(f"plain-{i}") for i in range(8)} == {"low"}
    assert await hooked.rig.writes() == 0


@dataclass(frozen=True)
class Seen:
    """What was seen while the webhook behaved in some way."""

    asked_about_others: int
    compiled_at_once: bool
    strips: bool
    on: str


async def test_whatever_it_does_only_pods_with_rules_notice(hooked: Hooked) -> None:
    """Those that were not compiled in time wait for the controller, and nobody is misplaced."""
    listener = hooked.listener
    ways: dict[str, Callable[[], contextlib.AbstractAsyncContextManager[None]]] = {
        "down": contextlib.nullcontext,
        "hanging": listener.hanging,
        "late": lambda: listener.answering(1.5),
        "too-late": lambda: listener.answering(3),
    }

    found = {way: await behaving(hooked, way, start()) for way, start in ways.items()}

    in_time = Seen(0, compiled_at_once=True, strips=True, on="high")
    too_late = Seen(0, compiled_at_once=False, strips=False, on="high")
    assert found == {"down": too_late, "hanging": too_late, "late": in_time, "too-late": too_late}
    assert hooked.rig.seen.wrong == {}


async def behaving(
    hooked: Hooked, way: str, start: contextlib.AbstractAsyncContextManager[None]
) -> Seen:
    """Create pods with rules, without, and a copy, while the webhook behaves in some way."""
    async with start:
        for i in range(3):
            await hooked.create(plain(f"{way}-plain-{i}"))
        about_others = len(hooked.listener.forgotten())
        made, strips = await asyncio.gather(
            hooked.create(ruled(f"{way}-ruled", "Gt", "900")), hooked.strips(copy(f"{way}-copy"))
        )
        if way != "down":
            assert hooked.listener.forgotten()
    return Seen(
        about_others,
        compiled_at_once=GOOD in map(shown, carried(made)),
        strips=strips,
        on=await hooked.rig.cluster.placed(f"{way}-ruled"),
    )


# --- Applied again ---------------------------------------------------------------------------


class Applied:
    """A bare pod that somebody applies again and again, each time with another label."""

    def __init__(self, hooked: Hooked, *flags: str) -> None:
        self._rig = hooked.rig
        self._flags = flags
        self._times = 0

    async def apply(self, *more: str) -> "subprocess.CompletedProcess[str]":
        self._times += 1
        made = ruled("bare", "Gt", "900", labels={"applied": str(self._times)})
        made["spec"]["tolerations"] = [toleration("team", "Equal", "a", "NoSchedule")]
        made["spec"]["nodeSelector"] = HIGH
        namespace = f"--namespace={self._rig.cluster.namespace}"
        arguments = (namespace, "apply", *self._flags, *more, "-f", "-")
        plane = self._rig.cluster.plane
        return await asyncio.to_thread(ran, plane, *arguments, stdin=json.dumps(made))

    async def guarded(self) -> None:
        """The pod has its guard, and a toleration that came later stands before it."""
        assert await self._rig.tolerating("bare", guard())
        await self._rig.cluster.taint("high", taint(SLA, "950", "NoExecute"))
        assert await self._rig.tolerating("bare", STAYS)

    async def found(self) -> tuple[str, list[str], str | None]:
        """The label, all tolerations in their order, and the record."""
        now = await self._rig.cluster.pod("bare")
        assert now is not None
        meta = now["metadata"]
        tolerated = [f"{each.get('key')} {shown(each)}" for each in carried(now)]
        return meta["labels"]["applied"], tolerated, meta["annotations"].get(RECORD)


async def test_a_bare_pod_that_is_applied_again_keeps_its_tolerations(hooked: Hooked) -> None:
    """Its manifest has others. While the webhook is away it is refused, and nothing changes."""
    applied = Applied(hooked)
    async with hooked.listener.answering():
        first = await applied.apply()
        await applied.guarded()
        _, before, record = await applied.found()
        second = await applied.apply()
        assert (first.returncode, second.returncode) == (0, 0), second.stderr
        label, after, still = await applied.found()

        assert label == "2"
        assert sorted(after) == sorted(before)
        assert [text for text in after if SLA in text][-2:] == [
            f"{SLA} {STAYS}",
            f"{SLA} {guard()}",
        ]
        assert still == record == json.dumps([SLA])

    refused = await applied.apply()

    assert refused.returncode == 1
    assert "spec.tolerations: Forbidden" in refused.stderr
    assert await applied.found() == ("2", after, record)
    assert hooked.rig.seen.wrong == {}


async def test_server_side_apply_takes_nothing_away(hooked: Hooked) -> None:
    """It says that somebody else owns the tolerations. Forced, it keeps them nevertheless."""
    applied = Applied(hooked, "--server-side")
    async with hooked.listener.answering():
        assert (await applied.apply()).returncode == 0
        await applied.guarded()
        _, before, record = await applied.found()
        conflict = await applied.apply()
        forced = await applied.apply("--force-conflicts")
        label, after, still = await applied.found()

    assert conflict.returncode == 1
    assert ".spec.tolerations" in conflict.stderr
    assert forced.returncode == 0, forced.stderr
    assert (label, sorted(after), still) == ("3", sorted(before), record)
    assert after[-1] == f"{SLA} {guard()}"
    assert hooked.rig.seen.wrong == {}
