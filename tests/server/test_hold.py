"""Which total refusals are held for late news, and for how long: on a clock of its own."""

import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from extender.cluster.pending import PendingPods
from extender.cluster.pod_status import Condition
from extender.cluster.source import NoSource, State
from extender.framework.snapshot import Snapshot
from extender.metrics import CachedResource
from extender.server.hold import BURST, IN_FLIGHT_SECONDS, SHARE, RefusalHold, Result
from extender.verbs.answer import Answer
from tests.builders import a_pod
from tests.serving import FixedSource

SECONDS = 1 / 16  # times that are exact in binary
MS = 1 / 1_024

REFUSED = Answer(
    (b"refused",),
    a_pod(),
    "names",
    nodes=3,
    passed=0,
    resources=frozenset({"nodes"}),
    generation=1,
    expects_news=True,
)
PASSED = replace(REFUSED, pieces=(b"passed",), passed=1)


@dataclass
class News:
    """A source whose changes are on their way, each with the time at which it arrives."""

    arrivals: Sequence[float] = ()
    now: float = 1_000.0
    waits: list[float] = field(default_factory=list)

    @property
    def generation(self) -> int:
        """1, and one more for each change that has arrived."""
        return 1 + sum(at <= self.now for at in self.arrivals)

    def clock(self) -> float:
        return self.now

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        assert "nodes" in names
        if self.generation == since:
            self.waits.append(seconds)
            to_come = [at for at in self.arrivals if at > self.now]
            self.now = min([self.now + seconds, *to_come])
        return self.generation != since

    @property
    def pending(self) -> PendingPods:
        return PendingPods()

    @property
    def activity(self) -> int:
        return self.generation

    async def write_condition(self, key: str, uid: str, condition: Condition) -> None:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield

    def snapshot(self) -> Snapshot:
        return Snapshot(generation=self.generation)

    def state(self) -> State:
        return State(None, "")

    def cached(self) -> Sequence[CachedResource]:
        return ()

    def reload(self) -> None:
        pass


@dataclass
class Judge:
    """Judges again: refuses until the generation at which a node passes."""

    news: News
    passes_at: int = 1_000_000
    calls: int = 0

    def __call__(self) -> Answer:
        self.calls += 1
        generation = self.news.generation
        answer = PASSED if generation >= self.passes_at else REFUSED
        return replace(answer, generation=generation)


def holding(news: News, seconds: float = SECONDS) -> RefusalHold:
    return RefusalHold(news, seconds, clock=news.clock)


def never() -> Answer:
    pytest.fail("must not be judged again")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(PASSED, id="a node passes"),
        pytest.param(replace(REFUSED, nodes=0), id="no node was asked about"),
        pytest.param(replace(REFUSED, generation=None), id="the nodes came with the request"),
        pytest.param(replace(REFUSED, expects_news=False), id="no news can be on its way"),
    ],
)
async def test_what_is_not_held(answer: Answer) -> None:
    news = News(arrivals=[1_000 + MS])

    assert await holding(news).hold(answer, never) == (answer, None)
    assert news.waits == []


async def test_nothing_is_held_when_it_is_switched_off() -> None:
    news = News(arrivals=[1_000 + MS])

    assert await holding(news, 0.0).hold(REFUSED, never) == (REFUSED, None)
    assert news.waits == []


async def test_nothing_is_held_for_a_source_that_hears_of_no_changes() -> None:
    catch_up = RefusalHold(FixedSource(), SECONDS)

    assert await catch_up.hold(REFUSED, never) == (REFUSED, None)


async def test_without_a_watch_no_news_is_on_its_way() -> None:
    catch_up = RefusalHold(NoSource(), SECONDS)

    assert await catch_up.hold(REFUSED, never) == (REFUSED, None)


@pytest.mark.parametrize(
    ("arrivals", "passes_at", "result", "calls", "held"),
    [
        pytest.param([], 2, "refused", 0, 64, id="no news"),
        pytest.param([10], 2, "passed", 1, 10, id="the news that lets a node pass"),
        pytest.param([0], 2, "passed", 1, 0, id="the news came while we judged"),
        pytest.param([10, 30], 3, "passed", 2, 30, id="first the wrong news, then the right"),
        pytest.param([10, 30], 4, "refused", 2, 64, id="only the wrong news"),
        pytest.param([65], 2, "refused", 0, 64, id="the news is too late"),
        pytest.param(range(1, 100), 1_000, "refused", 64, 64, id="a flood of news"),
    ],
)
async def test_a_total_refusal_is_held_for_news(
    arrivals: Sequence[int], passes_at: int, result: Result, calls: int, held: int
) -> None:
    news = News([1_000 + at * MS for at in arrivals])
    judge = Judge(news, passes_at)
    answer, found = await holding(news).hold(REFUSED, judge)

    assert found == result
    assert (answer.passed > 0) == (result == "passed")
    assert judge.calls == calls
    assert news.now == 1_000 + held * MS


async def test_a_node_that_is_certain_to_come_is_waited_for_longer() -> None:
    news = News([1_000 + 200 * MS])
    unknown = replace(REFUSED, error="1 node(s) not yet known to the extender")
    answer, found = await holding(news).hold(unknown, Judge(news, 2))

    assert (answer.passed, found) == (1, "passed")
    assert news.now == 1_000 + 200 * MS


