"""The constraints of a pod, and the nodes that count for them by extended rules."""

from collections.abc import Hashable
from typing import Any

import msgspec
import pytest

from extender.errors import AnnotationError, SelectorError
from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.match.label_selectors import Requirement, Selector
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import constraints
from extender.plugins.pod_topology_spread.constraints import HARD, SOFT, Constraint, Inclusions
from tests.builders import (
    JSON,
    node_json,
    pod_json,
    required,
    requirement,
    some_nodes,
    taint,
    toleration,
)

NO_POLICIES = Settings(gates=FeatureGates(node_inclusion_policy=False))
WEB = Selector((Requirement("app", "In", ("web",)),))


def written(**more: Any) -> JSON:
    return {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **more,
    }


def spread_pod(*each: JSON, labels: JSON | None = None, **more: Any) -> Pod:
    made = pod_json(**more)
    made["metadata"]["labels"] = labels
    made["spec"]["topologySpreadConstraints"] = list(each)
    return msgspec.convert(made, Pod)


def parsed(*each: JSON, labels: JSON | None = None) -> tuple[Constraint, ...]:
    return constraints.parse(spread_pod(*each, labels=labels), HARD, Settings())


def test_the_defaults() -> None:
    assert parsed(written()) == (
        Constraint("zone", 1, 1, WEB, False, honors_affinity=True, honors_taints=False),
    )


def test_every_field() -> None:
    full = written(
        maxSkew=3,
        topologyKey="rack",
        minDomains=4,
        nodeAffinityPolicy="Ignore",
        nodeTaintsPolicy="Honor",
    )

    assert parsed(full, labels={"app": "web"}) == (
        Constraint("rack", 3, 4, WEB, True, honors_affinity=False, honors_taints=True),
    )


@pytest.mark.parametrize(
    ("policy", "honors"), [("Honor", True), ("Ignore", False), ("honor", False), ("", False)]
)
def test_only_what_is_spelt_right_is_honoured(policy: str, honors: bool) -> None:
    (found,) = parsed(written(nodeAffinityPolicy=policy, nodeTaintsPolicy=policy))

    assert (found.honors_affinity, found.honors_taints) == (honors, honors)


@pytest.mark.parametrize("affinity", ["Honor", "Ignore", None])
@pytest.mark.parametrize("taints", ["Honor", "Ignore", None])
def test_without_their_gate_policies_are_ignored(affinity: str | None, taints: str | None) -> None:
    pod = spread_pod(written(nodeAffinityPolicy=affinity, nodeTaintsPolicy=taints))
    (found,) = constraints.parse(pod, HARD, NO_POLICIES)

    assert (found.honors_affinity, found.honors_taints) == (True, False)


def test_hard_and_soft_are_kept_apart() -> None:
    pod = spread_pod(written(), written(whenUnsatisfiable="ScheduleAnyway", maxSkew=2))

    assert [each.max_skew for each in constraints.parse(pod, HARD, Settings())] == [1]
    assert [each.max_skew for each in constraints.parse(pod, SOFT, Settings())] == [2]
    assert constraints.parse(msgspec.convert({}, Pod), HARD, Settings()) == ()


def test_match_label_keys_narrow_the_selector_by_the_pods_own_labels() -> None:
    own = {"app": "web", "hash": "1"}
    (found,) = parsed(written(matchLabelKeys=["hash", "not-there"]), labels=own)

    assert found.selector == WEB.also({"hash": "1"})
    assert found.matches_itself


def test_a_selector_that_cannot_be_read_is_a_fault_of_its_kind_alone() -> None:
    bad = written(labelSelector={"matchExpressions": [{"key": "a", "operator": "Like"}]})
    pod = spread_pod(bad)

    assert constraints.parse(pod, SOFT, Settings()) == ()
    with pytest.raises(SelectorError, match="Like"):
        constraints.parse(pod, HARD, Settings())


# --- Inclusion -----------------------------------------------------------------------------------

NODES = some_nodes(
    node_json("plain"),
    node_json("sla-800", taint("sla", "800"), labels={"kernel": "5.4.0"}),
    node_json("sla-950", taint("sla", "950"), labels={"kernel": "6.1.0"}),
    node_json("soft", taint("sla", "1", "PreferNoSchedule")),
    node_json("evicting", taint("sla", "950", "NoExecute")),
)


