"""What operators look at: a real Prometheus scrapes Leeway while pods are placed and refused."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.builders import JSON, taint, toleration
from tests.deploy.test_monitoring import MONITORING, alerts, panels
from tests.e2e.api import eventually
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import node, pod
from tests.e2e.prometheus import Prometheus, promtool

ALERTS = MONITORING / "alerts.yaml"
SLA = "node.example.com/sla"

# As the proposals write them, but the last: they leave out the suffix that a histogram needs.
_OURS = 'plugin="TaintToleration"'
OF_THE_PROPOSALS = (
    f"scheduler_plugin_evaluation_total{{{_OURS}}} > 0",
    f'rate(scheduler_plugin_evaluation_total{{{_OURS}, status=~"Unschedulable.*"}}[5m])',
    f'rate(scheduler_plugin_evaluation_total{{{_OURS}, status="Success"}}[5m])',
    f"rate(scheduler_plugin_execution_duration_seconds_sum{{{_OURS}}}[5m])",
)
# Nothing is wrong while we look, so what counts faults has nothing to count.
MAY_BE_EMPTY = {
    "Watches started again",
    "Waiting pods, and pods that were woken",
    "Total refusals held for a late event",
    "Reviews that failed",
}
# Of a controller, and here is none.
OF_A_CONTROLLER = "leeway_compile_", "leeway_leader"


def test_the_rules_are_sound() -> None:
    assert f"{len(alerts())} rules found" in promtool("check", "rules", ALERTS)


def test_each_fault_makes_its_alert_fire_and_no_other() -> None:
    assert "SUCCESS" in promtool("test", "rules", MONITORING / "alerts_test.yaml")


@pytest.fixture
async def prometheus(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Prometheus]:
    """A Prometheus that has seen every kind of traffic."""
    server = Prometheus(plane.folder / "prometheus", plane.leeway.ops_port, ALERTS)
    async with plane.beside(server):
        # It takes some seconds to find its target; what happens before has no rate.
        assert await eventually(lambda: scraped(server), 30), "Leeway is not scraped"
        await traffic(cluster)
        yield server


async def scraped(server: Prometheus) -> bool | None:
    return True if await server.query("leeway_build_info") else None


async def traffic(cluster: Cluster) -> None:
    """Two rounds, with a scrape between them and new rules in each, for the sake of rates."""
    await cluster.add(
        node("gold", taint(SLA, "950")),
        node("silver", taint(SLA, "920")),
        node("wordy", taint(SLA, "high")),
    )
    for number in range(2):
        await cluster.run(pod(f"fits-{number}", toleration(SLA, "Gt", f"90{number}")))
        await cluster.refused(pod(f"waits-{number}", toleration(SLA, "Gt", f"99{number}")))
        await asyncio.sleep(2.5)


async def test_what_is_asked_of_prometheus_is_answered(prometheus: Prometheus) -> None:
    await _the_queries_of_the_proposals_return_data(prometheus)
    await _every_panel_shows_something(prometheus)
    await _every_alert_is_evaluated_and_none_fires(prometheus)


async def _the_queries_of_the_proposals_return_data(prometheus: Prometheus) -> None:
    for expression in OF_THE_PROPOSALS:
        samples = await prometheus.query(expression)
        assert any(float(sample["value"][1]) > 0 for sample in samples), expression


async def _every_panel_shows_something(prometheus: Prometheus) -> None:
    for panel in panels():
        for target in panel["targets"]:
            samples = await prometheus.query(target["expr"].replace("$job", "leeway"))
            if any(series in target["expr"] for series in OF_A_CONTROLLER):
                continue
            assert samples or panel["title"] in MAY_BE_EMPTY, panel["title"]
            # A quantile of a verb that nobody used for a while is not a number, and no fault.
            assert not samples or any(map(_is_a_number, samples)), panel["title"]


def _is_a_number(sample: JSON) -> bool:
    return str(sample["value"][1]) not in {"NaN", "+Inf", "-Inf"}


async def _every_alert_is_evaluated_and_none_fires(prometheus: Prometheus) -> None:
    async def evaluated() -> list[JSON] | None:
        rules = await prometheus.rules()
        return rules if all(rule["health"] != "unknown" for rule in rules) else None

    rules = await eventually(evaluated, 15)

    assert rules is not None
    assert [rule["name"] for rule in rules] == [alert["alert"] for alert in alerts()]
    for rule in rules:
        assert (rule["health"], rule.get("lastError", "")) == ("ok", ""), rule["name"]
        assert rule["state"] != "firing", rule["name"]
        await prometheus.query(rule["query"])
