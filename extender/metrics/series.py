"""Every series that `leeway serve` exports: names, labels, buckets.

The registry is a parameter, so a test makes its own. Counting happens once a call, in
aggregate; no label holds the name of a pod or a node.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from extender import __version__
from extender.framework.stats import CallStats
from extender.match.cel.cache import ProgramCache
from extender.match.lru import CacheBudget
from extender.metrics.tallies import (
    EVALUATIONS,
    PLUGIN_SECONDS,
    POINT_SECONDS,
    CounterTally,
    HistogramTally,
    PluginTallies,
)
from extender.rows import IMPLEMENTATION

_SECONDS: Final = tuple(
    digit * 10.0**power for power in range(-5, 1) for digit in (1.0, 2.5, 5.0)
)  # 10 us to 5 s
_NODES: Final = (1, 10, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 15000)

_HELP: Final = {
    EVALUATIONS: ("Nodes that a plugin judged, and pods that it parsed, by the status it gave."),
    PLUGIN_SECONDS: ("Time that a plugin took for all nodes of one call."),
    POINT_SECONDS: ("Time that all plugins of an extension point took for one call."),
    "leeway_requests": "Requests on the scheduler listener, by verb, mode and HTTP status.",
    "leeway_request_duration_seconds": "Time to answer a request once its body has arrived.",
    "leeway_request_nodes": "Nodes that a request asked about.",
    "leeway_value_parse_failures": (
        "Distinct values of a call that a rule could not read, by where they stand."
    ),
    "leeway_watch_restarts": "Times that a watch was taken up again, by why it had ended.",
    "leeway_cel_compile_seconds": "Time to compile a CEL expression.",
    "leeway_admission_requests": (
        "Requests on the admission listener, by kind of object, answer and HTTP status."
    ),
    "leeway_admission_request_duration_seconds": (
        "Time to answer an admission review once its body has arrived."
    ),
    "leeway_catch_up": "Total refusals that were held for late news, by what came of it.",
    "leeway_nudges": "Refused pods that fit by now and were to be woken, by what came of it.",
}

MAX_PROFILES: Final = 20
MAX_PROFILE_LENGTH: Final = 253
OTHER_PROFILE: Final = "other"
_OK: Final = str(HTTPStatus.OK.value)


@dataclass(frozen=True, slots=True)
class CachedResource:
    """What the cache knows of one resource."""

    resource: str
    objects: int
    synced: bool
    age: float | None  # seconds since the API server was heard of


class CacheCollector(Collector):
    """Looks at the cache when it is scraped, instead of keeping gauges on every event."""

    def __init__(self, cached: Callable[[], Sequence[CachedResource]]) -> None:
        self._cached = cached

    def collect(self) -> Iterable[Metric]:
        """Objects, sync and age of every resource."""
        objects = GaugeMetricFamily(
            "leeway_cache_objects", "Objects in the cache.", labels=["resource"]
        )
        synced = GaugeMetricFamily(
            "leeway_cache_synced", "1 once the resource was listed.", labels=["resource"]
        )
        age = GaugeMetricFamily(
            "leeway_cache_age_seconds",
            "Seconds since the API server was heard of.",
            labels=["resource"],
        )
        for each in self._cached():
            objects.add_metric([each.resource], each.objects)
            synced.add_metric([each.resource], each.synced)
            if each.age is not None:
                age.add_metric([each.resource], each.age)
        return objects, synced, age


class ProgramsCollector(Collector):
    """Looks at the cache of CEL programs when it is scraped."""

    def __init__(self, programs: ProgramCache) -> None:
        self._programs = programs

    def collect(self) -> Iterable[Metric]:
        """Hits, misses and evictions."""
        yield CounterMetricFamily(
            "leeway_cel_cache_hits",
            "Look-ups of a CEL expression that was compiled before.",
            self._programs.hits,
        )
        yield CounterMetricFamily(
            "leeway_cel_cache_misses",
            "Look-ups of a CEL expression that had to be compiled.",
            self._programs.misses,
        )
        yield CounterMetricFamily(
            "leeway_cel_cache_evictions",
            "CEL expressions that were dropped to make room.",
            self._programs.evictions,
        )


class BudgetCollector(Collector):
    """Looks at the caches when it is scraped."""

    def __init__(self, budget: CacheBudget) -> None:
        self._budget = budget

    def collect(self) -> Iterable[Metric]:
        """Bytes, hits and misses of each cache; caches of one name are added up."""
        size = GaugeMetricFamily(
            "leeway_cache_bytes", "Bytes that a cache holds, keys included.", labels=["cache"]
        )
        hits = CounterMetricFamily(
            "leeway_cache_hits", "Look-ups that a cache could answer.", labels=["cache"]
        )
        misses = CounterMetricFamily(
            "leeway_cache_misses", "Look-ups that a cache could not answer.", labels=["cache"]
        )
        totals: dict[str, list[int]] = {}
        for cache in self._budget.caches:
            total = totals.setdefault(cache.name, [0, 0, 0])
            for place, count in enumerate((cache.bytes, cache.hits, cache.misses)):
                total[place] += count
        for name, counts in sorted(totals.items()):
            size.add_metric([name], counts[0])
            hits.add_metric([name], counts[1])
            misses.add_metric([name], counts[2])
        return size, hits, misses


class Metrics:
    """The series, and how a call is counted into them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        disable_created_metrics()  # type: ignore[no-untyped-call]
        counter, seconds = _counters(registry), _histograms(registry, _SECONDS)
        # Those that change with every call.
        self._plugins = PluginTallies(_HELP, _SECONDS)
        self._requests = _tally("leeway_requests", "verb", "mode", "code")
        self._request_seconds = _seconds("leeway_request_duration_seconds", "verb", "mode")
        self._request_nodes = HistogramTally(
            "leeway_request_nodes", _HELP["leeway_request_nodes"], ("verb", "mode"), _NODES
        )
        self._parse_failures = _tally("leeway_value_parse_failures", "source", "kind")
        self._catch_ups = _tally("leeway_catch_up", "result")
        self._nudges = _tally("leeway_nudges", "result")
        self.tallies = (
            *self._plugins.tallies(),
            self._requests,
            self._request_seconds,
            self._request_nodes,
            self._parse_failures,
            self._catch_ups,
            self._nudges,
        )
        for tally in self.tallies:
            registry.register(tally)
        self.watch_restarts = counter("leeway_watch_restarts", "resource", "reason")
        self.cel_compile_seconds = seconds("leeway_cel_compile_seconds")
        self.admissions = counter("leeway_admission_requests", "kind", "allowed", "code")
        self.admission_seconds = seconds("leeway_admission_request_duration_seconds")
        self.waiting_pods = Gauge(
            "leeway_waiting_pods",
            "Pods that Leeway refused on every node and that still wait.",
            registry=registry,
        )
        self._profiles: set[str] = set()
        _build_info(registry)

    def watch_caches(self, caches: CacheBudget) -> None:
        """Export what the caches hold, and how often they help."""
        self.registry.register(BudgetCollector(caches))

    def watch_programs(self, programs: ProgramCache) -> None:
        """Export how the cache of CEL programs does."""
        self.registry.register(ProgramsCollector(programs))

    def profile_label(self, scheduler_name: str) -> str:
        """A bounded label for a name that comes from outside: the first 20 stand."""
        scheduler_name = scheduler_name[:MAX_PROFILE_LENGTH]
        if scheduler_name not in self._profiles:
            if len(self._profiles) == MAX_PROFILES:
                return OTHER_PROFILE
            self._profiles.add(scheduler_name)
        return scheduler_name

    def count_request(self, verb: str, mode: str, nodes: int, seconds: float) -> None:
        """Count one request that was answered."""
        self._requests.add((verb, mode, _OK))
        labels = verb, mode
        self._request_seconds.observe(labels, seconds)
        self._request_nodes.observe(labels, nodes)

    def count_refusal(self, verb: str, code: int) -> None:
        """Count one request that was refused before its mode was known."""
        self._requests.add((verb, "", str(code)))

    def count_call(self, stats: CallStats, profile: str) -> None:
        """Count what the plugins did in one call."""
        self._plugins.add(stats, profile)
        for finding in stats.findings:
            self._parse_failures.add((finding.source, finding.kind))

    def count_catch_up(self, result: str) -> None:
        """Count what came of holding a refusal."""
        self._catch_ups.add((result,))

    def count_nudge(self, result: str) -> None:
        """Count what came of a pod that fits by now."""
        self._nudges.add((result,))


def _tally(name: str, *labels: str) -> CounterTally:
    return CounterTally(name, _HELP[name], labels)


def _seconds(name: str, *labels: str) -> HistogramTally:
    return HistogramTally(name, _HELP[name], labels, _SECONDS)


def _counters(registry: CollectorRegistry) -> Callable[..., Counter]:
    return lambda name, *labels: Counter(name, _HELP[name], labels, registry=registry)


def _histograms(registry: CollectorRegistry, buckets: Sequence[float]) -> Callable[..., Histogram]:
    return lambda name, *labels: Histogram(
        name, _HELP[name], labels, buckets=buckets, registry=registry
    )


def _build_info(registry: CollectorRegistry) -> None:
    gauge = Gauge(
        "leeway_build_info",
        "1, labelled with the version, and with whether compiled code or Python answers.",
        ["version", "rows"],
        registry=registry,
    )
    gauge.labels(__version__, IMPLEMENTATION).set(1)
