"""What compile mode makes of a pod: states, and where each toleration comes from."""

from typing import Any

import msgspec
import pytest

from extender.framework import rules
from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import LivePod, Pod, Toleration
from extender.native.settings import CompileSettings
from extender.review import compilation
from extender.review.compilation import Compilation
from tests.builders import JSON, PREFIX, a_node, node_json, pod_json, some_nodes, taint, toleration

ABOVE = toleration("sla", "Gt", "900")
EVICTING = toleration("tier", "Gt", "5", "NoExecute")
GUARD = toleration("tier", "Exists", "", "NoExecute", tolerationSeconds=30)
NODES = some_nodes(
    node_json("plain"),
    node_json("silver", taint("sla", "950")),
    node_json("gold", taint("sla", "980"), unschedulable=True),
    node_json("serving", taint("tier", "7", "NoExecute")),
)


def live(document: JSON, **more: Any) -> LivePod:
    document["spec"] |= more
    return msgspec.json.decode(msgspec.json.encode(document), type=LivePod)


def compiled(
    document: JSON, settings: Settings | None = None, limit: int = 64, **more: Any
) -> Compilation | None:
    chosen = CompileSettings(max_tolerations=limit)
    view = compilation.view_of(NODES, chosen)
    return compilation.of_pod(live(document, **more), view, settings or Settings(), chosen)


def found(document: JSON, settings: Settings | None = None, **more: Any) -> Compilation:
    made = compiled(document, settings, **more)
    assert made is not None
    return made


def equal(key: str, value: str, effect: str = "NoSchedule") -> JSON:
    return toleration(key, "Equal", value, effect)


def texts(tolerations: tuple[Toleration, ...]) -> list[str]:
    return list(map(compilation.text_of, tolerations))


WHOLE = [equal("sla", "950"), equal("sla", "980")]


@pytest.mark.parametrize(
    ("pod", "state", "missing"),
    [
        pytest.param(
            pod_json(*WHOLE, annotated_tolerations=[ABOVE]), "current", [], id="all that is matched"
        ),
        pytest.param(
            pod_json(toleration("sla", "Exists"), annotated_tolerations=[ABOVE]),
            "current",
            [],
            id="tolerated by itself",
        ),
        pytest.param(
            pod_json(equal("sla", "950"), annotated_tolerations=[ABOVE]),
            "behind",
            ["sla=980:NoSchedule"],
            id="a value that came later",
        ),
        pytest.param(
            pod_json(ABOVE),
            "behind",
            ["sla=950:NoSchedule", "sla=980:NoSchedule"],
            id="a native rule",
        ),
        pytest.param(pod_json(annotated_tolerations="["), "refused", [], id="nobody can read it"),
    ],
)
def test_the_state_of_a_pod_that_waits(pod: JSON, state: str, missing: list[str]) -> None:
    made = found(pod)

    assert (made.state, texts(made.missing)) == (state, missing)


def test_what_the_limit_leaves_out_is_named() -> None:
    made = found(pod_json(equal("sla", "980"), annotated_tolerations=[ABOVE]), limit=1)

    assert (made.state, made.missing) == ("cut", ())
    assert [compilation.text_of(each.toleration) for each in made.left_out] == [
        "sla=950:NoSchedule"
    ]


def test_what_is_about_to_be_added_is_not_left_out() -> None:
    made = found(pod_json(annotated_tolerations=[ABOVE]), limit=1)

    assert (made.state, texts(made.missing)) == ("behind", ["sla=950:NoSchedule"])
    assert [each.toleration.value for each in made.left_out] == ["980"]


@pytest.mark.parametrize(
    ("pod", "state", "missing"),
    [
        pytest.param(
            pod_json(
                equal("tier", "7", "NoExecute"),
                GUARD,
                annotated_tolerations=[EVICTING],
                annotations={PREFIX + "guarded-keys": '["tier"]'},
            ),
            "current",
            [],
            id="guarded",
        ),
        pytest.param(
            pod_json(equal("tier", "7", "NoExecute"), annotated_tolerations=[EVICTING]),
            "behind",
            ["tier:NoExecute for 30 s"],
            id="without a guard",
        ),
        pytest.param(
            pod_json(
                GUARD,
                equal("tier", "7", "NoExecute"),
                annotated_tolerations=[EVICTING],
                annotations={PREFIX + "guarded-keys": '["tier"]'},
            ),
            "behind",
            [],
            id="a guard before others",
        ),
        pytest.param(
            pod_json(annotated_tolerations=[toleration("sla", "Gt", "900", "NoSchedule")]),
            "current",
            [],
            id="nobody looks for another node",
        ),
    ],
)
def test_the_state_of_a_pod_with_a_node(pod: JSON, state: str, missing: list[str]) -> None:
    made = found(pod, nodeName="serving")

    assert (made.state, texts(made.missing)) == (state, missing)


