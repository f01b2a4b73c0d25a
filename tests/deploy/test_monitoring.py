"""Alerts and the dashboard ask for series that there are, and every alert says what to do."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from extender.metrics import CacheCollector, ControllerMetrics, Metrics
from tests.deploy.rendering import JSON, ROOT

MONITORING = ROOT / "deploy/monitoring"
OPERATIONS = ROOT / "docs/operations.md"

_SERIES = re.compile(r"\b(?:leeway|scheduler)_[a-z_]+\b")
_STRING = re.compile(r'"[^"]*"')


def alerts() -> list[JSON]:
    groups = yaml.safe_load((MONITORING / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[JSON]:
    found: list[JSON] = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))["panels"]
    return found


def expressions() -> Iterator[Any]:
    for alert in alerts():
        yield pytest.param(alert["expr"], id=alert["alert"])
    for panel in panels():
        for target in panel["targets"]:
            yield pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")


def series() -> set[str]:
    """Every name under which a sample can be scraped."""
    registry = CollectorRegistry()
    Metrics(registry)
    registry.register(CacheCollector(lambda: ()))
    ControllerMetrics(registry).watch_compiled(dict)
    names: set[str] = set()
    for family in registry.collect():
        endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
        names |= {family.name + end for end in endings.get(family.type, ("",))}
    return names


@pytest.mark.parametrize("expression", list(expressions()))
def test_an_expression_asks_for_series_that_there_are(expression: str) -> None:
    asked = set(_SERIES.findall(_STRING.sub("", expression))) - {"scheduler_name"}

    assert asked <= series()
    assert asked or expression.startswith(("up{", "sum by (name) (rate(apiserver_"))


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: str(alert["alert"]))
def test_an_alert_says_what_is_wrong_and_what_to_do(alert: JSON) -> None:
    assert alert["labels"]["severity"] in {"info", "warning", "critical"}
    assert set(alert["annotations"]) == {"summary", "description", "runbook"}
    assert "for" in alert


def test_every_alert_is_seen_to_fire() -> None:
    tests = (MONITORING / "alerts_test.yaml").read_text(encoding="utf-8")

    for alert in alerts():
        assert f'alertname="{alert["alert"]}"' in tests


def test_every_alert_is_in_the_runbook() -> None:
    text = OPERATIONS.read_text(encoding="utf-8")

    for alert in alerts():
        assert f"`{alert['alert']}`" in text


def test_panels_do_not_overlap_and_say_what_they_show() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        assert panel["description"]
        taken |= cells

    assert len({panel["id"] for panel in panels()}) == len(panels())
