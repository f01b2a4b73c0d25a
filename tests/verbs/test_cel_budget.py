"""Costly CEL expressions: done beside the event loop, within an allowance, and then remembered."""

import asyncio
import gc
import sys
import threading
from collections.abc import Sequence
from typing import Any
from unittest import mock

import aiohttp
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from extender.config.schema import Config, Limits
from extender.framework.interface import Settings
from extender.match.cel.cache import ProgramCache
from extender.match.cel.library.regex import Pattern
from extender.match.cel.plan.patterns import Afford
from extender.match.cel.program import Program, compile_expression
from extender.match.cel.work import Finished, Work
from extender.match.gates import FeatureGates
from extender.match.lru import CacheBudget
from extender.metrics import Metrics
from extender.verbs import cel_budget
from extender.verbs.cel_budget import CelBudget, DeferredError
from tests.builders import JSON, node_json, pod_json, taint
from tests.match.cel import hostile
from tests.serving import Client, FixedSource, ShiftingSource, names_request, nodes_request, served

# Costs 60,000 a taint; estimated at as much, so it is never begun on the event loop.
COSTLY = "lists.range(10000).all(i, i >= 0) && taint.key == 'even'"
CHEAP = "taint.key == 'even'"
NAMES = [f"n{i}" for i in range(6)]
NODES = [node_json(name, taint("odd" if i % 2 else "even", str(i))) for i, name in enumerate(NAMES)]


def pod(*texts: str) -> JSON:
    return pod_json(annotated_tolerations=[{"expression": text} for text in texts])


def preempt_request(*texts: str) -> JSON:
    victims = {name: {"Pods": [{"UID": "v"}], "NumPDBViolations": 0} for name in NAMES}
    return {"Pod": pod(*texts), "NodeNameToMetaVictims": victims}


async def sample(client: Client, name: str, **labels: str) -> float:
    _, text = await client.get("/metrics")
    return next(
        each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
        if each.name == name and labels.items() <= each.labels.items()
    )


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads on which expressions were worked on."""
    threads: list[str] = []
    do = Work.do

    def noted(work: Work, allowance: int, *more: Any) -> Sequence[Finished]:
        threads.append(threading.current_thread().name)
        return do(work, allowance, *more)

    monkeypatch.setattr(Work, "do", noted)
    return threads


@pytest.mark.parametrize("text", [CHEAP, COSTLY], ids=["cheap", "costly"])
async def test_filter_by_an_expression(text: str, done: list[str]) -> None:
    async with served(source=FixedSource(*NODES)) as client:
        first = await client.ask("filter", names_request(pod(text), *NAMES))
        again = await client.ask("filter", names_request(pod(text), *NAMES))
        whole = await client.ask("filter", nodes_request(pod(text), *NODES))

    assert first["NodeNames"] == ["n0", "n2", "n4"]
    assert again == first
    assert [node["metadata"]["name"] for node in whole["Nodes"]["items"]] == ["n0", "n2", "n4"]
    assert done == ([] if text == CHEAP else ["cel_0"])


async def test_prioritize_by_a_costly_expression(done: list[str]) -> None:
    soft = [
        node_json(name, taint("odd" if i % 2 else "even", "", "PreferNoSchedule"))
        for i, name in enumerate(NAMES)
    ]
    async with served(source=FixedSource(*soft)) as client:
        answer = await client.ask("prioritize", names_request(pod(COSTLY), *NAMES))

    assert answer == [{"Host": name, "Score": 10} for name in ("n0", "n2", "n4")]
    assert len(done) == 1


async def test_preempt_by_a_costly_expression(done: list[str]) -> None:
    async with served(source=FixedSource(*NODES)) as client:
        answer = await client.ask("preempt", preempt_request(COSTLY))

    assert list(answer["NodeNameToMetaVictims"]) == ["n0", "n2", "n4"]
    assert len(done) == 1


async def test_others_are_answered_while_an_expression_is_worked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    do = Work.do

    def slow(work: Work, allowance: int, *more: Any) -> Sequence[Finished]:
        begun.set()
        assert go_on.wait(30)
        return do(work, allowance, *more)

    monkeypatch.setattr(Work, "do", slow)
    async with served(source=FixedSource(*NODES)) as client:
        costly = asyncio.create_task(client.ask("filter", names_request(pod(COSTLY), *NAMES)))
        await asyncio.to_thread(begun.wait, 30)
        cheap = await client.ask("filter", names_request(pod(CHEAP), *NAMES))
        assert not costly.done()
        go_on.set()

        assert await costly == cheap


async def test_a_node_that_comes_meanwhile_is_judged_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call is judged anew afterwards, over the cluster as it is then."""
    alike = [node_json(name, taint("even")) for name in NAMES]
    source = ShiftingSource(*alike[:2])
    do = Work.do

    def meanwhile(work: Work, allowance: int, *more: Any) -> Sequence[Finished]:
        source.show(*alike)
        return do(work, allowance, *more)

    monkeypatch.setattr(Work, "do", meanwhile)
    async with served(source=source) as client:
        answer = await client.ask("filter", names_request(pod(COSTLY), *NAMES))

    assert answer["NodeNames"] == NAMES