def test_every_toleration_comes_from_somewhere() -> None:
    pod = pod_json(
        equal("sla", "950"),
        equal("sla", "800"),
        toleration("x", "Exists"),
        equal("tier", "7", "NoExecute"),
        GUARD,
        toleration("tier", "SemverGt", "6", "NoExecute"),
        annotated_tolerations=[
            toleration("sla", "Gt", "900", "NoSchedule"),
            EVICTING,
            {"expression": "taint.key == 'x'"},
        ],
        annotations={PREFIX + "guarded-keys": '["tier"]'},
    )
    made = found(pod, nodeName="serving")
    told = [
        (each.origin, each.rule.carrier if each.rule else "", each.toleration.value)
        for each in made.tolerations
    ]

    assert told == [
        ("rule", "annotation", "950"),
        ("narrowed", "", "800"),
        ("own", "", ""),
        ("rule", "native", "7"),
        ("guard", "", ""),
    ]
    assert texts(made.narrowed) == ["sla=800:NoSchedule"]
    assert made.is_seen


def test_a_rule_without_a_key_is_found_too() -> None:
    made = found(pod_json(annotated_tolerations=[{"expression": "taint.value == '950'"}]))

    assert [each.rule.toleration.expression for each in made.tolerations if each.rule] == [
        "taint.value == '950'"
    ]
    assert not made.is_seen


def test_of_a_gate_that_is_off_everything_is_narrowed() -> None:
    settings = Settings(gates=FeatureGates(comparison_operators=False))
    made = found(pod_json(*WHOLE, annotated_tolerations=[ABOVE]), settings)

    assert (made.state, len(made.narrowed)) == ("current", 2)


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(pod_json(equal("sla", "950")), id="no rules"),
        pytest.param(pod_json(annotated_tolerations=[ABOVE], scheduler="other"), id="scheduler"),
        pytest.param(pod_json(annotated_affinity={}), id="node affinity alone"),
    ],
)
def test_who_has_nothing_to_compile(pod: JSON) -> None:
    assert compiled(pod) is None


def test_the_pod_of_a_daemon_set_is_left_alone() -> None:
    owners = [{"kind": "DaemonSet", "name": "agent", "controller": True}]
    pod, other = pod_json(annotated_tolerations=[ABOVE]), pod_json()
    for each in (pod, other):
        each["metadata"]["ownerReferences"] = owners
    chosen = CompileSettings()

    assert compiled(pod) is None
    assert compilation.is_daemon(live(pod), Settings(), chosen)
    assert not compilation.is_daemon(live(other), Settings(), chosen)
    assert not compilation.is_daemon(live(pod, schedulerName="other"), Settings(), chosen)
    assert not compilation.is_daemon(
        live(pod_json(annotated_tolerations=[ABOVE])), Settings(), chosen
    )


def test_the_rules_of_an_unreadable_annotation_are_none() -> None:
    pod = live(pod_json(ABOVE, annotated_tolerations="["))
    written = compilation.written_rules(pod, Settings(), CompileSettings())

    assert [each.carrier for each in written] == ["native"]


def test_a_plugin_that_judged_the_pod_before_does_not_matter() -> None:
    settings, document = Settings(), pod_json(annotated_tolerations=[ABOVE])
    rules.pod_tolerations(msgspec.convert(document, Pod), settings)

    assert found(document, settings).state == "behind"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (equal("sla", "950"), "sla=950:NoSchedule"),
        (toleration("sla", "", "950"), "sla=950"),
        (toleration("gpu", "Exists", "", "NoExecute"), "gpu:NoExecute"),
        (toleration("", "Exists"), "every key"),
        (GUARD, "tier:NoExecute for 30 s"),
    ],
)
def test_a_toleration_reads_like_a_taint(written: JSON, text: str) -> None:
    assert compilation.text_of(msgspec.convert(written, Toleration)) == text


def test_a_cordon_keeps_pods_away_like_a_taint() -> None:
    settings = Settings()
    pod = msgspec.convert(pod_json(toleration("sla", "Exists")), Pod)
    joined = rules.pod_tolerations(pod, settings).joined

    assert compilation.opened_by(joined, NODES) == {"plain", "silver"}
    assert len(compilation.hard_taints(a_node("n", taint("a"), unschedulable=True))) == 2
