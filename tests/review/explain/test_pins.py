"""Rules that name nodes."""

from typing import Any

import pytest

from extender.framework.interface import Profile
from extender.review.explain import pins
from extender.review.explain.schema import Pin
from tests.builders import JSON, a_node, a_pod, node_json, required, requirement, some_nodes
from tests.review.explain.asking import SETTINGS, an_inquiry

HOST = pins.HOSTNAME
NODES = [node_json(name, labels={HOST: f"{name}.local"}) for name in ("a", "b")]


def fields(*names: str) -> JSON:
    rules = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = [{"matchFields": [rule]} for rule in rules]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def pinned(**rules: Any) -> Pin | None:
    pod = a_pod(**rules)
    profile = an_inquiry(pod, *NODES).profile
    return pins.of(pod, profile, SETTINGS, some_nodes(*NODES))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, None),
        ({"node_selector": {"zone": "a"}}, None),
        (
            {"node_selector": {HOST: "b.local"}},
            Pin((f"nodeSelector {HOST}=b.local",), ("b",)),
        ),
        (
            {"affinity": required([requirement(HOST, "In", "a.local", "b.local")])},
            Pin((f"native node affinity {HOST} In a.local, b.local",), ("a", "b")),
        ),
        (
            {"annotated_affinity": fields("a")},
            Pin(("annotation node affinity metadata.name In a",), ("a",)),
        ),
        (
            {"affinity": fields("a", "gone")},
            Pin(("native node affinity metadata.name In a, gone",), ("a",)),
        ),
        (
            {
                "affinity": required(
                    [requirement(HOST, "In", "a.local")], [requirement("x", "Exists")]
                )
            },
            None,
        ),
        ({"affinity": required([requirement(HOST, "NotIn", "a.local")])}, None),
        (
            {"node_selector": {HOST: "b.local"}, "affinity": fields("a")},
            Pin(
                (f"nodeSelector {HOST}=b.local", "native node affinity metadata.name In a"),
                (),
            ),
        ),
        ({"annotated_affinity": "]"}, None),
    ],
)
def test_what_pins_a_pod(rules: dict[str, Any], expected: Pin | None) -> None:
    assert pinned(**rules) == expected


def test_a_profile_that_reads_no_affinity_pins_nobody() -> None:
    pod = a_pod(node_selector={HOST: "b"})

    assert pins.of(pod, Profile("test", (), ()), SETTINGS, [a_node()]) is None