@pytest.fixture
def stingy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call may evaluate the costly expression about two taints."""
    monkeypatch.setattr(cel_budget, "CALL_ALLOWANCE", 100_000)


@pytest.mark.usefixtures("stingy")
async def test_a_call_that_would_do_too_much_is_an_error_and_the_next_one_goes_on() -> None:
    async with served(source=FixedSource(*NODES)) as client:
        answers = [await client.ask("filter", names_request(pod(COSTLY), *NAMES)) for _ in range(8)]

    errors = [answer["Error"] for answer in answers]
    assert errors[0] == (
        "TaintToleration: the CEL expressions of the pod take more work than one call may do;"
        " what is done is remembered, and the next call goes on from there"
    )
    assert answers[0]["NodeNames"] == []
    assert errors[-1] == ""
    assert answers[-1]["NodeNames"] == ["n0", "n2", "n4"]


@pytest.mark.parametrize("count", [100, 300])
async def test_a_pod_with_many_patterns_that_are_too_large_has_its_verdict(count: int) -> None:
    """None of them is compiled, and so none is kept."""
    texts = hostile.patterns(count, 200)
    async with served(source=FixedSource(*NODES)) as client:
        with mock.patch.object(Pattern, "compile") as compile_:
            answer = await client.ask("filter", names_request(pod(*texts), *NAMES))
        taken = await sample(client, "leeway_cel_compile_seconds_count")

    assert (answer["Error"], answer["NodeNames"]) == ("", [])
    assert taken >= count
    compile_.assert_not_called()


@pytest.mark.parametrize("count", [100, 300])
async def test_a_pod_with_many_large_patterns_is_worked_on_beside_the_loop_in_portions(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    compile_ = Pattern.compile

    def noted(pattern: Pattern) -> None:
        threads.append(threading.current_thread().name)
        compile_(pattern)

    monkeypatch.setattr(Pattern, "compile", noted)
    texts = hostile.patterns(count, 16)
    small = Config(limits=Limits(cache_bytes=32 << 20))
    async with served(small, FixedSource(*NODES)) as client:
        answer = await client.ask("filter", names_request(pod(*texts), *NAMES))
        kept = await sample(client, "leeway_cache_bytes", cache="programs")

    assert "take more work than one call may do" in answer["Error"]
    assert answer["NodeNames"] == []
    # 16 MiB of work in progress. The event loop compiles what its share covers: one of them.
    assert 3 <= threads.count("cel_0") <= 8
    assert len(threads) - threads.count("cel_0") <= 1
    assert 0 < kept <= 32 << 20


@pytest.mark.usefixtures("stingy")
async def test_nothing_is_left_of_calls_that_would_do_too_much() -> None:
    """Their faults must not hold the call, and with it the programs that it knew."""
    async with served(source=FixedSource(*NODES)) as client:
        for number in range(3):
            texts = pod(COSTLY, f"{COSTLY} && {number} == 0", f"{COSTLY} && {number} == 1")
            answer = await client.ask("filter", names_request(texts, *NAMES))
            assert answer["Error"]
        gc.collect()
        left = [each for each in gc.get_objects() if isinstance(each, DeferredError)]

    assert left == []


@pytest.mark.usefixtures("stingy")
async def test_a_score_that_would_do_too_much_is_neutral() -> None:
    async with served(source=FixedSource(*NODES)) as client:
        answer = await client.ask("prioritize", names_request(pod(COSTLY), *NAMES))

    assert answer == []


@pytest.mark.usefixtures("stingy")
async def test_a_preemption_that_would_do_too_much_is_a_fault_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(source=FixedSource(*NODES)) as client:
        url = f"{client.scheduler}/preempt"
        async with client.session.post(url, json=preempt_request(COSTLY)) as response:
            status, text = response.status, await response.text()

    assert status == 500
    assert text.startswith("TaintToleration: the CEL expressions of the pod take more work")
    assert not any(record.exc_info for record in caplog.records)


async def test_the_cache_of_programs_can_be_watched() -> None:
    async with served(source=FixedSource(*NODES)) as client:
        for text in (CHEAP, "taint.kye == ''", CHEAP):
            await client.ask("filter", names_request(pod(text), *NAMES))
        misses = await sample(client, "leeway_cel_cache_misses_total")
        hits = await sample(client, "leeway_cel_cache_hits_total")
        evictions = await sample(client, "leeway_cel_cache_evictions_total")
        compilations = await sample(client, "leeway_cel_compile_seconds_count")

    assert (misses, evictions, compilations) == (2, 0, 2)
    assert hits > 0


async def test_what_cannot_be_evaluated_is_counted_by_where_it_stands() -> None:
    async with served(source=FixedSource(*NODES)) as client:
        await client.ask("filter", names_request(pod("taint.kye == ''"), *NAMES))
        await client.ask("filter", names_request(pod("int(taint.key) == 1"), *NAMES))
        _, text = await client.get("/metrics")

    assert 'leeway_value_parse_failures_total{kind="cel",source="toleration"} 1.0' in text
    # Six taints of nodes, and the one that cordoning stands for.
    assert 'leeway_value_parse_failures_total{kind="cel",source="taint"} 7.0' in text


async def test_an_expression_is_compiled_with_the_cache_of_the_configuration() -> None:
    programs = cel_budget.timed_programs(CacheBudget(20_000), Metrics(CollectorRegistry()))
    for number in range(50):
        programs.problem(f"taint.key == '{number}'")

    assert 2 < len(programs) < 20


async def test_the_switch_interval_is_given_back() -> None:
    before = sys.getswitchinterval()
    async with served(source=FixedSource(*NODES)) as client:
        inside = sys.getswitchinterval()
        assert isinstance(client.session, aiohttp.ClientSession)

    assert inside == pytest.approx(cel_budget.SWITCH_INTERVAL)
    assert sys.getswitchinterval() == before


async def test_with_the_gate_off_an_expression_tolerates_nothing() -> None:
    """It is no empty toleration either, which would tolerate everything."""
    gated = Config(gates=FeatureGates(cel=False))
    async with served(gated, FixedSource(*NODES)) as client:
        answer = await client.ask("filter", names_request(pod("true", "taint.kye"), *NAMES))
        compilations = await sample(client, "leeway_cel_compile_seconds_count")
        _, text = await client.get("/metrics")

    assert answer["NodeNames"] == []
    assert compilations == 0
    assert 'kind="cel"' not in text


async def test_a_cordoned_node_is_tolerated_by_an_expression() -> None:
    cordoned = node_json("n0", unschedulable=True)
    by_key = "taint.key == 'node.kubernetes.io/unschedulable' && taint.value == ''"
    async with served(source=FixedSource(cordoned)) as client:
        passed = await client.ask("filter", names_request(pod(by_key), "n0"))
        refused = await client.ask("filter", names_request(pod("taint.value != ''"), "n0"))

    assert passed["NodeNames"] == ["n0"]
    assert refused["FailedAndUnresolvableNodes"] == {"n0": "node(s) were unschedulable"}


async def test_a_broken_expression_is_logged_once_however_often_it_is_met(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(source=FixedSource(*NODES)) as client:
        for text in ("taint.kye == ''", "int(taint.key) == 1") * 3:
            await client.ask("filter", names_request(pod(text), *NAMES))

    told = [record for record in caplog.records if record.message.startswith("CEL expression")]
    assert [record.__dict__["fields"]["expression"] for record in told] == [
        "taint.kye == ''",
        "int(taint.key) == 1",
    ]


async def test_what_is_dropped_to_make_room_is_counted() -> None:
    small = Config(limits=Limits(cache_bytes=20_000))
    async with served(small, FixedSource(*NODES)) as client:
        for number in range(20):
            text = f"taint.key == '{number}'"
            await client.ask("filter", names_request(pod(text), *NAMES))
        evictions = await sample(client, "leeway_cel_cache_evictions_total")

    assert evictions > 3


# Each is asked about every taint, and none tolerates one.
WILDCARDS = [{"expression": f"taint.key == 'no-{i}'"} for i in range(1, 50)]


async def test_too_many_comparisons_are_an_error_and_the_next_call_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cel_budget, "CALL_BUDGET", len(WILDCARDS) * 4)
    greedy = pod_json(*WILDCARDS)
    async with served(source=FixedSource(*NODES)) as client:
        first = await client.ask("filter", names_request(greedy, *NAMES))
        modest = await client.ask("filter", names_request(pod_json(), *NAMES))
        second = await client.ask("filter", names_request(greedy, *NAMES))

    assert first["Error"] == (
        "TaintToleration: the rules of the pod take more comparisons over these nodes than one"
        " call may do"
    )
    assert (first["NodeNames"], first["FailedAndUnresolvableNodes"]) == ([], {})
    assert modest["Error"] == second["Error"] == ""
    assert modest["FailedAndUnresolvableNodes"].keys() == set(NAMES)
    assert second["FailedAndUnresolvableNodes"].keys() == set(NAMES)


async def test_scores_that_take_too_many_comparisons_are_neutral(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    soft = [
        node_json(name, taint("even", str(i), "PreferNoSchedule"))
        for i, name in enumerate(NAMES[:2])
    ]
    greedy = pod_json(*WILDCARDS)
    monkeypatch.setattr(cel_budget, "CALL_BUDGET", 1)
    async with served(source=FixedSource(*soft)) as client:
        answer = await client.ask("prioritize", names_request(greedy, "n0", "n1"))

    assert answer == []


async def test_work_that_nobody_waits_for_any_more_stops_at_the_next_expression() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    compiled: list[str] = []

    def slow(text: str, afford: Afford) -> Program:
        compiled.append(text)
        begun.set()
        assert go_on.wait(30)
        return compile_expression(text, afford)

    cel = CelBudget(Settings(programs=ProgramCache(compile_with=slow)))
    texts = [f"{COSTLY} && taint.key != '{number}'" for number in range(9)]
    with cel.running():
        call = asyncio.create_task(cel.compiled(texts))
        await asyncio.to_thread(begun.wait, 30)
        queued = asyncio.create_task(cel.in_thread(lambda: compiled.append("queued")))
        await asyncio.sleep(0)
        queued.cancel()
        call.cancel()
        await asyncio.gather(call, queued, return_exceptions=True)
        go_on.set()
        await cel.in_thread(ended.set)

    assert ended.is_set()
    assert compiled == texts[:1]
