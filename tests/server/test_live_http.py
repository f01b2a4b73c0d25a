"""Real HTTP on both sides: kube-scheduler's calls in front, a watched API server behind."""

import asyncio
import contextlib
import json
import selectors
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import yaml
from prometheus_client import CollectorRegistry

from extender.cluster.api import ApiServer
from extender.cluster.live import DEGRADED_SECONDS, LiveSource
from extender.cluster.reflector import Backoff
from extender.config.schema import Config, ProfileConfig
from extender.match.gates import FeatureGates
from extender.metrics import Metrics
from extender.server import listeners
from extender.server.hold import BURST, SHARE, RefusalHold
from extender.server.listeners import Server
from extender.verbs.filter import CUT_OFF
from tests.builders import JSON, node_json, pod_json, taint, toleration
from tests.cluster.apiserver import (
    PATHS,
    Answer,
    Clock,
    End,
    ScriptedServer,
    anonymous,
    cached_nodes,
    eventually,
    scripted,
    true_nodes,
)
from tests.serving import ANYWHERE, Client, names_request, nodes_request
from tests.vectors import Row, gates_of, rows

UNKNOWN = "node(s) not yet known to the extender"
SLA = taint("sla", "950")


@pytest.fixture(autouse=True)
def _nobody_wakes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who is asked about twice in a row is asked about because something has happened.
    monkeypatch.setattr("extender.verbs.waiting.SELF_WAKE_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def _gc_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # What a source freezes is the whole process, and here that is the tests too.
    monkeypatch.setattr("gc.freeze", lambda: None)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backoff, "seconds", lambda _: 0.001)


@dataclass(frozen=True)
class Live:
    """A running extender over a scripted API server."""

    api: ScriptedServer
    source: LiveSource
    client: Client

    async def show(self, *nodes: JSON) -> None:
        """Make these the nodes of the cluster, and wait until the extender knows."""
        names = {node["metadata"]["name"] for node in nodes}
        for name in list(self.api.objects["nodes"]):
            if name not in names:
                self.api.delete("nodes", name)
        self.api.put("nodes", *nodes)
        await self.known()

    async def known(self) -> None:
        """Wait until the extender knows what the API server has."""
        await eventually(lambda: cached_nodes(self.source.cache.nodes) == true_nodes(self.api))

        assert cached_nodes(self.source.cache.nodes) == true_nodes(self.api)

    async def counted(self, series: str) -> float:
        """A value of `/metrics`; 0 where there is none."""
        _, text = await self.client.get("/metrics")
        lines = [line for line in text.splitlines() if line.startswith(series + " ")]
        return float(lines[0].rsplit(" ", 1)[1]) if lines else 0.0


@contextlib.asynccontextmanager
async def live(
    config: Config | None = None, *, listed: bool = True, clock: Clock | None = None
) -> AsyncIterator[Live]:
    """An extender that watches; by default one that has listed its empty cluster."""
    config = replace(config or Config(), listen=ANYWHERE)
    metrics = Metrics(CollectorRegistry())
    async with scripted() as api:
        if not listed:
            api.on_watch("nodes", *[Answer(503)] * 10_000)
        source = LiveSource(
            ApiServer(anonymous(api)),
            {"nodes"},
            max_staleness=config.max_staleness,
            on_restart=lambda name, reason: metrics.watch_restarts.labels(name, reason).inc(),
            clock=clock or time.monotonic,
        )
        server = Server(replace(config, refusals="always"), source, metrics)
        async with server.running() as listening, aiohttp.ClientSession() as session:
            scheduler, ops = (f"{each.scheme}://{each.address}" for each in listening)
            if listed:
                await eventually(lambda: source.state().problem is None)
            yield Live(api, source, Client(session, scheduler, ops))


def refusals(**reasons: str) -> JSON:
    return {
        "Nodes": None,
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": reasons,
        "Error": "",
    }


# Readiness.


