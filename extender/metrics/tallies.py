"""What plugins did, noted call by call and added up when somebody looks.

Twenty series change with every call, and most calls repeat what a call before was told: the same
ledger. So a call is one step of a count, and what is in the ledger is added so many times later.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, TypeVar

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from extender.framework.interface import Code, ExtensionPoint
from extender.framework.ledger import Ledger

# Ledgers that wait to be added up; adding one takes about 20 us.
MAX_NOTED: Final = 64

EVALUATIONS: Final = "scheduler_plugin_evaluation"
PLUGIN_SECONDS: Final = "scheduler_plugin_execution_duration_seconds"
POINT_SECONDS: Final = "scheduler_framework_extension_point_duration_seconds"
LABELS: Final = {
    EVALUATIONS: ("plugin", "extension_point", "profile", "status"),
    PLUGIN_SECONDS: ("plugin", "extension_point", "status"),
    POINT_SECONDS: ("extension_point", "status", "profile"),
}

# A refusal is what a filter is for; only a fault makes the call as a whole anything but success.
_WORST_FIRST: Final = (
    Code.ERROR,
    Code.SUCCESS,
    Code.UNSCHEDULABLE,
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    Code.SKIP,
)

Labels = tuple[str, ...]
M = TypeVar("M", bound=Metric)


@dataclass(slots=True)
class _Noted:
    ledger: Ledger  # kept, so that no other has its identity
    profile: str
    calls: int = 1


@dataclass(slots=True)
class _Durations:
    """One histogram."""

    in_bucket: list[int]
    total: float = 0.0


@dataclass(eq=False)
class Tallies(Collector):
    """The series of KEP-5471 and kube-scheduler's durations, for all profiles."""

    help_of: Mapping[str, str]
    buckets: Sequence[float]
    _noted: dict[tuple[int, str], _Noted] = field(default_factory=dict)
    _evaluations: dict[Labels, int] = field(default_factory=dict)
    _durations: dict[str, dict[Labels, _Durations]] = field(
        default_factory=lambda: {PLUGIN_SECONDS: {}, POINT_SECONDS: {}}
    )

    def note(self, ledger: Ledger, profile: str) -> None:
        """Count one call. The ledger does not change any more."""
        key = id(ledger), profile
        noted = self._noted.get(key)
        if noted is not None:
            noted.calls += 1
            return
        if len(self._noted) >= MAX_NOTED:
            self._add(self._noted.pop(next(iter(self._noted))))
        self._noted[key] = _Noted(ledger, profile)

    def describe(self) -> Iterable[Metric]:
        """The names, for whoever scrapes some of them."""
        return self.collect()

    def collect(self) -> Iterable[Metric]:
        """All series as they are by now."""
        for noted in self._noted.values():
            self._add(noted)
        self._noted.clear()
        counter = self._family(CounterMetricFamily, EVALUATIONS)
        for labels, count in self._evaluations.items():
            counter.add_metric(labels, count)
        yield counter
        bounds = [*map(floatToGoString, self.buckets), "+Inf"]
        for name, series in self._durations.items():
            histogram = self._family(HistogramMetricFamily, name)
            for labels, durations in series.items():
                up_to = zip(bounds, accumulate(durations.in_bucket), strict=True)
                histogram.add_metric(labels, list(up_to), durations.total)
            yield histogram

    def _family(self, kind: Callable[..., M], name: str) -> M:
        return kind(name, self.help_of[name], labels=LABELS[name])

    def _add(self, noted: _Noted) -> None:
        seconds: dict[ExtensionPoint, float] = {}
        codes: dict[ExtensionPoint, set[Code]] = {}
        for evaluation in noted.ledger.evaluations:
            point = evaluation.extension_point
            seconds[point] = seconds.get(point, 0.0) + evaluation.seconds
            codes.setdefault(point, set()).update(evaluation.codes)
            for code, count in evaluation.codes.items():
                key = evaluation.plugin, point.value, noted.profile, code.value
                self._evaluations[key] = self._evaluations.get(key, 0) + count * noted.calls
            status = _summary(evaluation.codes)
            labels = evaluation.plugin, point.value, status
            self._observe(PLUGIN_SECONDS, labels, evaluation.seconds, noted.calls)
        for point, taken in seconds.items():
            labels = point.value, _summary(codes[point]), noted.profile
            self._observe(POINT_SECONDS, labels, taken, noted.calls)

    def _observe(self, name: str, labels: Labels, seconds: float, times: int) -> None:
        durations = self._durations[name].get(labels)
        if durations is None:
            durations = _Durations([0] * (len(self.buckets) + 1))
            self._durations[name][labels] = durations
        durations.in_bucket[bisect_left(self.buckets, seconds)] += times
        durations.total += seconds * times


def _summary(codes: Iterable[Code]) -> str:
    """One status for many: a fault shows, and any node that passes makes it a success."""
    present = set(codes)
    return next((code for code in _WORST_FIRST if code in present), Code.SUCCESS).value
