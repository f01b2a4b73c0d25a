"""Whose pods are judged by what."""

from typing import Any

import pytest

from extender.config.schema import Config, ProfileConfig
from extender.plugins import DEFAULT_WEIGHTS
from tests.builders import (
    JSON,
    node_json,
    pod_json,
    preferred,
    required,
    requirement,
    taint,
    toleration,
)
from tests.serving import Client, FixedSource, names_request, nodes_request, served

GOLD = node_json("gold", taint("sla", "950"), labels={"tier": "gold"})
PLAIN = node_json("plain")
CORDONED = node_json("cordoned", unschedulable=True)
SOFT = node_json("soft", taint("old", "yes", "PreferNoSchedule"))
ALL = (GOLD, PLAIN, CORDONED, SOFT)
EVERYWHERE = ["gold", "plain", "cordoned", "soft"]

OURS = ProfileConfig("extended-scheduler", DEFAULT_WEIGHTS)
IS_GOLD = [requirement("tier", "In", "gold")]


def only(scheduler: str, **weights: int) -> Config:
    return Config(profiles=(ProfileConfig(scheduler, weights),))


async def passing(client: Client, pod: JSON) -> list[str]:
    answer = await client.ask("filter", nodes_request(pod, *ALL))
    return [node["metadata"]["name"] for node in answer["Nodes"]["items"]]


async def scoring(client: Client, pod: JSON) -> list[int]:
    """The score of each node; one that is left out has 0."""
    answer: list[Any] = await client.ask("prioritize", nodes_request(pod, *ALL))
    told = {each["Host"]: each["Score"] for each in answer}
    assert 0 not in told.values()
    return [told.get(name, 0) for name in EVERYWHERE]


@pytest.mark.parametrize(
    ("config", "scheduler", "expected"),
    [
        pytest.param(Config(), "", ["plain", "soft"], id="no profiles: a pod that names none"),
        pytest.param(Config(), "any", ["plain", "soft"], id="no profiles: any scheduler"),
        pytest.param(
            Config(profiles=(OURS,)),
            "extended-scheduler",
            ["plain", "soft"],
            id="ours, all plugins",
        ),
        pytest.param(Config(profiles=(OURS,)), "other-scheduler", EVERYWHERE, id="not ours"),
        pytest.param(Config(profiles=(OURS,)), "", EVERYWHERE, id="none named is not ours"),
        pytest.param(
            only("default-scheduler", TaintToleration=3),
            "",
            ["plain", "cordoned", "soft"],
            id="none named is default-scheduler",
        ),
        pytest.param(
            only("ours", NodeUnschedulable=0), "ours", ["gold", "plain", "soft"], id="one plugin"
        ),
        pytest.param(
            only("ours", NodeAffinity=2), "ours", EVERYWHERE, id="a plugin without an opinion"
        ),
    ],
)
async def test_the_scheduler_name_decides_which_plugins_filter(
    config: Config, scheduler: str, expected: list[str]
) -> None:
    async with served(config) as client:
        assert await passing(client, pod_json(scheduler=scheduler)) == expected


async def test_each_configured_profile_has_its_own_plugins() -> None:
    config = Config(
        profiles=(
            ProfileConfig("taints", {"TaintToleration": 3}),
            ProfileConfig("cordons", {"NodeUnschedulable": 0}),
        )
    )
    async with served(config) as client:
        assert await passing(client, pod_json(scheduler="taints")) == ["plain", "cordoned", "soft"]
        assert await passing(client, pod_json(scheduler="cordons")) == ["gold", "plain", "soft"]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(Config(), [10, 6, 6, 0], id="3 to 2 unless configured"),
        pytest.param(only("ours", TaintToleration=1, NodeAffinity=9), [10, 1, 1, 0], id="1 to 9"),
        pytest.param(only("ours", TaintToleration=1), [10, 10, 10, 0], id="one plugin alone"),
        pytest.param(
            only("ours", TaintToleration=0, NodeAffinity=2), [10, 0, 0, 0], id="weight 0 is silent"
        ),
        pytest.param(only("ours", NodeUnschedulable=0), [0, 0, 0, 0], id="no scorer at all"),
    ],
)
async def test_the_weights_of_a_profile_count(config: Config, expected: list[int]) -> None:
    pod = pod_json(scheduler="ours", affinity=preferred((1, IS_GOLD)))
    async with served(config) as client:
        assert await scoring(client, pod) == expected


async def test_a_pod_of_another_profile_is_filtered_by_its_affinity_annotation_only() -> None:
    pod = pod_json(
        scheduler="other-scheduler",
        affinity=required([requirement("tier", "In", "nowhere")]),
        node_selector={"tier": "nowhere"},
        annotated_affinity=required(IS_GOLD),
        annotated_tolerations="{ unreadable",
    )
    async with served(Config(profiles=(OURS,))) as client:
        assert await passing(client, pod) == ["gold"]


async def test_a_pod_of_another_profile_is_scored_by_its_affinity_annotation_only() -> None:
    not_gold = [requirement("tier", "NotIn", "gold")]
    pod = pod_json(
        scheduler="other-scheduler",
        affinity=preferred((100, not_gold)),
        annotated_affinity=preferred((1, IS_GOLD)),
        annotated_tolerations="{ unreadable",
    )
    async with served(Config(profiles=(OURS,))) as client:
        assert await scoring(client, pod) == [10, 0, 0, 0]


async def test_a_pod_of_another_profile_with_an_unreadable_affinity_is_refused() -> None:
    pod = pod_json(scheduler="other-scheduler", annotated_affinity="[]")
    async with served(Config(profiles=(OURS,))) as client:
        assert await passing(client, pod) == []


async def test_preemption_for_a_pod_of_another_profile_asks_its_annotation_only() -> None:
    victims = {"Pods": [{"UID": "a"}], "NumPDBViolations": 0}
    candidates = {node["metadata"]["name"]: victims for node in ALL}
    free = pod_json(scheduler="other-scheduler")
    bound = pod_json(scheduler="other-scheduler", annotated_affinity=required(IS_GOLD))
    async with served(Config(profiles=(OURS,)), FixedSource(*ALL)) as client:
        everywhere = await client.ask("preempt", {"Pod": free, "NodeNameToMetaVictims": candidates})
        gold = await client.ask("preempt", {"Pod": bound, "NodeNameToMetaVictims": candidates})

    assert list(everywhere["NodeNameToMetaVictims"]) == EVERYWHERE
    assert list(gold["NodeNameToMetaVictims"]) == ["gold"]


async def test_an_unknown_node_is_an_error_for_pods_of_other_profiles_too() -> None:
    pod = pod_json(toleration("sla", "Exists"), scheduler="other-scheduler")
    async with served(Config(profiles=(OURS,)), FixedSource(*ALL)) as client:
        answer = await client.ask("filter", names_request(pod, "new"))

    assert answer["Error"] == "1 node(s) not yet known to the extender"


async def test_another_annotation_prefix_is_the_only_one_that_counts() -> None:
    text = '[{"key": "sla", "operator": "Gt", "value": "900"}]'
    async with served(Config(annotation_prefix="example.org/")) as client:
        ours = pod_json(annotations={"example.org/tolerations": text})
        default = pod_json(annotations={"scheduling.leeway/tolerations": text})

        assert await passing(client, ours) == ["gold", "plain", "soft"]
        assert await passing(client, default) == ["plain", "soft"]
