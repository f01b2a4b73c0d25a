"""What compile mode costs: writes a pod, CPU and memory, how late guards are, pods a second.

Run with `make bench-controller`: it needs the control plane of `make e2e`. The scheduler is the
default one. The large cluster is a stand-in for the API server: etcd would take longer to be
filled than all of the rest.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any, Final

from bench import controller_scale, results
from bench.cluster import JSON
from bench.controller_turns import KINDS, PER_SECOND, PLAIN, Turns
from bench.rounds import quantile
from bench.scheduler_throughput import QPS
from tests.e2e import api, binaries
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane

FILE: Final = "controller.json"
GOAL: Final = 0.97
# So many that the limit is not felt.
UNLIMITED: Final = 1_000
A_FEW: Final = 20
DEFAULT_QPS: Final = 50  # of kube-scheduler's client, and twice as many in a burst
AS_IT_COMES: Final = "scheduler as it comes"
LIFTED: Final = "its client not throttled"
# Writes of a pod of each kind, in the words of the results.
GOALS: Final = {
    "without rules, with the webhook": 0,
    "NoSchedule, with the webhook": 1,
    "NoSchedule, without the webhook": 1,
    "NoExecute, with the webhook": 2,
    "NoExecute, without the webhook": 2,
}


async def measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What was seen on a real control plane."""
    plane = ControlPlane(folder)
    try:
        await plane.start_api()
        async with plane.connected() as admin:
            await api.eventually(lambda: admin.found("/api/v1/namespaces/default"), 30)
            turns = Turns(Cluster(admin, plane, "default"))
            await turns.fill(options.nodes)
            return {
                "writes": await turns.writes(A_FEW),
                "bursts": [await turns.burst(options.burst, n) for n in (PER_SECOND, UNLIMITED)],
                "rates": {
                    AS_IT_COMES: await _rates(turns, options.few, options.rounds, DEFAULT_QPS),
                    LIFTED: await _rates(turns, options.pods, options.rounds, QPS),
                },
            }
    finally:
        await plane.stop()


async def _rates(turns: Turns, pods: int, rounds: int, qps: int) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for number in range(rounds):
        # Another one is first in each round.
        first = number % len(KINDS)
        for kind in (*KINDS[first:], *KINDS[:first]):
            rates[kind].append(round(await turns.rate(kind, pods, qps=qps), 1))
            print(f"round {number + 1}: {kind}: {rates[kind][-1]:.1f} pods/s", flush=True)
    return rates


def ratio(rates: JSON, kind: str) -> float:
    """The median over the rounds: what is placed of a kind, to what is placed of plain pods."""
    pairs = zip(rates[kind], rates[PLAIN], strict=True)
    return float(statistics.median(ours / theirs for ours, theirs in pairs))


def table(found: JSON) -> str:
    """What was seen, as a page shows it."""
    lines = [
        f"Kubernetes {found['kubernetes']}, {found['nodes']} nodes, {found['few']} pods a turn with"
        f" the scheduler as it comes, else {found['pods']}, {found['rounds']} rounds.",
        "",
        "| | seen | goal | |",
        "|---|--:|--:|---|",
        *(_row(*cells) for cells in [*_writes(found), *_bursts(found), *_placed(found)]),
        *(_row(*cells) for cells in _scale(found["scale"])),
    ]
    return "\n".join(lines) + "\n"


Cells = tuple[str, str, str, str]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def _writes(found: JSON) -> list[Cells]:
    rows = []
    for title, goal in GOALS.items():
        least, most = found["writes"][title]["writes"]
        seen = str(most) if least == most else f"{least} to {most}"
        met = least == most == goal
        rows.append((f"writes of a pod: {title}", seen, str(goal), _verdict(met)))
    return rows


def _bursts(found: JSON) -> list[Cells]:
    rows = []
    for burst in found["bursts"]:
        name = f"{burst['pods']} pods at once, {burst['writes_per_second']} writes/s"
        for title, delays in (
            ("bind to guard, p50 / max", burst["late"]),
            ("of it by the limit, p50 / max", burst["by_the_limit"]),
        ):
            p50, most = (quantile(delays, share) for share in (0.5, 1.0))
            rows.append((f"{name}: {title}", f"{p50:.0f} / {most:.0f} ms", "", ""))
    return rows


def _placed(found: JSON) -> list[Cells]:
    rows = []
    for how, rates in found["rates"].items():
        middle = {kind: statistics.median(rates[kind]) for kind in KINDS}
        rows += [(f"pods/s, {how}: {kind}", f"{seen:.1f}", "", "") for kind, seen in middle.items()]
        for kind in KINDS[1:]:
            seen = ratio(rates, kind)
            title = f"{kind}, to {PLAIN}, {how}"
            rows.append((title, f"{seen:.2f}", f">= {GOAL:g}", _verdict(seen >= GOAL)))
    return rows


def _scale(scale: JSON) -> list[Cells]:
    size = f"{scale['nodes']} nodes, {scale['pods']} pods, {scale['ruled']} with rules"
    rows = [("an empty cluster: CPU, RSS", _cost(scale["empty cluster"]), "", "")]
    listed, written, churn = (scale[name] for name in ("listed", "written", "churn"))
    titles = {
        f"{size}: listed in {listed['seconds']:g} s": listed,
        f"{written['writes']} writes in {written['seconds']:g} s": written,
        f"{churn['events']} events in {churn['seconds']:g} s, {churn['writes']} writes": churn,
    }
    rows += [(f"{title}: CPU, RSS", _cost(each), "", "") for title, each in titles.items()]
    return [*rows, ("the most memory", f"{scale['peak']:g} MB", "", "")]


def _cost(figures: JSON) -> str:
    return f"{figures['cpu']:.2f} s, {figures['rss']:.0f} MB"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_controller", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100, help="of the control plane (100)")
    parser.add_argument("--pods", type=int, default=500, help="a turn (500)")
    parser.add_argument("--few", type=int, default=300, help="if throttled (300)")
    parser.add_argument("--burst", type=int, default=200, help="pods placed at once (200)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0, help="of churn (60)")
    parser.add_argument("--large", default="5000,50000,1000", help="nodes, pods, with rules")
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    found = {"machine": results.machine(), "kubernetes": binaries.version()}
    found |= {name: getattr(options, name) for name in ("nodes", "few", "pods", "rounds")}
    nodes, pods, ruled = map(int, options.large.split(","))
    found["scale"] = controller_scale.measured(nodes, pods, ruled, options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        found |= asyncio.run(measured(Path(folder), options))
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