async def test_before_all_is_listed_nothing_is_guessed() -> None:
    body = json.dumps(names_request(pod_json(), "a")).encode()
    victims = {"a": {"Pods": [{"UID": "u"}], "NumPDBViolations": 0}}
    preemption = {"Pod": pod_json(), "NodeNameToMetaVictims": victims}
    async with live(listed=False) as run:
        filtered = await run.client.ask("filter", names_request(pod_json(), "a"))
        prioritized = await run.client.post("prioritize", body)
        preempted = await run.client.post("preempt", json.dumps(preemption).encode())
        whole = await run.client.ask("filter", nodes_request(pod_json(), node_json("a")))
        ready = await run.client.get("/readyz")
        verbose = await run.client.get("/readyz?verbose")
        synced = await run.counted('leeway_cache_synced{resource="nodes"}')
        _, metrics = await run.client.get("/metrics")

    sentence = "cache not synced: nodes not listed yet"
    assert filtered == refusals() | {"Error": sentence}
    assert prioritized == (500, sentence + "\n")
    assert preempted == (500, sentence + "\n")
    assert [node["metadata"]["name"] for node in whole["Nodes"]["items"]] == ["a"]
    assert ready[0] == verbose[0] == 503
    assert "[-]cluster failed: nodes not listed yet\n" in verbose[1]
    assert synced == 0
    assert 'leeway_cache_objects{resource="nodes"} 0.0' in metrics
    assert "leeway_cache_age_seconds{" not in metrics


async def test_once_all_is_listed_it_is_ready() -> None:
    async with live(listed=False) as run:
        run.api.put("nodes", node_json("a"), node_json("b", SLA))
        run.api.behave()
        await eventually(lambda: run.source.state().problem is None)
        ready = await run.client.get("/readyz")
        verbose = await run.client.get("/readyz?verbose")
        answer = await run.client.ask("filter", names_request(pod_json(), "a", "b"))
        counted = [
            await run.counted(f'leeway_cache_{name}{{resource="nodes"}}')
            for name in ("synced", "objects")
        ]

    assert ready == (200, "ok")
    assert verbose[0] == 200
    assert "[+]cluster ok\n    2 nodes\n" in verbose[1]
    assert answer["NodeNames"] == ["a"]
    assert counted == [1, 2]


async def test_a_lost_api_server_is_no_reason_to_stop_answering() -> None:
    clock = Clock()
    async with live(clock=clock) as run:
        await run.show(node_json("a"))
        await run.api.stop()
        clock.now += DEGRADED_SECONDS + 30
        answer = await run.client.ask("filter", names_request(pod_json(), "a"))
        verbose = await run.client.get("/readyz?verbose")
        ready = await run.client.get("/readyz")
        age = await run.counted('leeway_cache_age_seconds{resource="nodes"}')
        status = await run.client.get("/status")

    assert answer["NodeNames"] == ["a"]
    assert verbose[0] == ready[0] == 200
    assert (
        "[+]cluster ok\n    degraded, nodes: no contact with the API server for 120 s\n"
        in verbose[1]
    )
    assert age == DEGRADED_SECONDS + 30
    assert "degraded" in status[1]


async def test_cut_off_a_refusal_of_every_node_is_an_error_and_any_other_stands() -> None:
    async with live() as run:
        await run.show(node_json("a"), node_json("b", taint("sla", "800")))
        await run.api.stop()
        await eventually(lambda: not run.source.snapshot().current)
        none = await run.client.ask("filter", names_request(pod_json(), "b"))
        some = await run.client.ask("filter", names_request(pod_json(), "a", "b"))
        await run.api.start()
        await eventually(lambda: run.source.snapshot().current)
        again = await run.client.ask("filter", names_request(pod_json(), "b"))

    assert none["Error"] == CUT_OFF
    assert none["NodeNames"] == []
    assert none["FailedAndUnresolvableNodes"] == {}
    assert some["Error"] == ""
    assert list(some["FailedAndUnresolvableNodes"]) == ["b"]
    assert list(again["FailedAndUnresolvableNodes"]) == ["b"]


async def test_past_max_staleness_it_is_not_ready_and_comes_back() -> None:
    clock = Clock()
    async with live(Config(max_staleness=300), clock=clock) as run:
        await run.show(node_json("a"))
        await run.api.stop()
        clock.now += 301
        stale = await run.client.get("/readyz?verbose")
        answer = await run.client.ask("filter", names_request(pod_json(), "a"))
        await run.api.start()
        await eventually(lambda: run.source.state().problem is None)
        well = await run.client.get("/readyz")

    assert stale[0] == 503
    assert "[-]cluster failed: nodes: no contact with the API server for 301 s\n" in stale[1]
    assert answer["NodeNames"] == ["a"]
    assert well == (200, "ok")


