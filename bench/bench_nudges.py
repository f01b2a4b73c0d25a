"""What waiting pods cost: a storm of changes with 500 pods that nothing lets in, and without.

Run with `make bench-nudges`: it needs the control plane of `make e2e`. A taint flips ten times a
second. Most of the waiting pods fit nowhere. Some are torn: Leeway's rules let them onto a node
that has no room for them, so nudging them is of no use, and Leeway cannot know that. Meanwhile a
client asks about an ordinary pod, as kube-scheduler would, and its calls are timed. Turns
alternate: nobody waits; pods wait and nudges are off; pods wait and nudges are on. The scheduler
asks about each waiting pod after every change, and its calls compete with those that are timed:
the first comparison holds that, too, the second only what nudging costs.
"""

import argparse
import asyncio
import json
import ssl
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import aiohttp

from bench import results
from bench.cluster import JSON
from bench.rounds import MS
from tests.builders import taint, toleration
from tests.e2e import api, binaries, objects
from tests.e2e.api import Api
from tests.e2e.controlplane import ControlPlane, Leeway
from tests.e2e.objects import NUDGED

FILE: Final = "nudges.json"
NODES: Final = "/api/v1/nodes"
PODS: Final = "/api/v1/namespaces/default/pods"
TURN: Final = "node.example.com/turn"
FULL: Final = "full"
NEVER: Final = 1_000_000
FLIP_SECONDS: Final = 0.1
CALLS_A_SECOND: Final = 20
AT_ONCE: Final = 16
GOAL: Final = 1.15
# Growth between the middle and the end of a turn; less is what an allocator keeps back.
FLAT_MIB: Final = 5.0
PER_SECOND: Final = 10
NOBODY: Final = "nobody waits"
OFF: Final = "nudges off"
ON: Final = "nudges on"
TURNS: Final = (NOBODY, OFF, ON)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in one turn."""

    p50: float  # milliseconds of a filter call
    p99: float
    nudges: dict[str, int]
    memory: tuple[float, float, float]  # MiB: at the start, in the middle, at the end
    asked: int  # filter calls of the scheduler


class Storm:
    """Turns on one control plane, each with a new Leeway and a new scheduler."""

    def __init__(self, plane: ControlPlane, admin: Api, options: argparse.Namespace) -> None:
        self._plane = plane
        self._admin = admin
        self._options = options
        self._nodes: int = options.nodes
        self._leeway = Leeway(plane, "leeway-bench", talkative=False)

    async def fill(self) -> None:
        """Have nodes that only an ordinary pod tolerates, and one without room."""
        made = [objects.node(f"n{i}", taint(TURN, "10")) for i in range(self._nodes)]
        made.append(objects.node(FULL, taint(TURN, "0"), cpu="5m"))
        await _some_at_a_time(lambda node: self._admin.create(NODES, node), made)

    async def turn(self, kind: str, seconds: float) -> Seen:
        """One turn, beginning and ending without pods."""
        nudges = f"--nudges-per-second={0 if kind == OFF else PER_SECOND}"
        self._leeway = Leeway(self._plane, "leeway-bench", nudges, talkative=False)
        scheduler = self._plane.new_scheduler(NUDGED, _alone, url=self._leeway.url)
        async with self._plane.beside(self._leeway, scheduler):
            if kind != NOBODY:
                await self._wait_in_vain(self._options.pods - self._options.torn)
            seen = await self._storm(seconds)
        self._plane.forget()
        await self._admin.delete(PODS)
        return seen

    async def _wait_in_vain(self, hopeless: int) -> None:
        """Have pods that wait, each refused at least once."""
        torn = self._options.torn
        needs = [NEVER + i for i in range(hopeless)] + [20] * torn
        made = [_pod(f"waiting-{i}", need) for i, need in enumerate(needs)]
        await _some_at_a_time(lambda pod: self._admin.create(PODS, pod), made)

        async def all_refused() -> bool | None:
            items = (await self._admin.get(PODS))["items"]
            refused = [each for each in items if each["status"].get("conditions")]
            return True if len(refused) == len(made) else None

        if not await api.eventually(all_refused, 120, every=1):
            raise SystemExit("not all pods were refused")

    async def _storm(self, seconds: float) -> Seen:
        """Flip, ask and watch for so many seconds."""
        before, memory = await self._counted(), [self._memory()]
        took: list[float] = []
        flipping = asyncio.create_task(self._flip())
        calling = asyncio.create_task(self._call(took))
        for _ in range(2):
            await asyncio.sleep(seconds / 2)
            memory.append(self._memory())
        for task in (flipping, calling):
            if task.done():
                await task
            task.cancel()
        await asyncio.gather(flipping, calling, return_exceptions=True)
        after = await self._counted()
        grown = {name: after[name] - before.get(name, 0) for name in after}
        asked = grown.pop("filter") - len(took)
        return Seen(_p(took, 50), _p(took, 99), grown, (memory[0], memory[1], memory[2]), asked)

    async def _flip(self) -> None:
        begun, number = time.monotonic(), 0
        while True:
            number += 1
            value = "30" if number % 2 else "0"
            await self._admin.merge(f"{NODES}/{FULL}", {"spec": {"taints": [taint(TURN, value)]}})
            await asyncio.sleep(max(0.0, begun + number * FLIP_SECONDS - time.monotonic()))

    async def _call(self, took: list[float]) -> None:
        """Ask about an ordinary pod, again and again."""
        context = ssl.create_default_context(cafile=str(self._plane.credentials.ca))
        context.load_cert_chain(*map(str, self._plane.credentials.client))
        names = [f"n{i}" for i in range(self._nodes)]
        async with aiohttp.ClientSession(base_url=self._leeway.url) as session:
            while True:
                body = {"Pod": _pod("ordinary", 5), "NodeNames": names}
                since = perf_counter()
                async with session.post("/filter", json=body, ssl=context) as response:
                    answer = await response.json()
                took.append((perf_counter() - since) * MS)
                if len(answer["NodeNames"]) != self._nodes:
                    raise SystemExit("a verdict has changed")
                await asyncio.sleep(1 / CALLS_A_SECOND)

    def _memory(self) -> float:
        child = self._leeway._child
        if child is None:
            raise SystemExit("Leeway does not run")
        status = Path(f"/proc/{child.pid}/status").read_text(encoding="ascii")
        return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)

    async def _counted(self) -> dict[str, int]:
        """Nudges by result, and how many filter calls were answered."""
        url = f"http://127.0.0.1:{self._leeway.ops_port}/metrics"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            lines = (await response.text()).splitlines()
        found = {"filter": 0}
        for line in lines:
            if line.startswith("leeway_nudges_total{"):
                found[line.split('"')[1]] = int(float(line.rsplit(" ", 1)[1]))
            if line.startswith("leeway_requests_total{") and 'verb="filter"' in line:
                found["filter"] += int(float(line.rsplit(" ", 1)[1]))
        return found


def _pod(name: str, need: int) -> JSON:
    """Tolerates nodes whose number is above what it needs."""
    return objects.pod(name, toleration(TURN, "Gt", str(need)), scheduler=NUDGED, cpu="10m")


def _p(took: list[float], percent: int) -> float:
    return round(statistics.quantiles(took, n=100)[percent - 1], 3)


async def _some_at_a_time(act: Callable[[JSON], Awaitable[object]], made: list[JSON]) -> None:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(obj: JSON) -> None:
        async with slots:
            await act(obj)

    await asyncio.gather(*map(one, made))


async def measured(folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """What was seen in each turn of each round."""
    plane = ControlPlane(folder)
    try:
        await plane.start_api()
        async with plane.connected() as admin:
            await api.eventually(lambda: admin.found("/api/v1/namespaces/default"), 30)
            storm = Storm(plane, admin, options)
            await storm.fill()
            return [await _round(storm, number, options) for number in range(options.rounds)]
    finally:
        await plane.stop()


async def _round(storm: Storm, number: int, options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    # Another one is first in each round.
    first = number % len(TURNS)
    for kind in (*TURNS[first:], *TURNS[:first]):
        seen = await storm.turn(kind, options.seconds)
        found[kind] = {field: getattr(seen, field) for field in Seen.__slots__}
        print(f"round {number + 1}, {kind}: {found[kind]}", flush=True)
    return found


def _alone(config: JSON) -> None:
    config["leaderElection"] = {"leaderElect": False}


def judged(found: JSON) -> dict[str, tuple[float, float, bool]]:
    """What each goal is about: what was seen, the goal, whether it is met."""
    rounds, seconds = found["rounds"], found["seconds"]
    to_nobody, to_off = (
        statistics.median(each[ON]["p50"] / each[other]["p50"] for each in rounds)
        for other in (NOBODY, OFF)
    )
    sent = max(
        each[ON]["nudges"].get("sent", 0) + each[ON]["nudges"].get("failed", 0) for each in rounds
    )
    grown = statistics.median(each[ON]["memory"][2] - each[ON]["memory"][1] for each in rounds)
    return {
        "p50 of a filter call, to that if nobody waits": (to_nobody, GOAL, to_nobody <= GOAL),
        "p50 of a filter call, to that with nudges off": (to_off, GOAL, to_off <= GOAL),
        "nudges a second": (sent / seconds, PER_SECOND, sent <= PER_SECOND * (seconds + 1)),
        "MiB grown in the second half of a turn": (grown, FLAT_MIB, grown <= FLAT_MIB),
    }


def table(found: JSON) -> str:
    """What was seen, as a page shows it."""
    lines = [
        f"Kubernetes {found['kubernetes']}, {found['nodes']} nodes, {found['pods']} waiting pods"
        f" of which {found['torn']} are torn, {found['seconds']:g} s a turn,"
        f" {len(found['rounds'])} rounds.",
        "",
        "| | seen | goal | |",
        "|---|--:|--:|---|",
    ]
    lines += [
        f"| {title} | {seen:.2f} | <= {goal:g} | {'met' if met else 'missed'} |"
        for title, (seen, goal, met) in judged(found).items()
    ]
    for kind in TURNS:
        asked = statistics.median(each[kind]["asked"] for each in found["rounds"])
        lines.append(
            f"| calls of the scheduler a second, {kind} | {asked / found['seconds']:.0f} | | |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_nudges", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of a turn (60)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--pods", type=int, default=500, help="that wait (500)")
    parser.add_argument("--torn", type=int, default=50, help="of them, by two filters (50)")
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rounds = asyncio.run(measured(Path(folder), options))
    found = {
        "machine": results.machine(),
        "kubernetes": binaries.version(),
        **{name: getattr(options, name) for name in ("seconds", "nodes", "pods", "torn")},
        "rounds": rounds,
    }
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
