"""How a call is counted, over a registry of the test's own."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from extender import __version__
from extender.framework.interface import Code, ExtensionPoint
from extender.framework.stats import CallStats, Evaluation
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Finding
from extender.match.lru import CacheBudget
from extender.metrics import MAX_PROFILES, OTHER_PROFILE, Metrics
from extender.rows import IMPLEMENTATION


def never() -> float:
    return 0.0


class Page:
    """The exported page, asked by name and labels."""

    def __init__(self, registry: CollectorRegistry) -> None:
        text = generate_latest(registry).decode()
        self.samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float | None:
        return self.samples.get((name, frozenset(labels.items())))


def counted(*evaluations: tuple[ExtensionPoint, dict[Code, int]], findings: int = 0) -> Page:
    """The page after one call of a plugin called P for profile default."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    stats = CallStats(never)
    for point, codes in evaluations:
        stats.evaluations.append(Evaluation("P", point, codes, 0.0))
    stats.findings |= {Finding("taint", "integer", "key", str(i)) for i in range(findings)}
    metrics.count_call(stats, "default")
    return Page(registry)


def test_two_registries_do_not_know_each_other() -> None:
    one, two = CollectorRegistry(), CollectorRegistry()
    Metrics(one).count_request("filter", "names", 3, 0.5)
    Metrics(two)

    labels = {"verb": "filter", "mode": "names", "code": "200"}
    assert Page(one).value("leeway_requests_total", **labels) == 1
    assert Page(two).value("leeway_requests_total", **labels) is None


def test_nodes_are_counted_in_aggregate_by_status() -> None:
    refused = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    page = counted((ExtensionPoint.FILTER, {Code.SUCCESS: 4000, refused: 1000}))

    for status, value in (("Success", 4000), (refused.value, 1000), ("Error", None)):
        labels = {"plugin": "P", "extension_point": "Filter", "profile": "default"}
        assert page.value("scheduler_plugin_evaluation_total", **labels, status=status) == value


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        pytest.param({Code.SUCCESS: 1}, "Success", id="all pass"),
        pytest.param({Code.SUCCESS: 1, Code.UNSCHEDULABLE: 9}, "Success", id="one passes"),
        pytest.param({Code.UNSCHEDULABLE: 9}, "Unschedulable", id="none passes"),
        pytest.param(
            {Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 9},
            "UnschedulableAndUnresolvable",
            id="none passes, ever",
        ),
        pytest.param({Code.ERROR: 1, Code.SUCCESS: 9}, "Error", id="a fault shows"),
        pytest.param({Code.SKIP: 1}, "Skip", id="nothing to say"),
        pytest.param({}, "Success", id="nobody was asked"),
    ],
)
def test_the_time_of_a_call_has_one_status(codes: dict[Code, int], status: str) -> None:
    page = counted((ExtensionPoint.FILTER, codes))

    plugin = page.value(
        "scheduler_plugin_execution_duration_seconds_count",
        plugin="P",
        extension_point="Filter",
        status=status,
    )
    point = page.value(
        "scheduler_framework_extension_point_duration_seconds_count",
        extension_point="Filter",
        profile="default",
        status=status,
    )
    assert (plugin, point) == (1, 1)


def test_the_time_of_an_extension_point_is_that_of_all_its_plugins() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    stats = CallStats(never)
    stats.evaluations += [
        Evaluation("P", ExtensionPoint.FILTER, {Code.SUCCESS: 1}, 2.0),
        Evaluation("Q", ExtensionPoint.FILTER, {Code.SUCCESS: 1}, 1.0),
        Evaluation("P", ExtensionPoint.PRE_FILTER, {Code.SUCCESS: 1}, 0.5),
    ]
    metrics.count_call(stats, "default")

    seconds = {
        point: Page(registry).value(
            "scheduler_framework_extension_point_duration_seconds_sum",
            extension_point=point,
            profile="default",
            status="Success",
        )
        for point in ("Filter", "PreFilter")
    }
    assert seconds == {"Filter": 3.0, "PreFilter": 0.5}


def test_findings_are_counted_one_by_one() -> None:
    page = counted(findings=3)

    labels = {"source": "taint", "kind": "integer"}
    assert page.value("leeway_value_parse_failures_total", **labels) == 3


def test_only_so_many_names_from_outside_become_labels() -> None:
    metrics = Metrics(CollectorRegistry())
    labels = [metrics.profile_label(f"s{i}") for i in range(MAX_PROFILES + 5)]

    assert MAX_PROFILES == 20
    assert labels == [f"s{i}" for i in range(20)] + [OTHER_PROFILE] * 5
    assert metrics.profile_label("s7") == "s7"
    assert metrics.profile_label("s24") == OTHER_PROFILE


def test_buckets_reach_from_10_microseconds_to_5_seconds_and_to_15000_nodes() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.count_request("filter", "names", 0, 0.0)
    bounds: dict[str, list[float]] = {}
    for name, labels in Page(registry).samples:
        if name.endswith("_bucket"):
            bounds.setdefault(name, []).append(float(dict(labels)["le"]))

    seconds = sorted(bounds["leeway_request_duration_seconds_bucket"])
    nodes = sorted(bounds["leeway_request_nodes_bucket"])
    assert seconds[0] == pytest.approx(1e-5)
    assert seconds[-2:] == [pytest.approx(5.0), float("inf")]
    assert nodes[-2:] == [15000, float("inf")]


def test_nothing_but_the_build_is_told_before_the_first_call() -> None:
    registry = CollectorRegistry()
    Metrics(registry)

    told = {key: value for key, value in Page(registry).samples.items() if value}
    labels = frozenset({("version", __version__), ("rows", IMPLEMENTATION)})
    assert told == {("leeway_build_info", labels): 1.0}


def test_the_cache_of_programs_is_looked_at_when_it_is_scraped() -> None:
    registry = CollectorRegistry()
    programs = ProgramCache(CacheBudget(16_000))
    Metrics(registry).watch_programs(programs)
    for expression in ("true", "true", *(f"{number} == 0" for number in range(20))):
        programs.problem(expression)

    samples = Page(registry).samples
    assert samples["leeway_cel_cache_hits_total", frozenset()] == 1
    assert samples["leeway_cel_cache_misses_total", frozenset()] == 21
    evicted = samples["leeway_cel_cache_evictions_total", frozenset()]
    assert evicted == programs.evictions > 0