async def test_restarts_are_counted_by_their_reason() -> None:
    async with live() as run:
        for reason, step in (("closed", End.CLOSE), ("garbage", b"{]\n"), ("error", End.ABORT)):
            series = f'leeway_watch_restarts_total{{reason="{reason}",resource="nodes"}}'
            before = await run.counted(series)
            await eventually(run.api.streams)
            run.api.disturb("nodes", step)
            await eventually(lambda: not run.api.streams())
            await eventually(run.api.streams)

            assert (before, await run.counted(series)) == (0, 1)


# A node that the scheduler knows and we do not, or no more.


@pytest.mark.parametrize(
    ("pod", "names", "expected"),
    [
        pytest.param(
            pod_json(),
            ["plain", "new"],
            refusals(new=UNKNOWN) | {"NodeNames": ["plain"]},
            id="refused where another passes",
        ),
        pytest.param(
            pod_json(),
            ["new", "spot", "plain", "newer"],
            refusals(new=UNKNOWN, spot="node(s) had untolerated taint {sla: 950}", newer=UNKNOWN)
            | {"NodeNames": ["plain"]},
            id="beside one that is refused",
        ),
        pytest.param(
            pod_json(), ["spot", "new"], refusals() | {"Error": f"1 {UNKNOWN}"}, id="none passes"
        ),
        pytest.param(
            pod_json(), ["new", "newer"], refusals() | {"Error": f"2 {UNKNOWN}"}, id="none is known"
        ),
        pytest.param(
            pod_json(),
            ["spot"],
            refusals(spot="node(s) had untolerated taint {sla: 950}"),
            id="all are known and none passes",
        ),
    ],
)
async def test_a_node_that_is_not_known_yet(pod: JSON, names: list[str], expected: JSON) -> None:
    async with live(Config(catch_up=0.0)) as run:
        await run.show(node_json("plain"), node_json("spot", SLA))
        answer = await run.client.ask("filter", names_request(pod, *names))

    assert answer == expected


async def test_a_pod_that_is_refused_whatever_the_node_is_refused_on_unknown_ones_too() -> None:
    async with live(Config(catch_up=0.0)) as run:
        await run.show(node_json("plain"))
        pod = pod_json(annotated_tolerations="[{")
        answer = await run.client.ask("filter", names_request(pod, "plain", "new"))

    assert answer["Error"] == ""
    assert sorted(answer["FailedAndUnresolvableNodes"]) == ["new", "plain"]


async def test_an_unknown_node_is_scored_lowest_and_left_out_of_preemption() -> None:
    victims = {name: {"Pods": [{"UID": "u"}]} for name in ("plain", "new", "spot")}
    soft = node_json("soft", taint("slow", effect="PreferNoSchedule"))
    async with live() as run:
        await run.show(node_json("plain"), node_json("spot", SLA), soft)
        scores = await run.client.ask(
            "prioritize", names_request(pod_json(), "plain", "new", "soft")
        )
        request = {"Pod": pod_json(), "NodeNameToMetaVictims": victims}
        kept = await run.client.ask("preempt", request)

    assert scores == [{"Host": "plain", "Score": 10}]
    assert list(kept["NodeNameToMetaVictims"]) == ["plain"]


async def test_a_node_that_is_deleted_is_never_returned_as_passing() -> None:
    async with live(Config(catch_up=0.0)) as run:
        await run.show(node_json("a"), node_json("b"))
        first = await run.client.ask("filter", names_request(pod_json(), "a", "b"))
        run.api.delete("nodes", "b")
        await run.known()
        second = await run.client.ask("filter", names_request(pod_json(), "a", "b"))
        alone = await run.client.ask("filter", names_request(pod_json(), "b"))

    assert first["NodeNames"] == ["a", "b"]
    assert second == refusals(b=UNKNOWN) | {"NodeNames": ["a"]}
    assert alone == refusals() | {"Error": f"1 {UNKNOWN}"}


async def test_a_node_that_was_deleted_while_we_were_cut_off_is_gone_after_it() -> None:
    async with live(Config(catch_up=0.0)) as run:
        await run.show(node_json("a"), node_json("b"))
        await run.api.stop()
        run.api.delete("nodes", "b")
        run.api.compact()
        await run.api.start()
        await run.known()
        answer = await run.client.ask("filter", names_request(pod_json(), "a", "b"))

    assert answer["NodeNames"] == ["a"]