def included(pod: Pod, settings: Settings | None = None) -> list[str]:
    """The nodes that count for the pod's first constraint."""
    settings = settings or Settings()
    (first, *_) = constraints.parse(pod, HARD, settings)
    column = Inclusions(pod, settings).of(first).column(NODES)
    return [node.name for node, counts in zip(NODES, column, strict=True) if counts]


ABOVE_900 = [toleration("sla", "Gt", "900")]
NEWER = required([requirement("kernel", "SemverGt", "5.10")])


@pytest.mark.parametrize(
    ("policies", "pod", "expected"),
    [
        pytest.param({}, {}, "plain sla-800 sla-950 soft evicting", id="no rule, no policy"),
        pytest.param({"nodeTaintsPolicy": "Honor"}, {}, "plain soft", id="no toleration"),
        pytest.param(
            {"nodeTaintsPolicy": "Honor"},
            {"annotated_tolerations": ABOVE_900},
            "plain sla-950 soft",
            id="a threshold by annotation, which NoExecute does not trust",
        ),
        pytest.param(
            {"nodeTaintsPolicy": "Honor"},
            {"annotated_tolerations": [{"expression": "int(taint.value) < 900"}]},
            "plain sla-800 soft",
            id="an expression",
        ),
        pytest.param({}, {"annotated_affinity": NEWER}, "sla-950", id="a version by annotation"),
        pytest.param({}, {"node_selector": {"kernel": "5.4.0"}}, "sla-800", id="a node selector"),
        pytest.param(
            {"nodeAffinityPolicy": "Ignore"},
            {"annotated_affinity": NEWER},
            "plain sla-800 sla-950 soft evicting",
            id="affinity ignored",
        ),
        pytest.param(
            {"nodeTaintsPolicy": "Honor"},
            {"annotated_tolerations": ABOVE_900, "annotated_affinity": NEWER},
            "sla-950",
            id="both honoured",
        ),
    ],
)
def test_which_nodes_count(policies: JSON, pod: dict[str, Any], expected: str) -> None:
    assert included(spread_pod(written(**policies), **pod)) == expected.split()


def test_joined_tolerations_count_for_no_execute_too() -> None:
    pod = spread_pod(written(nodeTaintsPolicy="Honor"), annotated_tolerations=ABOVE_900)

    assert included(pod, Settings(no_execute="join")) == ["plain", "sla-950", "soft", "evicting"]


def test_pods_with_the_same_rules_share_their_nodes() -> None:
    honor = written(nodeTaintsPolicy="Honor")

    def key(pod: Pod) -> object:
        (first, *_) = constraints.parse(pod, HARD, Settings())
        return Inclusions(pod, Settings()).of(first).key

    one = key(spread_pod(honor, annotated_tolerations=ABOVE_900))
    two = key(spread_pod(honor, annotated_tolerations=ABOVE_900, name="another"))
    affine = key(spread_pod(honor, annotated_tolerations=ABOVE_900, annotated_affinity=NEWER))

    assert one == two
    assert len({one, affine, key(spread_pod(written())), key(spread_pod(honor))}) == 4
    # What the pod does not ask for is no difference.
    assert key(spread_pod(written(), annotated_tolerations=ABOVE_900)) == key(spread_pod(written()))


@pytest.mark.parametrize("carrier", ["annotated_tolerations", "annotated_affinity"])
def test_pods_with_the_same_rules_include_the_same_nodes(carrier: str) -> None:
    def key(value: str) -> Hashable:
        rules: dict[str, Any] = {
            "annotated_tolerations": [toleration(value)],
            "annotated_affinity": required([requirement(value, "Exists")]),
        }
        pod = spread_pod(written(nodeTaintsPolicy="Honor"), **{carrier: rules[carrier]})
        (first,) = constraints.parse(pod, HARD, Settings())
        return Inclusions(pod, Settings()).of(first).key

    assert key("x") == key("x")
    assert key("x") != key("y")


def test_the_rules_of_a_pod_are_read_once_and_only_where_they_are_honoured() -> None:
    pod = spread_pod(written(), written(topologyKey="rack"), annotated_tolerations="{")
    first, second = constraints.parse(pod, HARD, Settings())
    inclusions = Inclusions(pod, Settings())

    assert inclusions.of(first) is inclusions.of(second)

    honored = spread_pod(written(nodeTaintsPolicy="Honor"), annotated_tolerations="{")
    (third,) = constraints.parse(honored, HARD, Settings())
    with pytest.raises(AnnotationError):
        Inclusions(honored, Settings()).of(third)
