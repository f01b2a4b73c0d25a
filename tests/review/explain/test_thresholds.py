"""How many nodes pass at which bound."""

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod
from extender.review.explain.thresholds import MAX_STEPS
from tests.builders import JSON, a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import explained


def tainted(*values: str) -> list[JSON]:
    return [node_json(f"n{i}", taint("sla", value)) for i, value in enumerate(values)]


def labelled(*values: str) -> list[JSON]:
    return [node_json(f"n{i}", labels={"kernel": value}) for i, value in enumerate(values)]


def rows(pod: Pod, *nodes: JSON, **more: Settings) -> list[str]:
    return [
        f"{each.operator} "
        + ", ".join(f"{'*' * s.is_current}{s.value}: {s.passing}" for s in each.steps)
        for each in explained(pod, *nodes, **more).thresholds
    ]


SLA = tainted("750", "850", "850", "950")


@pytest.mark.parametrize(
    ("rule", "nodes", "expected"),
    [
        (toleration("sla", "Gt", "950"), SLA, ["Gt 700: 4, 800: 3, 900: 1, *950: 0"]),
        (toleration("sla", "Lt", "800"), SLA, ["Lt *800: 1, 900: 3, 1000: 4"]),
        (toleration("sla", "Gt", "5"), tainted("7", "8"), ["Gt *5: 2, 7: 1"]),
        (toleration("sla", "Gt", "x"), tainted("7", "8"), ["Gt 6: 2, 7: 1"]),
        (toleration("sla", "Gt", "-5"), tainted("-20", "-3"), ["Gt -30: 2, *-5: 1"]),
        (
            toleration("sla", "SemverGt", "6.9"),
            tainted("5.10.0", "6.8.0"),
            ["SemverGt 5.10.0-0: 2, 6.8.0-0: 1, *6.9: 0"],
        ),
        (toleration("sla", "SemverEq", "6.9"), tainted("5.10.0", "6.8.0"), []),
        (toleration("sla", "Equal", "950"), SLA, []),
        (toleration("sla", "Gt", "950", "NoExecute"), SLA, []),
        (toleration("other", "Gt", "950"), SLA, []),
        (toleration("sla", "Gt", "5"), tainted("high"), []),
        ({"expression": "true"}, SLA, []),
    ],
)
def test_the_bounds_of_a_toleration(rule: JSON, nodes: list[JSON], expected: list[str]) -> None:
    assert rows(a_pod(rule), *nodes) == expected
    assert rows(a_pod(annotated_tolerations=[rule]), *nodes) == expected


def test_the_bounds_of_a_requirement() -> None:
    rules = [requirement("kernel", "SemverGt", "6.9"), requirement("kernel", "In", "x")]
    native = a_pod(affinity=required(rules[:1]))
    annotated = a_pod(annotated_affinity=required(rules[:1]))
    other = a_pod(affinity=required(rules[1:]))
    expected = ["SemverGt 5.10.0-0: 2, 6.8.0-0: 1, *6.9: 0"]

    assert rows(native, *labelled("5.10.0", "6.8.0"), node_json("bare")) == expected
    assert rows(annotated, *labelled("5.10.0", "6.8.0")) == expected
    assert rows(other, *labelled("5.10.0")) == []


def test_a_bound_that_does_not_matter_is_not_shown() -> None:
    nodes = [node_json(f"n{i}", taint("sla", v), taint("gpu")) for i, v in enumerate(("5", "9"))]

    assert rows(a_pod(toleration("sla", "Gt", "9")), *nodes) == []


@pytest.mark.parametrize(
    ("numbers", "first", "last"),
    [(range(500, 1000), "400", "*1000: 0"), (range(990, 1010), "988", "*2000: 0")],
)
def test_many_values_are_told_by_a_few_round_bounds(numbers: range, first: str, last: str) -> None:
    pod = a_pod(toleration("sla", "Gt", last[1:-3]))
    (row,) = rows(pod, *tainted(*map(str, numbers)))
    steps = row.removeprefix("Gt ").split(", ")

    assert 2 < len(steps) <= MAX_STEPS + 1
    assert steps[0].startswith(f"{first}: ")
    assert steps[-1] == last


def test_many_versions_are_told_by_a_few() -> None:
    pod = a_pod(toleration("sla", "SemverGt", "9"))
    (row,) = rows(pod, *tainted(*(f"5.{i}.0" for i in range(30))))

    assert row.startswith("SemverGt 5.0.0-0: 30, ")
    assert row.endswith(", *9: 0")
    assert row.count(":") <= MAX_STEPS + 1


def test_what_is_off_or_cannot_be_read_has_no_bounds() -> None:
    off = Settings(gates=FeatureGates(comparison_operators=False))
    pod = a_pod(toleration("sla", "Gt", "950"))

    assert rows(pod, *SLA, settings=off) == []
    assert rows(a_pod(annotated_tolerations="]"), *SLA) == []