async def test_a_node_that_the_request_carries_wins_over_the_cache() -> None:
    async with live() as run:
        await run.show(node_json("a", SLA))
        request = names_request(pod_json(), "a", "new")
        request["Nodes"] = {"items": [node_json("a"), node_json("new")]}
        answer = await run.client.ask("filter", request)

    assert answer["NodeNames"] == ["a", "new"]


# The vectors, asked by name and with whole nodes.


@dataclass(frozen=True)
class Question:
    """A row as a pod and a node, and whether it passes; None: the row is not about that."""

    pod: JSON
    node: JSON
    passes: bool | None

    @property
    def name(self) -> str:
        return str(self.node["metadata"]["name"])

    @property
    def text(self) -> str:
        return json.dumps(self.pod)


def of_toleration(line: int, row: Row) -> Question:
    hard = row["taint"]["effect"] in ("NoSchedule", "NoExecute")
    node = node_json(f"row-{line}", row["taint"])
    return Question(pod_json(row["toleration"]), node, row["tolerates"] if hard else None)


def of_scores(line: int, row: Row) -> Iterator[Question]:
    for node in row["nodes"]:
        passes = row["filter"][node["name"]]["feasible"]
        pod = pod_json(*row["pod_tolerations"])
        yield Question(pod, node_json(f"row-{line}-{node['name']}", *node["taints"]), passes)


def of_affinity(line: int, row: Row) -> Question:
    # Fields are names: a row that asks for them keeps its own.
    by_name = "matchFields" in json.dumps(row["pod_spec_fragment"])
    name = row["node"]["name"] if by_name else f"row-{line}"
    node = node_json(name, labels=row["node"]["labels"])
    pod = pod_json()
    pod["spec"] |= row["pod_spec_fragment"]
    return Question(pod, node, row["required_match"])


def of_cordon(line: int, row: Row) -> Question:
    node = row["node"]
    shown = node_json(f"row-{line}", *node["taints"], unschedulable=node["unschedulable"])
    return Question(pod_json(*row["pod_tolerations"]), shown, row["feasible"])


def questions(name: str) -> dict[FeatureGates, list[Question]]:
    asked: dict[FeatureGates, list[Question]] = {}
    for line, row in enumerate(rows(name), start=1):
        found: list[Question] = []
        if "toleration" in row:
            found.append(of_toleration(line, row))
        elif "nodes" in row:
            found.extend(of_scores(line, row))
        elif "pod_spec_fragment" in row:
            found.append(of_affinity(line, row))
        else:
            found.append(of_cordon(line, row))
        # A node without a name can be carried by a request, but no API server has one.
        asked.setdefault(gates_of(row), []).extend(each for each in found if each.name)
    return asked


def batches(every: Sequence[Question], size: int = 25) -> Iterator[list[Question]]:
    """Questions whose nodes one cluster can hold: no two of one name."""
    batch: dict[str, Question] = {}
    for question in every:
        if len(batch) == size or question.name in batch:
            yield list(batch.values())
            batch = {}
        batch[question.name] = question
    yield list(batch.values())


async def both_ways(
    run: Live, verb: str, pod: JSON, names: Sequence[str], nodes: msgspec.Raw
) -> list[Any]:
    """The same question by name and with whole nodes, in one shape."""
    answers: list[Any] = []
    for asked in ({"NodeNames": names}, {"Nodes": {"items": nodes}}):
        status, text = await run.client.post(verb, msgspec.json.encode({"Pod": pod, **asked}))
        answers.append(msgspec.json.decode(text) if status == 200 else text)
    if verb == "filter":
        items = answers[1].pop("Nodes")["items"]
        answers[1] |= {"Nodes": None, "NodeNames": [node["metadata"]["name"] for node in items]}
    return answers