async def test_an_answer_that_knows_not_every_node_is_held_too() -> None:
    news = News([1_000 + 10 * MS])
    unknown = replace(REFUSED, error="1 node(s) not yet known to the extender")
    answer, result = await holding(news).hold(unknown, Judge(news, 2))

    assert (answer.body, result) == (b"passed", "passed")


async def test_a_source_that_loses_its_cluster_ends_the_wait() -> None:
    news = News([1_000 + 10 * MS, 1_000 + 20 * MS])
    lost = replace(REFUSED, generation=None, error="cache not synced")
    answer, result = await holding(news).hold(REFUSED, lambda: lost)

    assert (answer, result) == (lost, "refused")
    assert news.now == pytest.approx(1_000 + 10 * MS)


async def test_a_pod_that_waits_for_one_in_flight_waits_longer() -> None:
    waiting = replace(REFUSED, unsettled=True)
    news = News([1_000 + 900 * MS])
    answer, result = await holding(news).hold(waiting, Judge(news, 2))
    late = News([1_000 + 1_100 * MS])

    assert (answer.body, result) == (b"passed", "passed")
    assert (await holding(late).hold(waiting, never))[1] == "refused"
    assert late.waits == [IN_FLIGHT_SECONDS]


async def test_when_it_is_known_where_the_other_went_a_refusal_is_held_like_any_other() -> None:
    waiting = replace(REFUSED, unsettled=True)
    news = News([1_000 + 100 * MS])
    answer, result = await holding(news).hold(waiting, Judge(news))

    assert (answer.body, result) == (b"refused", "refused")
    assert news.now == 1_000 + 100 * MS + SECONDS


async def test_waiting_for_pods_in_flight_has_an_allowance_of_its_own() -> None:
    news = News()
    catch_up = holding(news)
    waiting = replace(REFUSED, unsettled=True)
    found = [(await catch_up.hold(waiting, never))[1] for _ in range(int(BURST) + 2)]

    assert found == ["refused"] * int(BURST) + ["skipped"] * 2
    assert await results(catch_up, 1) == ["refused"]


async def test_a_pod_waits_for_one_in_flight_although_catch_up_is_switched_off() -> None:
    news = News([1_000 + 10 * MS])
    waiting = replace(REFUSED, unsettled=True)
    _, result = await holding(news, 0.0).hold(waiting, Judge(news, 2))

    assert result == "passed"


async def results(
    catch_up: RefusalHold, calls: int, between: Callable[[], None] = lambda: None
) -> list[Result | None]:
    found = []
    for _ in range(calls):
        found.append((await catch_up.hold(REFUSED, never))[1])
        between()
    return found


async def test_after_a_quiet_time_some_are_held_in_a_row() -> None:
    news = News()
    found = await results(holding(news), 20)

    assert found == ["refused"] * int(BURST) + ["skipped"] * (20 - int(BURST))


async def test_what_was_held_comes_back_with_time() -> None:
    news = News()
    catch_up = holding(news)
    await results(catch_up, 20)
    found = []
    for _ in range(3):
        news.now += 1.01 * SECONDS / SHARE
        found += await results(catch_up, 2)

    assert found == ["refused", "skipped"] * 3


async def test_no_quiet_time_is_long_enough_for_more_than_a_burst() -> None:
    news = News()
    catch_up = holding(news)
    news.now += 1_000_000
    found = await results(catch_up, 20)

    assert found.count("refused") == BURST


async def test_news_that_comes_soon_costs_little() -> None:
    news = News([1_000 + (100 * i + 2) * MS for i in range(100)])
    catch_up = holding(news)
    found = []
    for _ in range(100):
        refused = replace(REFUSED, generation=news.generation)
        found.append((await catch_up.hold(refused, Judge(news, passes_at=1)))[1])
        news.now += 98 * MS

    assert found == ["passed"] * 100


@pytest.mark.parametrize("seconds", [1 / 64, 1 / 16, 1 / 4])
@pytest.mark.parametrize("call", [MS / 2, 2 * MS, 20 * MS], ids=lambda s: f"{s} s a call")
async def test_hopeless_pods_keep_nine_tenths_of_their_rate(seconds: float, call: float) -> None:
    news = News()
    catch_up = holding(news, seconds)

    def takes_time() -> None:
        news.now += call

    calls = int(15 / call)
    found = await results(catch_up, calls, takes_time)
    held = news.now - 1_000 - calls * call

    assert found.count("refused") * seconds == held
    # After a burst.
    assert held - BURST * seconds <= 0.1 * (news.now - 1_000)
    assert "refused" in found[len(found) // 2 :]


async def test_on_a_clock_of_any_age_a_refusal_is_held() -> None:
    """The sum of a time and a duration, less the time, is not always the duration."""
    found = set()
    for age in range(1, 500):
        news = News(now=age / 3)
        catch_up = holding(news, 0.05)
        found.add((await catch_up.hold(REFUSED, never))[1])

    assert found == {"refused"}
