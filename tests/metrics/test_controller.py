"""What a controller exports of its own, over a registry of the test's own."""

import pytest
from prometheus_client import CollectorRegistry

from extender.metrics import ControllerMetrics, Metrics


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_a_controller_exports_its_series_beside_those_of_every_process(
    registry: CollectorRegistry,
) -> None:
    Metrics(registry)
    of_all = {family.name for family in registry.collect()}
    ControllerMetrics(registry).watch_compiled(dict)

    assert {family.name for family in registry.collect()} - of_all == {
        "leeway_compile_mutations",
        "leeway_compile_writes",
        "leeway_compile_delay_seconds",
        "leeway_compile_pods",
        "leeway_leader",
    }


def test_answers_and_patches_are_counted_by_what_came_of_them(registry: CollectorRegistry) -> None:
    metrics = ControllerMetrics(registry)
    for result in ("compiled", "compiled", "unchanged"):
        metrics.count_mutation("CREATE", result)
    metrics.count_write("guard", 200)
    metrics.count_write("guard", "200")

    answers = {"operation": "CREATE", "result": "compiled"}
    assert registry.get_sample_value("leeway_compile_mutations_total", answers) == 2
    patches = {"kind": "guard", "code": "200"}
    assert registry.get_sample_value("leeway_compile_writes_total", patches) == 2


def test_operations_that_strangers_name_are_one_label(registry: CollectorRegistry) -> None:
    metrics = ControllerMetrics(registry)
    for operation in ("UPDATE", "DELETE", "", *(f"made-up-{i}" for i in range(50))):
        metrics.count_mutation(operation, "unchanged")

    counts = {
        operation: registry.get_sample_value(
            "leeway_compile_mutations_total", {"operation": operation, "result": "unchanged"}
        )
        for operation in ("UPDATE", "other", "DELETE", "made-up-1")
    }
    assert counts == {"UPDATE": 1, "other": 52, "DELETE": None, "made-up-1": None}


def test_delays_are_told_apart_from_a_millisecond_to_a_minute(registry: CollectorRegistry) -> None:
    metrics = ControllerMetrics(registry)
    for seconds in (0.0005, 0.0015, 45.0, 61.0):
        metrics.observe_delay("guard", seconds)

    counts = [
        registry.get_sample_value(
            "leeway_compile_delay_seconds_bucket", {"kind": "guard", "le": bound}
        )
        for bound in ("0.001", "0.0025", "30.0", "60.0", "+Inf")
    ]
    assert counts == [1, 2, 2, 3, 4]


def test_pods_are_counted_when_somebody_looks(registry: CollectorRegistry) -> None:
    states = {"current": 1}
    ControllerMetrics(registry).watch_compiled(lambda: states)
    states |= {"current": 7, "cut": 2}

    assert registry.get_sample_value("leeway_compile_pods", {"state": "current"}) == 7
    assert registry.get_sample_value("leeway_compile_pods", {"state": "cut"}) == 2


def test_a_process_leads_only_once_it_is_told(registry: CollectorRegistry) -> None:
    metrics = ControllerMetrics(registry)
    shown = [registry.get_sample_value("leeway_leader")]
    for leads in (True, False):
        metrics.set_leader(leads)
        shown.append(registry.get_sample_value("leeway_leader"))

    assert shown == [0, 1, 0]


def test_no_series_says_when_it_was_made(registry: CollectorRegistry) -> None:
    ControllerMetrics(registry).count_write("guard", 200)

    names = {sample.name for family in registry.collect() for sample in family.samples}
    assert [name for name in names if name.endswith("_created")] == []