async def wrong_answers(run: Live, batch: Sequence[Question], verbs: str) -> list[object]:
    """What differs from mode to mode, or from what the row says."""
    wrong: list[object] = []
    names = [question.name for question in batch]
    nodes = msgspec.Raw(msgspec.json.encode([question.node for question in batch]))
    passing: dict[str, list[str]] = {}
    for question in batch:
        if question.text in passing:
            continue
        for verb in verbs.split():
            by_name, whole = await both_ways(run, verb, question.pod, names, nodes)
            wrong += [] if by_name == whole else [(question, by_name, whole)]
            if verb == "filter":
                passing[question.text] = by_name["NodeNames"]
    return wrong + [
        question
        for question in batch
        if question.passes not in (None, question.name in passing[question.text])
    ]


CORDON_ONLY = (ProfileConfig("default-scheduler", {"NodeUnschedulable": 0}),)
BOTH_VERBS = "filter prioritize"


@pytest.mark.parametrize(
    ("name", "profiles", "verbs", "part"),
    [
        pytest.param("tolerations", (), "filter", (0, 3), id="tolerations, first third"),
        pytest.param("tolerations", (), "filter", (1, 3), id="tolerations, second third"),
        pytest.param("tolerations", (), "filter", (2, 3), id="tolerations, last third"),
        pytest.param("semver_tolerations", (), "filter", (0, 1), id="semver_tolerations"),
        pytest.param("taint_score", (), BOTH_VERBS, (0, 1), id="taint_score"),
        pytest.param("node_affinity", (), BOTH_VERBS, (0, 2), id="node_affinity, first half"),
        pytest.param("node_affinity", (), BOTH_VERBS, (1, 2), id="node_affinity, last half"),
        pytest.param("node_affinity_semver", (), BOTH_VERBS, (0, 1), id="node_affinity_semver"),
        pytest.param("unschedulable", CORDON_ONLY, "filter", (0, 1), id="unschedulable"),
    ],
)
async def test_the_same_verdict_by_name_and_with_whole_nodes(
    name: str, profiles: tuple[ProfileConfig, ...], verbs: str, part: tuple[int, int]
) -> None:
    wrong: list[object] = []
    which, parts = part
    for gates, every in questions(name).items():
        mine = every[len(every) * which // parts : len(every) * (which + 1) // parts]
        async with live(Config(gates=gates, profiles=profiles, catch_up=0.0)) as run:
            for batch in batches(mine):
                await run.show(*(question.node for question in batch))
                wrong += await wrong_answers(run, batch, verbs)

    assert wrong == []


# The race of a filter call with the news of the change that caused it. Time is stepped here: it
# passes only while nothing else is left to do, so that no busy machine decides the race.


class SteppedSelector(selectors.DefaultSelector):
    """When told so, does not wait for the next timer but makes it be its time."""

    # In real time, for bytes that are on their way through the kernel.
    GRACE_SECONDS = 0.002

    def __init__(self) -> None:
        super().__init__()
        self.stepped = False
        self.skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not self.stepped or timeout is None or timeout <= 0:
            return super().select(timeout)
        events = super().select(self.GRACE_SECONDS)
        if not events:
            self.skipped += timeout
        return events


class SteppedLoop(asyncio.SelectorEventLoop):
    """An event loop that skips the time in which nothing happens."""

    def __init__(self) -> None:
        self.selector = SteppedSelector()
        self._stood_still = 0.0
        self._stopped_at: float | None = None
        super().__init__(self.selector)

    def time(self) -> float:
        now = self._stopped_at if self._stopped_at is not None else super().time()
        return now + self.selector.skipped - self._stood_still

    def step(self) -> None:
        """From here on, time passes only in steps."""
        self._stopped_at = super().time()
        self.selector.stepped = True

    def skip(self, seconds: float) -> None:
        """Let time pass in which nothing happens."""
        self.selector.skipped += seconds

    def walk(self) -> None:
        """Time passes as it does."""
        if self._stopped_at is not None:
            self._stood_still += super().time() - self._stopped_at
            self._stopped_at = None
            self.selector.stepped = False


Scenario = Callable[[Live], Coroutine[Any, Any, None]]
Stepped = Callable[[Config, Scenario], None]


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> Stepped:
    """Run something over a live extender, on stepped time once all is connected."""
    loops: list[SteppedLoop] = []

    def stepped_loop() -> SteppedLoop:
        loops.append(SteppedLoop())
        return loops[-1]

    def on_stepped_time(source: LiveSource, seconds: float) -> RefusalHold:
        return RefusalHold(source, seconds, clock=loops[-1].time)

    def run_it(config: Config, scenario: Scenario) -> None:
        async def main() -> None:
            # Whoever looks after waiting pods now and then would be all that steps of time lead to.
            async with live(replace(config, nudges_per_second=0)) as run:
                # One connection for the calls, as kube-scheduler has it.
                await run.client.ask("filter", names_request(pod_json()))
                loops[-1].step()
                try:
                    await scenario(run)
                finally:
                    loops[-1].walk()

        with asyncio.Runner(loop_factory=stepped_loop) as runner:
            runner.run(main())

    monkeypatch.setattr(listeners, "RefusalHold", on_stepped_time)
    return run_it


GT_900 = pod_json(toleration("sla", "Gt", "900"))
BEFORE_AND_AFTER = [
    pytest.param(pod_json(), node_json("a", SLA), node_json("a"), id="a taint is removed"),
    pytest.param(
        GT_900, node_json("a", taint("sla", "850")), node_json("a", SLA), id="its value is changed"
    ),
    pytest.param(
        pod_json(), node_json("a", unschedulable=True), node_json("a"), id="a node is uncordoned"
    ),
    pytest.param(
        pod_json(node_selector={"zone": "z"}),
        node_json("a"),
        node_json("a", labels={"zone": "z"}),
        id="a label is set",
    ),
    pytest.param(pod_json(), None, node_json("a"), id="a node is new"),
]


async def overtake(run: Live, pod: JSON, after: JSON, lag: float) -> list[str]:
    """Ask again about a refused pod, because of a change that we hear of only later."""
    pod = pod | {"metadata": pod["metadata"] | {"uid": "u"}}
    asked = names_request(pod, *(["a"] if "a" in run.source.cache.nodes.objects else []), "full")
    assert (await run.client.ask("filter", asked))["NodeNames"] == []
    call = asyncio.create_task(run.client.ask("filter", names_request(pod, "a", "full")))
    asked_at = asyncio.get_running_loop().time()
    await asyncio.sleep(lag)
    run.api.put("nodes", after)
    answer = await call
    names: list[str] = answer["NodeNames"]
    # The news ends the hold: on stepped time the answer is there when it arrives.
    assert not names or asyncio.get_running_loop().time() - asked_at < lag + 0.005
    return names


@pytest.mark.parametrize(
    ("lag", "catch_up_seconds"),
    [
        pytest.param(0.001, 0.05, id="1 ms late"),
        pytest.param(0.01, 0.05, id="10 ms late"),
        pytest.param(0.04, 0.05, id="40 ms late"),
        pytest.param(0.2, 0.25, id="200 ms late, held for 250 ms"),
    ],
)
@pytest.mark.parametrize(("pod", "before", "after"), BEFORE_AND_AFTER)
def test_no_pod_is_refused_that_the_news_lets_in(
    stepped: Stepped,
    lag: float,
    catch_up_seconds: float,
    pod: JSON,
    before: JSON | None,
    after: JSON,
) -> None:
    full = node_json("full", taint("full"))
    passed: list[list[str]] = []
    counts: list[float] = []

    async def scenario(run: Live) -> None:
        for _ in range(2):
            await run.show(full, *([before] if before else []))
            passed.append(await overtake(run, pod, after, lag))
            await run.known()
            await asyncio.sleep(2 * catch_up_seconds / SHARE)  # a quiet cluster
        counts.append(await run.counted('leeway_catch_up_total{result="passed"}'))

    stepped(Config(catch_up=catch_up_seconds), scenario)

    assert passed == [["a"]] * 2
    assert counts == [2]


def test_without_holding_the_race_is_lost(stepped: Stepped) -> None:
    passed: list[list[str]] = []

    async def scenario(run: Live) -> None:
        for _ in range(5):
            await run.show(node_json("a", SLA), node_json("full", taint("full")))
            passed.append(await overtake(run, pod_json(), node_json("a"), 0.01))

    stepped(Config(catch_up=0.0), scenario)

    assert passed == [[]] * 5


def test_news_that_is_later_than_the_hold_is_not_waited_for(stepped: Stepped) -> None:
    passed: list[list[str]] = []

    async def scenario(run: Live) -> None:
        await run.show(node_json("a", SLA), node_json("full", taint("full")))
        passed.append(await overtake(run, pod_json(), node_json("a"), 0.06))

    stepped(Config(catch_up=0.05), scenario)

    assert passed == [[]]


def test_heartbeats_and_other_nodes_do_not_end_a_hold(stepped: Stepped) -> None:
    answers: list[JSON] = []

    async def scenario(run: Live) -> None:
        await run.show(node_json("a", SLA), node_json("b", SLA))
        pod = pod_json()
        pod["metadata"]["uid"] = "u"
        await run.client.ask("filter", names_request(pod, "a"))
        call = asyncio.create_task(run.client.ask("filter", names_request(pod, "a")))
        for beat in range(4):
            await asyncio.sleep(0.005)
            run.api.put("nodes", node_json("a", SLA) | {"status": {"beat": beat}})
            run.api.put("nodes", node_json("b", taint("sla", str(beat))))
        await asyncio.sleep(0.005)
        run.api.put("nodes", node_json("a"))
        answers.append(await call)

    stepped(Config(), scenario)

    assert answers[0]["NodeNames"] == ["a"]


@pytest.mark.parametrize("verb", ["prioritize", "preempt"])
def test_only_filter_is_held(stepped: Stepped, verb: str) -> None:
    counts: list[float] = []

    async def scenario(run: Live) -> None:
        await run.show(node_json("a", SLA))
        body = {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "u"}]}}, "NodeNames": ["a"]}
        begun = asyncio.get_running_loop().time()
        await run.client.ask(verb, {"Pod": pod_json(), **body})
        counts.append(asyncio.get_running_loop().time() - begun)

    stepped(Config(), scenario)

    assert counts[0] < 0.05  # of stepped time


