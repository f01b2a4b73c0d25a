"""Series that are added up later say what prometheus-client's own would say at once."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from extender.framework.interface import Code, ExtensionPoint
from extender.framework.stats import CallStats, Evaluation
from extender.metrics import tallies
from extender.metrics.tallies import (
    EVALUATIONS,
    PLUGIN_SECONDS,
    POINT_SECONDS,
    PluginTallies,
)

LABELS = {
    EVALUATIONS: ("plugin", "extension_point", "profile", "status"),
    PLUGIN_SECONDS: ("plugin", "extension_point", "status"),
    POINT_SECONDS: ("extension_point", "status", "profile"),
}
HELP = dict.fromkeys(LABELS, "Some help.")
BUCKETS = (0.125, 0.25, 1.0)

evaluations = st.builds(
    Evaluation,
    st.sampled_from(["P", "Q"]),
    st.sampled_from(ExtensionPoint),
    st.dictionaries(st.sampled_from(Code), st.integers(0, 5_000), max_size=3),
    st.sampled_from([0.0, 0.125, 0.25, 0.5, 8.0]),  # sums of these are exact in any order
)
ledgers = st.lists(evaluations, max_size=4).map(lambda made: CallStats(float, made))
# Which stats is told, for which profile, or that somebody scrapes.
calls = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b"])) | st.none())


class Beside:
    """The same series by prometheus-client, counted call by call."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        disable_created_metrics()  # type: ignore[no-untyped-call] # as `Metrics` does
        self.evaluations = Counter(
            EVALUATIONS, "Some help.", LABELS[EVALUATIONS], registry=self.registry
        )
        self.plugins, self.points = (
            Histogram(name, "Some help.", LABELS[name], buckets=BUCKETS, registry=self.registry)
            for name in (PLUGIN_SECONDS, POINT_SECONDS)
        )

    def note(self, stats: CallStats, profile: str) -> None:
        for point in dict.fromkeys(each.extension_point for each in stats.evaluations):
            of_point = [each for each in stats.evaluations if each.extension_point is point]
            for each in of_point:
                for code, count in each.codes.items():
                    labels = each.plugin, point.value, profile, code.value
                    self.evaluations.labels(*labels).inc(count)
                status = tallies._summary(each.codes)
                self.plugins.labels(each.plugin, point.value, status).observe(each.seconds)
            status = tallies._summary(code for each in of_point for code in each.codes)
            taken = sum(each.seconds for each in of_point)
            self.points.labels(point.value, status, profile).observe(taken)


def page(registry: CollectorRegistry) -> list[str]:
    return sorted(generate_latest(registry).decode().splitlines())


def tallied() -> tuple[PluginTallies, CollectorRegistry]:
    registry, made = CollectorRegistry(), PluginTallies(HELP, BUCKETS)
    for collector in made.tallies():
        registry.register(collector)
    return made, registry


@given(st.lists(ledgers, min_size=4, max_size=4), calls)
def test_the_page_is_the_same(told: list[CallStats], asked: list[tuple[int, str] | None]) -> None:
    beside = Beside()
    made, registry = tallied()
    for call in asked:
        if call is None:
            assert page(registry) == page(beside.registry)
        else:
            made.add(told[call[0]], call[1])
            beside.note(told[call[0]], call[1])

    assert page(registry) == page(beside.registry)


def test_calls_add_up() -> None:
    made, registry = tallied()
    for _ in range(300):
        stats = CallStats(float, [Evaluation("P", ExtensionPoint.FILTER, {Code.SUCCESS: 2}, 0.0)])
        made.add(stats, "a")

    labels = {"plugin": "P", "extension_point": "Filter", "profile": "a", "status": "Success"}
    assert registry.get_sample_value(f"{EVALUATIONS}_total", labels) == 600


def test_some_of_the_series_can_be_scraped_by_name() -> None:
    made, registry = tallied()
    made.add(CallStats(float, [Evaluation("P", ExtensionPoint.SCORE, {Code.SUCCESS: 1}, 0.5)]), "a")
    some = registry.restricted_registry([f"{PLUGIN_SECONDS}_sum"])

    assert [sample.value for family in some.collect() for sample in family.samples] == [0.5]
