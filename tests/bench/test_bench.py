"""The bench runs, says what it promises to say, and notices what became worse. No timings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench import checking, cluster, growth, pages, processes, results
from bench.cases import Scripts
from bench.cluster import encoded
from bench.endurance import Endurance
from bench.growth import Growth
from bench.ratios import Ratios, Size
from bench.workloads import Workload, mixed_rules
from tests.builders import JSON

# A dozen servers are started, one after the other.
pytestmark = pytest.mark.timeout(240)

TINY = Size(nodes=12, whole=3, pods=5, rounds=2, calls=2, refused=4)
CAPTURED = Path(__file__).parent.parent / "golden" / "captured"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Every part, on a tiny cluster."""
    ratios = Ratios(tmp_path_factory.mktemp("bench"), TINY, progress=lambda _: None)
    for part in ratios.parts:
        ratios.measure(part)
    return ratios.results()


def test_every_case_has_both_servers_and_a_ratio_a_round(cases: Mapping[str, Any]) -> None:
    for name, case in cases.items():
        assert case["ratio"] > 0, name
        assert len(case["rounds"]) == TINY.rounds, name
        assert {"p50", "p99", "cpu"} == case["leeway"].keys() == case["floor"].keys(), name
        assert case["leeway"]["p50"] <= case["leeway"]["p99"], name


def test_calls_are_counted_as_the_method_says(cases: Mapping[str, Any]) -> None:
    calls = {name: case["calls"] for name, case in cases.items()}

    assert calls["filter, 12 names, repeated, listed"] == TINY.rounds * TINY.calls
    assert calls["prioritize, 12 names, new rules, shuffled"] == TINY.rounds * TINY.calls
    assert calls["filter, 12 distinct taints, CEL, first call, listed"] == TINY.rounds
    assert calls["filter, 12 names, refused, an event before each, listed"] == TINY.refused


def test_every_goal_of_the_project_has_its_case(cases: Mapping[str, Any]) -> None:
    assert {case["goal"] for case in cases.values() if "goal" in case} == {
        *(1.25, 1.6),  # names: repeated, new
        *(1.1, 1.3, 1.15),  # whole nodes, expressions, refused
    }
    assert {case["goal_ms"] for case in cases.values() if "goal_ms" in case} == {60}


def test_results_are_written_and_read_again(cases: Mapping[str, Any], tmp_path: Path) -> None:
    first, *others = cases
    results.write(tmp_path, {"machine": results.machine(), "cases": cases})
    changed = {**cases[first], "ratio": 99.0}
    results.write(tmp_path, {"machine": results.machine(), "cases": {first: changed}})

    written = results.read(tmp_path / results.FILE)["cases"]

    assert written[first]["ratio"] == 99.0
    assert {name: written[name] for name in others} == {name: cases[name] for name in others}
    table = (tmp_path / results.TABLE).read_text(encoding="utf-8")
    assert all(f"| {name} |" in table for name in cases)
    assert "| 99.00x |" in table


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
    interrupted = a_case(2.4) | {"leeway": {"cpu": 1.2}}

    assert checking.worsened({"a": a_case(1.2)}, ["p"], lambda _: {"a": interrupted}) == {}


def a_case(ratio: float) -> JSON:
    return {"ratio": ratio, "goal": 1.25, "leeway": {"cpu": ratio}, "floor": {"cpu": 1.0}}


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.name)
def test_a_page_shows_the_results_that_are_committed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert pages.pages()[page] == text
    assert "| filter, 5" in text


def test_figures_go_between_their_marks() -> None:
    page = "a\n<!-- t -->\nold\n<!-- end of t -->\nb\n"

    assert pages.filled(page, {"t": "new\n"}) == "a\n<!-- t -->\n\nnew\n\n<!-- end of t -->\nb\n"


def test_growth_has_every_line_at_every_point(tmp_path: Path) -> None:
    first = growth.axes(10, points=(4, 10))[0]

    points = Growth(tmp_path, rounds=1, calls=1).measure(first)

    assert [point["nodes"] for point in points] == [4, 10]
    assert all(point[line] > 0 for point in points for line in (*growth.LINES, "floor"))


def test_memory_is_looked_at_from_the_first_request_to_the_last(tmp_path: Path) -> None:
    found = Endurance(tmp_path, requests=60, nodes=10).measure()

    assert [asked for asked, _ in found["rss"]] == list(range(61))
    assert found["growth"] == pytest.approx(found["at_the_end"] - found["by_half"], abs=0.11)


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_bodies_have_the_keys_of_captured_ones_in_their_order(verb: str) -> None:
    captured = json.loads((CAPTURED / f"{verb}-names.request.json").read_bytes())
    body = json.loads(Scripts(4, 2).names.body(a_workload().pod()))

    assert list(body) == list(captured)
    for part in ("metadata", "spec", "status"):
        shared = [key for key in body["Pod"][part] if key in captured["Pod"][part]]
        assert shared == [key for key in captured["Pod"][part] if key in body["Pod"][part]]
    assert "managedFields" not in captured["Pod"]["metadata"]


def test_whole_nodes_travel_as_in_captured_bodies() -> None:
    captured = json.loads((CAPTURED / "filter-nodes.request.json").read_bytes())
    body = json.loads(next(Scripts(4, 2).whole_round()).body)

    assert list(body) == list(captured)
    assert list(body["Nodes"]) == list(captured["Nodes"])
    assert list(body["Nodes"]["items"][0]) == list(captured["Nodes"]["items"][0])


def test_the_floor_as_an_extender_lets_every_node_pass_in_both_modes() -> None:
    scripts = Scripts(3, 2)
    named, whole = next(scripts.names_round()).body, next(scripts.whole_round()).body
    names = json.loads(named)["NodeNames"]
    nodes = json.loads(whole)["Nodes"]
    equal = {"Score": 0}

    with processes.floor() as floor:

        def ask(verb: str, body: bytes) -> Any:
            return json.loads(bytes(floor.connection.post(f"/{verb}", body)[1]))

        assert ask("filter", named) == passing(NodeNames=names)
        assert ask("filter", whole) == passing(Nodes=nodes)
        assert ask("prioritize", named) == [{"Host": name, **equal} for name in names]
        assert ask("prioritize", whole) == [
            {"Host": node["metadata"]["name"], **equal} for node in nodes["items"]
        ]


def passing(**given: Any) -> JSON:
    empty: JSON = {"Nodes": None, "NodeNames": None, "Error": ""}
    return {**empty, "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, **given}


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