def test_hopeless_pods_asked_again_and_again_are_seldom_held(stepped: Stepped) -> None:
    pods, rounds, seconds_a_call = 500, 3, 0.002
    counts: dict[str, float] = {}
    spent: list[float] = []

    async def scenario(run: Live) -> None:
        await run.show(*(node_json(f"n{i}", SLA) for i in range(3)))
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SteppedLoop)
        begun = loop.time()
        for number in range(pods * rounds):
            pod = pod_json(name=f"hopeless-{number % pods}")
            pod["metadata"]["uid"] = f"uid-{number % pods}"
            answer = await run.client.ask("filter", names_request(pod, "n0", "n1", "n2"))
            assert answer["NodeNames"] == []
            loop.skip(seconds_a_call)
        spent.append(loop.time() - begun)
        for result in ("refused", "skipped", "passed"):
            series = f'leeway_catch_up_total{{result="{result}"}}'
            counts[result] = await run.counted(series)

    stepped(Config(catch_up=0.05), scenario)

    assert counts["passed"] == 0
    # The first time nothing is expected: only who is asked about again is held.
    assert counts["refused"] + counts["skipped"] == pods * (rounds - 1)
    assert counts["refused"] >= BURST - 1
    # Nine tenths of the time go into answering, after what a quiet time had left to spend.
    assert (counts["refused"] - BURST) * 0.05 <= 0.1 * spent[0]


