"""The bench runs, says what it promises to say, and notices what became worse. No timings."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench import (
    adversary,
    answers,
    bench_nudges,
    checking,
    cluster,
    golang,
    growth,
    order,
    pages,
    processes,
    results,
    scheduler_throughput,
)
from bench.cases import Scripts
from bench.cluster import encoded
from bench.endurance import Endurance
from bench.growth import Growth
from bench.hostile_traffic import Traffic
from bench.ratios import Ratios, Size
from bench.rounds import FULL, LEAN, LEEWAY, PLAIN
from bench.scheduler_floor import SchedulerFloor
from bench.workloads import Workload, mixed_rules, unopinionated_rules
from tests.builders import JSON

# A dozen servers are started, one after the other.
pytestmark = pytest.mark.timeout(240)

TINY = Size(nodes=12, small=6, whole=3, pods=5, rounds=2, calls=2, refused=4)
CAPTURED = Path(__file__).parent.parent / "golden" / "captured"


def no_go(_: str) -> Path:
    raise golang.NoGoError("go is not installed")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Ratios:
    """Every part, on a tiny cluster, without the Go programs: tests build none."""
    ratios = Ratios(tmp_path_factory.mktemp("bench"), TINY, progress=lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(golang, "build", no_go)
        for part in ratios.parts:
            ratios.measure(part)
    return ratios


@pytest.fixture(scope="module")
def cases(measured: Ratios) -> Mapping[str, Any]:
    return measured.results()


def test_every_case_has_its_servers_and_a_figure_a_round(cases: Mapping[str, Any]) -> None:
    for name, case in cases.items():
        raw, of = case["raw"], case["goal"]["of"]
        assert results.seen(case) > 0 or of == PLAIN, name
        assert all(len(rounds) == TINY.rounds for rounds in raw["rounds"].values()), name
        for who in {LEEWAY, of, LEAN}:
            assert {"p50", "p99", "cpu"} == raw[who].keys(), name
            assert raw[who]["p50"] <= raw[who]["p99"], name


def test_calls_are_counted_as_the_method_says(cases: Mapping[str, Any]) -> None:
    calls = {name: case["raw"]["calls"] for name, case in cases.items()}

    assert calls["filter, 12 names, known rules"] == TINY.rounds * TINY.calls
    assert calls["prioritize, 12 names, new rules"] == TINY.rounds * TINY.calls
    assert calls["filter, 12 distinct taints, CEL, first call"] == TINY.rounds
    assert calls["filter, 12 names, refused, an event before each"] == TINY.refused


def test_every_goal_of_the_project_has_its_case(cases: Mapping[str, Any]) -> None:
    goals = {(case["goal"]["of"], case["goal"]["at_most"]) for case in cases.values()}

    assert goals == {
        *((LEAN, 1.15), (LEAN, 1.25), (LEAN, 1.35)),
        *((FULL, 1.25), (FULL, 1.1)),
        *((LEEWAY, 40), (PLAIN, 2)),  # milliseconds
    }


def test_what_is_not_measured_is_said(measured: Ratios, cases: Mapping[str, Any]) -> None:
    assert measured.not_measured == [
        "kube-scheduler's own client: go is not installed",
        "an extender in Go: go is not installed",
    ]
    found = {"machine": results.machine(), "cases": cases, "not_measured": ["a client: no Go"]}
    assert "**Not measured: a client: no Go.**" in results.markdown(found)


def test_results_are_written_and_read_again(cases: Mapping[str, Any], tmp_path: Path) -> None:
    first, *others = cases
    results.write(tmp_path, {"machine": results.machine(), "cases": cases})
    ratio = {"ratio": {**cases[first]["raw"]["ratio"], LEAN: 99.0}}
    changed = {**cases[first], "raw": cases[first]["raw"] | ratio}
    results.write(tmp_path, {"machine": results.machine(), "cases": {first: changed}})

    written = results.read(tmp_path / results.FILE)["cases"]

    assert results.seen(written[first]) == 99.0
    assert {name: written[name] for name in others} == {name: cases[name] for name in others}
    table = (tmp_path / results.TABLE).read_text(encoding="utf-8")
    assert all(f"| {name} |" in table for name in cases)
    assert "| 99.00x |" in table


@pytest.mark.parametrize("nodes", [1, 15, 16, 100, 5_000])
def test_the_order_is_one_of_kube_schedulers(nodes: int) -> None:
    names = [cluster.name_of(number) for number in range(nodes)]
    chance = random.Random(1)  # noqa: S311 - seeded

    one, other = (order.scheduler_order(names, chance) for _ in range(2))

    assert sorted(one) == sorted(other) == names
    if nodes >= 100:
        assert one != other
        assert order.run_length(one) < 1.2
    if nodes == 5_000:  # a worker takes its chunk in order
        assert order.chunk_size(nodes) == 70
        first_chunk = [name for name in one if name < cluster.name_of(70)]
        assert first_chunk == names[:70]


NAMES = ["a", "b", "c"]
PASSING_ONE = b'{"Nodes":null,"NodeNames":["b"],"FailedNodes":{},"FailedAndUnresolvableNodes":'
REFUSED = json.dumps({"a": answers.REASON, "c": answers.REASON}, separators=(",", ":")).encode()


def test_lean_and_full_filter_answers_come_from_each_other() -> None:
    lean = PASSING_ONE + b'{},"Error":""}'
    full = PASSING_ONE + REFUSED + b',"Error":""}'

    assert answers.lean("filter", full, NAMES) == answers.lean("filter", lean, NAMES) == lean
    assert answers.full("filter", full, NAMES) == answers.full("filter", lean, NAMES) == full


def test_a_total_refusal_is_as_long_when_it_is_lean() -> None:
    refused = {"NodeNames": [], "FailedAndUnresolvableNodes": dict.fromkeys(NAMES, "no")}
    answer = json.dumps(refused).encode()

    assert answers.lean("filter", answer, NAMES) == answer


def test_lean_and_full_scores_come_from_each_other() -> None:
    scored = [{"Host": "a", "Score": 3}, {"Host": "b", "Score": 10}, {"Host": "c", "Score": 3}]
    lean = b'[{"Host":"b","Score":7}]'

    assert answers.lean("prioritize", json.dumps(scored).encode(), NAMES) == lean
    assert answers.lean("prioritize", lean, NAMES) == lean
    assert json.loads(answers.full("prioritize", lean, NAMES)) == [
        {"Host": "a", "Score": 0},
        {"Host": "b", "Score": 7},
        {"Host": "c", "Score": 0},
    ]
    assert answers.full("prioritize", b"[]", []) == b"[]"


def test_the_floor_returns_what_it_was_given_until_it_is_given_something_else() -> None:
    with processes.floor() as floor:
        for text in (b'{"a":1}', b"[]"):
            floor.put("/canned/filter", text)
            assert bytes(floor.connection.post("/filter", b"{}")[1]) == text


@pytest.mark.parametrize("full", [False, True])
def test_the_floor_of_a_scheduler_answers_what_is_due(full: bool) -> None:
    names = ["a", "b", "c"]
    floor = SchedulerFloor(frozenset([b'"b"']), full)
    body = json.dumps({"Pod": {"x": "]"}, "Nodes": None, "NodeNames": names}).replace(" ", "")

    filtered = json.loads(floor.filtered(body.encode()))
    scores = json.loads(floor.prioritized(body.encode()))

    assert filtered["NodeNames"] == ["a", "c"]
    assert filtered["FailedAndUnresolvableNodes"] == ({"b": answers.REASON} if full else {})
    assert scores == ([{"Host": name, "Score": 0} for name in names] if full else [])


def test_the_table_of_a_storm_says_which_goals_are_met() -> None:
    calm = {"p50": 1.0, "nudges": {}, "memory": [80, 80, 80], "asked": 0}
    off = {"p50": 1.4, "nudges": {}, "memory": [80, 81, 81], "asked": 600}
    on = {"p50": 1.5, "nudges": {"sent": 30, "failed": 1}, "memory": [80, 81, 90], "asked": 600}
    one = {bench_nudges.NOBODY: calm, bench_nudges.OFF: off, bench_nudges.ON: on}
    sizes = {"nodes": 300, "pods": 500, "torn": 50, "seconds": 2.0}
    found = {"kubernetes": "v1.36.3", **sizes, "rounds": [one]}

    said = [line.rsplit("|", 4)[2:4] for line in bench_nudges.table(found).splitlines()]

    assert [[cell.strip() for cell in cells] for cells in said[4:]] == [
        ["<= 1.15", "missed"],
        ["<= 1.15", "met"],
        ["<= 10", "missed"],
        ["<= 5", "missed"],
        ["", ""],
        ["", ""],
        ["", ""],
    ]


def test_the_table_of_schedulers_says_which_goals_are_met() -> None:
    size = {
        "rates": {LEEWAY: [96.0, 98.0], LEAN: [100.0, 100.0], FULL: [100.0, 100.0]},
        "cpu_ms": {LEEWAY: [0.8, 0.9], LEAN: [0.5, 0.5], FULL: [0.6, 0.6]},
    }
    found = {"kubernetes": "v1.36.3", "rounds": 2, "sizes": {"1000": size}}

    said = [line.rsplit("|", 4)[1:4] for line in scheduler_throughput.table(found).splitlines()]

    assert [[cell.strip() for cell in cells] for cells in said[-3:]] == [
        ["", "<= 0.9 ms", "met"],
        ["0.97", ">= 0.95", "met"],
        ["0.97", ">= 1", "missed"],
    ]


def test_a_ratio_that_stays_worse_fails_the_check() -> None:
    committed = {"a": a_case(1.2), "b": a_case(1.0)}

    failed = checking.worsened(committed, ["part"], lambda _: {"a": a_case(1.8), "b": a_case(1.1)})

    assert failed == {"a": 1.5}


def test_a_ratio_that_was_worse_once_does_not() -> None:
    committed = {"a": a_case(1.2)}
    seen = iter([1.8, 1.2])

    assert checking.worsened(committed, ["part"], lambda _: {"a": a_case(next(seen))}) == {}


def test_only_the_part_that_was_worse_is_measured_again() -> None:
    committed = {"a": a_case(1.2), "b": a_case(1.2)}
    asked: list[str] = []

    def measure(part: str) -> Mapping[str, JSON]:
        asked.append(part)
        return {part: a_case(2.4 if part == "a" else 1.2)}

    assert checking.worsened(committed, ["a", "b"], measure) == {"a": 2.0}
    assert asked == ["a", "b", "a", "a"]


def test_a_ratio_within_the_margin_passes() -> None:
    committed = {"a": a_case(1.2)}

    assert checking.worsened(committed, ["p"], lambda _: {"a": a_case(1.2 * results.MARGIN)}) == {}


def test_more_time_without_more_cpu_is_the_machine() -> None:
    interrupted = a_case(2.4, cpu=1.2)

    assert checking.worsened({"a": a_case(1.2)}, ["p"], lambda _: {"a": interrupted}) == {}


def a_case(ratio: float, *, cpu: float | None = None) -> JSON:
    figures = {"ratio": {LEAN: ratio}, LEEWAY: {"cpu": cpu or ratio}, LEAN: {"cpu": 1.0}}
    return {"raw": figures, "goal": {"of": LEAN, "at_most": 1.25, "unit": "x"}}


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.name)
def test_a_page_shows_the_results_that_are_committed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert pages.pages()[page] == text
    assert "| filter, " in text


def test_figures_go_between_their_marks() -> None:
    page = "a\n<!-- t -->\nold\n<!-- end of t -->\nb\n"

    assert pages.filled(page, {"t": "new\n"}) == "a\n<!-- t -->\n\nnew\n\n<!-- end of t -->\nb\n"


def test_growth_has_every_line_at_every_point(tmp_path: Path) -> None:
    first = growth.axes(10, points=(4, 10))[0]

    points = Growth(tmp_path, rounds=1, calls=1).measure(first)

    assert [point["nodes"] for point in points] == [4, 10]
    assert all(point[line] > 0 for point in points for line in (*growth.LINES, "floor"))


def test_memory_is_looked_at_from_the_first_request_to_the_last(tmp_path: Path) -> None:
    found = Endurance(tmp_path, requests=60, nodes=10, pods=5).measure()

    assert [asked for asked, _ in found["rss"]] == list(range(61))
    assert found["growth"] == pytest.approx(found["at_the_end"] - found["by_half"], abs=0.11)


def test_the_adversary_takes_every_kind_and_says_what_it_saw(tmp_path: Path) -> None:
    found = adversary.measured(
        tmp_path, 0.02, nodes=10, pods=5, turn_seconds=0.02, quiet_seconds=0.1
    )

    assert found["answers"].keys() == {"200"}
    assert found["grown"].keys() == found["slowest"].keys() == Traffic(10).kinds.keys()
    assert found["peak"] >= found["second_half"] >= 1
    assert adversary.text(found).count("MB |") == len(found["grown"])


def test_hostile_traffic_never_comes_twice_and_could_be_admitted() -> None:
    traffic = Traffic(10)
    for make in traffic.kinds.values():
        one, other = (json.loads(make().body)["Pod"] for _ in range(2))

        assert one["metadata"]["uid"] != other["metadata"]["uid"]
        assert sum(map(len, one["metadata"]["annotations"].values())) < 256 * 1024
        assert len(json.dumps(one)) < 1_500_000


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_bodies_have_the_keys_of_captured_ones_in_their_order(verb: str) -> None:
    captured = json.loads((CAPTURED / f"{verb}-names.request.json").read_bytes())
    body = json.loads(Scripts(4, 2).names.ask(verb, a_workload().pod()).body)

    assert list(body) == list(captured)
    for part in ("metadata", "spec", "status"):
        shared = [key for key in body["Pod"][part] if key in captured["Pod"][part]]
        assert shared == [key for key in captured["Pod"][part] if key in body["Pod"][part]]
    assert "managedFields" not in captured["Pod"]["metadata"]


def test_whole_nodes_travel_as_in_captured_bodies() -> None:
    captured = json.loads((CAPTURED / "filter-nodes.request.json").read_bytes())
    body = json.loads(next(Scripts(4, 2).whole_round()).asks[0].body)

    assert list(body) == list(captured)
    assert list(body["Nodes"]) == list(captured["Nodes"])
    assert list(body["Nodes"]["items"][0]) == list(captured["Nodes"]["items"][0])


def a_workload() -> Workload:
    return Workload("web", mixed_rules(1))


def test_pods_of_a_workload_differ_in_who_they_are_only() -> None:
    workload = a_workload()
    one, other = (msgspec.json.decode(workload.pod()) for _ in range(2))
    differing = {key for key in one["metadata"] if one["metadata"][key] != other["metadata"][key]}

    assert differing == {"name", "uid", "resourceVersion"}
    assert one["spec"] == other["spec"]
    assert 2_500 < len(workload.pod()) < 3_500


def test_no_two_workloads_have_the_same_rules() -> None:
    annotations = [mixed_rules(number).annotations() for number in range(2_000)]
    annotations += [unopinionated_rules(number).annotations() for number in range(2_000)]

    for name in annotations[0]:
        assert len({each[name] for each in annotations}) == len(annotations)


@pytest.mark.parametrize(("sets", "expected"), [(1, 1), (7, 7), (20, 20)])
def test_a_cluster_has_as_many_taint_sets_as_asked(sets: int, expected: int) -> None:
    nodes = cluster.make_nodes(20, taint_sets=sets)

    assert len({json.dumps(node["spec"]["taints"]) for node in nodes}) == expected


def test_a_cluster_comes_from_its_seed() -> None:
    assert cluster.make_nodes(5, seed=3) == cluster.make_nodes(5, seed=3)
    assert cluster.make_nodes(5, seed=3) != cluster.make_nodes(5, seed=4)
    assert all(9_500 < len(encoded(node)) < 10_500 for node in cluster.make_nodes(5))
