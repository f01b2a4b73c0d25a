"""Counters and histograms that change with every call, as plain numbers until somebody looks.

Twenty series change with a call. prometheus-client takes a lock for each of them, 30 us in all;
an entry of a dictionary takes 0.1 us.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from extender.framework.interface import Code, ExtensionPoint
from extender.framework.stats import CallStats

EVALUATIONS: Final = "scheduler_plugin_evaluation"
PLUGIN_SECONDS: Final = "scheduler_plugin_execution_duration_seconds"
POINT_SECONDS: Final = "scheduler_framework_extension_point_duration_seconds"

# A refusal is what a filter is for; only a fault makes the call as a whole anything but success.
_WORST_FIRST: Final = (
    Code.ERROR,
    Code.SUCCESS,
    Code.UNSCHEDULABLE,
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    Code.SKIP,
)
# An enum's own `value` is a call in Python.
_TEXT: Final[Mapping[Code | ExtensionPoint, str]] = {
    member: member.value for kind in (Code, ExtensionPoint) for member in kind
}

Labels = tuple[str, ...]


class CounterTally(Collector):
    """One counter."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self.name = name
        self.labels = labels
        self._text = text
        self._counts: dict[Labels, int] = {}

    def add(self, labels: Labels, count: int = 1) -> None:
        """Count on."""
        self._counts[labels] = self._counts.get(labels, 0) + count

    def describe(self) -> Iterable[Metric]:
        """What it will be called, so that a scrape can ask for it by name."""
        return self.collect()

    def collect(self) -> Iterable[Metric]:
        """The series as they are now."""
        family = CounterMetricFamily(self.name, self._text, labels=self.labels)
        for values, count in self._counts.items():
            family.add_metric(values, count)
        yield family


class HistogramTally(Collector):
    """One histogram."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]
    ) -> None:
        self.name = name
        self.labels = labels
        self._text = text
        self._buckets = buckets
        self._bounds = [*map(floatToGoString, buckets), "+Inf"]
        self._counts: dict[Labels, list[int]] = {}
        self._totals: dict[Labels, float] = {}

    def observe(self, labels: Labels, value: float) -> None:
        """Count one value."""
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._counts[labels] = [0] * len(self._bounds)
            self._totals[labels] = 0.0
        counts[bisect_left(self._buckets, value)] += 1
        self._totals[labels] += value

    def describe(self) -> Iterable[Metric]:
        """What it will be called, so that a scrape can ask for it by name."""
        return self.collect()

    def collect(self) -> Iterable[Metric]:
        """The series as they are now."""
        family = HistogramMetricFamily(self.name, self._text, labels=self.labels)
        for values, counts in self._counts.items():
            up_to = zip(self._bounds, accumulate(counts), strict=True)
            family.add_metric(values, list(up_to), self._totals[values])
        yield family


class PluginTallies:
    """What plugins did: the series of KEP-5471, and kube-scheduler's durations."""

    def __init__(self, help_of: Mapping[str, str], buckets: Sequence[float]) -> None:
        self._evaluations = CounterTally(
            EVALUATIONS,
            help_of[EVALUATIONS],
            ("plugin", "extension_point", "profile", "status"),
        )
        self._plugin_seconds = HistogramTally(
            PLUGIN_SECONDS,
            help_of[PLUGIN_SECONDS],
            ("plugin", "extension_point", "status"),
            buckets,
        )
        self._point_seconds = HistogramTally(
            POINT_SECONDS,
            help_of[POINT_SECONDS],
            ("extension_point", "status", "profile"),
            buckets,
        )

    def tallies(self) -> "Sequence[CounterTally | HistogramTally]":
        """All of its series."""
        return self._evaluations, self._plugin_seconds, self._point_seconds

    def add(self, stats: CallStats, profile: str) -> None:
        """Count one call."""
        seconds: dict[ExtensionPoint, float] = {}
        codes: dict[ExtensionPoint, set[Code]] = {}
        for evaluation in stats.evaluations:
            point = evaluation.extension_point
            text = _TEXT[point]
            seconds[point] = seconds.get(point, 0.0) + evaluation.seconds
            codes.setdefault(point, set()).update(evaluation.codes)
            for code, count in evaluation.codes.items():
                self._evaluations.add((evaluation.plugin, text, profile, _TEXT[code]), count)
            status = _summary(evaluation.codes)
            self._plugin_seconds.observe((evaluation.plugin, text, status), evaluation.seconds)
        for point, taken in seconds.items():
            status = _summary(codes[point])
            self._point_seconds.observe((_TEXT[point], status, profile), taken)


def _summary(codes: Iterable[Code]) -> str:
    """One status for many: a fault shows, and any node that passes makes it a success."""
    present = set(codes)
    return _TEXT[next((code for code in _WORST_FIRST if code in present), Code.SUCCESS)]
