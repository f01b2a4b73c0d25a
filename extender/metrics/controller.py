"""The series that only `leeway controller` exports: what it writes, and whether it leads."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_DELAYS: Final = (
    *(digit * 10.0**power for power in range(-3, 1) for digit in (1.0, 2.5, 5.0)),
    10.0,
    30.0,
    60.0,
)  # 1 ms to 60 s
_OPERATIONS: Final = frozenset({"CREATE", "UPDATE"})
_OTHER: Final = "other"


class CompiledCollector(Collector):
    """Counts the compiled pods when it is scraped, instead of keeping gauges on every event."""

    def __init__(self, compiled: Callable[[], Mapping[str, int]]) -> None:
        self._compiled = compiled

    def collect(self) -> Iterable[Metric]:
        """Pods by their state."""
        pods = GaugeMetricFamily(
            "leeway_compile_pods",
            "Pods with rules of a compiled scheduler, by how far their tolerations are.",
            labels=["state"],
        )
        for state, count in self._compiled().items():
            pods.add_metric([state], count)
        return (pods,)


class ControllerMetrics:
    """The series of compile mode."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.mutations = Counter(
            "leeway_compile_mutations",
            "Pods that the mutating webhook was asked about, by what came of it.",
            ["operation", "result"],
            registry=registry,
        )
        self.writes = Counter(
            "leeway_compile_writes",
            "Patches of pods, by what they added and the status of the answer.",
            ["kind", "code"],
            registry=registry,
        )
        self.delays = Histogram(
            "leeway_compile_delay_seconds",
            "Time from the news that made a patch necessary until it was written.",
            ["kind"],
            buckets=_DELAYS,
            registry=registry,
        )
        self.leader = Gauge(
            "leeway_leader", "1 while this process holds the Lease.", registry=registry
        )

    def watch_compiled(self, compiled: Callable[[], Mapping[str, int]]) -> None:
        """Export how many pods are in which state."""
        self.registry.register(CompiledCollector(compiled))

    def count_mutation(self, operation: str, result: str) -> None:
        """Count one answer of the mutating webhook; whoever reaches the port names operations."""
        self.mutations.labels(operation if operation in _OPERATIONS else _OTHER, result).inc()

    def count_write(self, kind: str, code: int | str) -> None:
        """Count one patch."""
        self.writes.labels(kind, str(code)).inc()

    def observe_delay(self, kind: str, seconds: float) -> None:
        """Count how late one patch was."""
        self.delays.labels(kind).observe(seconds)

    def set_leader(self, leads: bool) -> None:
        """Show whether this process leads."""
        self.leader.set(leads)