# The command itself.


async def test_the_command_watches_what_its_plugins_need_and_leaves_when_told(
    tmp_path: Path,
) -> None:
    async with scripted() as api:
        api.put("nodes", node_json("a"), node_json("b", SLA))
        document = {
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "there", "user": "me"}}],
            "clusters": [{"name": "there", "cluster": {"server": api.url}}],
            "users": [{"name": "me", "user": {"token": "t"}}],
        }
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "extender", "serve"),
            *("--kubeconfig", str(tmp_path / "kubeconfig")),
            *("--scheduler-listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        urls = [
            "http://"
            + (await process.stdout.readline()).decode().split(" listening on ")[1].split()[0]
            for _ in range(2)
        ]
        async with aiohttp.ClientSession() as session:
            client = Client(session, *urls)
            while (await client.get("/readyz"))[0] != 200:  # noqa: ASYNC110 - it is elsewhere
                await asyncio.sleep(0.01)
            answer = await client.ask("filter", names_request(pod_json(), "a", "b"))
            _, metrics = await client.get("/metrics")
        process.send_signal(signal.SIGTERM)
        code = await process.wait()

    assert answer["NodeNames"] == ["a"]
    assert {asked.resource for asked in api.asked} == set(PATHS.values())
    assert 'leeway_cache_objects{resource="nodes"} 2.0' in metrics
    assert code == 0
