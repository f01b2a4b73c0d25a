"""The operator's door."""

import platform
from datetime import datetime
from typing import Any

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from extender import __version__
from extender.config.schema import Config, ProfileConfig
from extender.errors import NotSyncedError
from extender.rows import IMPLEMENTATION
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
from tests.serving import (
    BrokenSource,
    Client,
    FixedSource,
    names_request,
    nodes_request,
    served,
)

SPOT = node_json("spot-node", taint("sla", "950"))
PLAIN = node_json("plain-node")
CORDONED = node_json("cordoned-node", unschedulable=True)
ALL = ("spot-node", "plain-node", "cordoned-node")

Labels = dict[str, str]
# Every series that applies without a live cluster and without CEL, with the names of its labels.
SERIES = {
    "scheduler_plugin_evaluation_total": {"plugin", "extension_point", "profile", "status"},
    "scheduler_plugin_execution_duration_seconds": {"plugin", "extension_point", "status"},
    "scheduler_framework_extension_point_duration_seconds": {
        "extension_point",
        "status",
        "profile",
    },
    "leeway_requests_total": {"verb", "mode", "code"},
    "leeway_request_duration_seconds": {"verb", "mode"},
    "leeway_request_nodes": {"verb", "mode"},
    "leeway_value_parse_failures_total": {"source", "kind"},
    "leeway_build_info": {"version", "rows"},
}


async def samples(client: Client) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    """The page of metrics: series by name, values by labels."""
    status, page = await client.get("/metrics")
    assert status == 200
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


async def evaluations(client: Client, **wanted: str) -> dict[tuple[str, str, str], float]:
    """Counts by plugin, extension point and status; other labels as wanted."""
    series = (await samples(client)).get("scheduler_plugin_evaluation_total", {})
    return {
        (labels["plugin"], labels["extension_point"], labels["status"]): value
        for labels, value in ((dict(key), value) for key, value in series.items())
        if wanted.items() <= labels.items()
    }


async def test_livez() -> None:
    async with served() as client:
        assert await client.get("/livez") == (200, "ok")


async def test_readyz_and_what_it_is_made_of() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        brief = await client.get("/readyz")
        status, verbose = await client.get("/readyz?verbose")

    assert brief == (200, "ok")
    assert status == 200
    assert verbose.splitlines() == [
        "[+]cluster ok",
        "    fixed nodes",
        "[+]shutdown ok",
        "readyz check passed",
    ]


async def test_readyz_without_a_source_says_what_works() -> None:
    async with served() as client:
        status, verbose = await client.get("/readyz?verbose")

    assert status == 200
    assert "only whole-node requests are answered" in verbose


async def test_version() -> None:
    async with served() as client:
        status, text = await client.get("/version")

    assert status == 200
    assert msgspec.json.decode(text) == {
        "version": __version__,
        "python": platform.python_version(),
    }


async def test_status_tells_who_called_when_and_in_which_mode() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        await client.ask("filter", names_request(pod_json(), "plain-node"))
        await client.ask("filter", names_request(pod_json(), "plain-node"))
        await client.post(
            "prioritize",
            msgspec.json.encode(nodes_request(pod_json(), PLAIN)),
            headers={"User-Agent": "kube-scheduler/v1.36.0"},
        )
        status, text = await client.get("/status")

    page: Any = msgspec.json.decode(text)
    assert status == 200
    assert page["cluster"] == "fixed nodes"
    assert datetime.fromisoformat(page["startedAt"]).tzinfo is not None
    assert all(datetime.fromisoformat(each.pop("last")).tzinfo for each in page["callers"])
    agent = page["callers"][1].pop("userAgent")
    assert agent.startswith("Python/")
    assert page["callers"] == [
        {
            "remote": "127.0.0.1",
            "userAgent": "kube-scheduler/v1.36.0",
            "certificate": None,
            "verb": "prioritize",
            "mode": "nodes",
            "calls": 1,
        },
        {
            "remote": "127.0.0.1",
            "certificate": None,
            "verb": "filter",
            "mode": "names",
            "calls": 2,
        },
    ]


async def test_status_holds_no_name_of_a_pod_or_a_node() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        await client.ask("filter", names_request(pod_json(name="secret-job"), "plain-node"))
        _, text = await client.get("/status")

    assert "secret-job" not in text
    assert "plain-node" not in text


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics", "/version", "/status"])
async def test_pages_are_only_to_be_read(path: str) -> None:
    async with served() as client, client.session.post(client.ops + path) as response:
        assert response.status == 405


@pytest.mark.parametrize("path", ["/explain", "/", "/metrics/", "/healthz"])
async def test_other_paths_do_not_exist(path: str) -> None:
    async with served() as client:
        assert (await client.get(path))[0] == 404


async def test_every_series_with_the_names_of_its_labels() -> None:
    odd = node_json("odd-node", taint("sla", "high"))
    pod = pod_json(toleration("sla", "Gt", "900"), name="secret-job", namespace="secret-space")
    async with served(source=FixedSource(SPOT, PLAIN, odd)) as client:
        await client.ask("filter", names_request(pod, "spot-node", "plain-node", "odd-node"))
        _, page = await client.get("/metrics")
        found = await samples(client)

    families = {name: found.get(name) or found.get(f"{name}_count") or {} for name in SERIES}
    assert {
        name: {frozenset(dict(key)) for key in series} for name, series in families.items()
    } == {name: {frozenset(labels)} for name, labels in SERIES.items()}
    assert not [name for name in found if name.endswith("_created")]
    for name in ("secret-job", "secret-space", "spot-node", "plain-node", "odd-node"):
        assert name not in page


async def test_a_plugin_counts_the_nodes_that_reached_it() -> None:
    pod = pod_json(node_selector={"tier": "gold"})
    async with served(source=FixedSource(SPOT, PLAIN, CORDONED)) as client:
        await client.ask("filter", names_request(pod, *ALL))
        counts = await evaluations(client, profile="default-scheduler")

    refused = "UnschedulableAndUnresolvable"
    assert counts == {
        ("NodeUnschedulable", "PreFilter", "Success"): 1,
        ("TaintToleration", "PreFilter", "Success"): 1,
        ("NodeAffinity", "PreFilter", "Success"): 1,
        ("VolumeBinding", "PreFilter", "Skip"): 1,
        ("PodTopologySpread", "PreFilter", "Skip"): 1,
        ("NodeUnschedulable", "Filter", refused): 1,
        ("NodeUnschedulable", "Filter", "Success"): 2,
        ("TaintToleration", "Filter", refused): 1,
        ("TaintToleration", "Filter", "Success"): 1,
        ("NodeAffinity", "Filter", refused): 1,
    }


async def test_counts_add_up_over_calls_and_modes() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        for _ in range(3):
            await client.ask("filter", names_request(pod_json(), "plain-node"))
        await client.ask("filter", nodes_request(pod_json(), SPOT, PLAIN))
        counts = await evaluations(client)

    assert counts == {
        ("NodeUnschedulable", "PreFilter", "Success"): 4,
        ("TaintToleration", "PreFilter", "Success"): 4,
        ("NodeAffinity", "PreFilter", "Skip"): 4,
        ("VolumeBinding", "PreFilter", "Skip"): 4,
        ("PodTopologySpread", "PreFilter", "Skip"): 4,
        ("NodeUnschedulable", "Filter", "Success"): 5,
        ("TaintToleration", "Filter", "Success"): 4,
        ("TaintToleration", "Filter", "UnschedulableAndUnresolvable"): 1,
    }


async def test_an_unreadable_annotation_settles_every_node_before_filter() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        pod = pod_json(annotated_tolerations="[{")
        await client.ask("filter", names_request(pod, "plain-node"))
        counts = await evaluations(client)

    assert counts == {("NodeUnschedulable", "PreFilter", "UnschedulableAndUnresolvable"): 1}


async def test_prioritize_counts_scores_and_preempt_counts_filters() -> None:
    pod = pod_json(affinity=preferred((1, [requirement("tier", "Exists")])))
    victims = {"plain-node": {"Pods": [{"UID": "a"}], "NumPDBViolations": 0}}
    async with served(source=FixedSource(SPOT, PLAIN)) as client:
        await client.ask("prioritize", names_request(pod, "spot-node", "plain-node", "stranger"))
        scored = await evaluations(client)
        await client.ask("preempt", {"Pod": pod_json(), "NodeNameToMetaVictims": victims})
        both = await evaluations(client)

    assert scored == {
        ("TaintToleration", "Score", "Success"): 2,
        ("NodeAffinity", "Score", "Success"): 2,
        ("PodTopologySpread", "Score", "Skip"): 1,
    }
    assert both[("TaintToleration", "Filter", "Success")] == 1


def requests_of(found: Any) -> dict[tuple[str, str, str], float]:
    series = found["leeway_requests_total"]
    by_labels = ((dict(key), value) for key, value in series.items())
    return {(labels["verb"], labels["mode"], labels["code"]): value for labels, value in by_labels}


async def test_requests_are_counted_by_verb_mode_and_code() -> None:
    victims = {"plain-node": {"Pods": [{"UID": "a"}], "NumPDBViolations": 0}}
    async with served(source=FixedSource(PLAIN)) as client:
        await client.ask("filter", names_request(pod_json(), "plain-node"))
        await client.ask("filter", names_request(pod_json(), "plain-node", "stranger"))
        await client.ask("filter", nodes_request(pod_json(), PLAIN))
        await client.ask("prioritize", nodes_request(pod_json(), PLAIN))
        await client.ask("preempt", {"Pod": pod_json(), "NodeNameToMetaVictims": victims})
        found = await samples(client)

    assert requests_of(found) == {
        ("filter", "names", "200"): 2,
        ("filter", "nodes", "200"): 1,
        ("prioritize", "nodes", "200"): 1,
        ("preempt", "names", "200"): 1,
    }
    filter_names = frozenset({("verb", "filter"), ("mode", "names")})
    assert found["leeway_request_nodes_sum"][filter_names] == 3
    assert found["leeway_request_nodes_count"][filter_names] == 2
    assert found["leeway_request_duration_seconds_count"][filter_names] == 2


async def test_faults_are_counted_by_their_code() -> None:
    source = BrokenSource(NotSyncedError("not yet"))
    async with served(source=source) as client:
        await client.post("filter", b"{")
        await client.post("filter", b"{}", headers={"Content-Encoding": "gzip"})
        body = msgspec.json.encode(names_request(pod_json(), "a"))
        await client.post("filter", body)
        await client.post("prioritize", body)
        source.fault = RuntimeError("broken")
        await client.post("filter", body)
        counts = requests_of(await samples(client))

    by_code: dict[tuple[str, str], float] = {}
    for (verb, _mode, code), value in counts.items():
        by_code[verb, code] = by_code.get((verb, code), 0) + value
    assert by_code == {
        ("filter", "400"): 1,
        ("filter", "415"): 1,
        ("filter", "200"): 2,
        ("prioritize", "500"): 1,
    }


async def test_durations_have_one_observation_a_call() -> None:
    async with served(source=FixedSource(SPOT, PLAIN)) as client:
        for _ in range(2):
            await client.ask("filter", names_request(pod_json(), "spot-node", "plain-node"))
        found = await samples(client)

    plugin = found["scheduler_plugin_execution_duration_seconds_count"]
    point = found["scheduler_framework_extension_point_duration_seconds_count"]
    assert {
        (dict(key)["plugin"], dict(key)["extension_point"], dict(key)["status"]): value
        for key, value in plugin.items()
    } == {
        ("NodeUnschedulable", "PreFilter", "Success"): 2,
        ("TaintToleration", "PreFilter", "Success"): 2,
        ("NodeAffinity", "PreFilter", "Skip"): 2,
        ("VolumeBinding", "PreFilter", "Skip"): 2,
        ("PodTopologySpread", "PreFilter", "Skip"): 2,
        ("NodeUnschedulable", "Filter", "Success"): 2,
        ("TaintToleration", "Filter", "Success"): 2,
    }
    assert {
        (dict(key)["extension_point"], dict(key)["status"], dict(key)["profile"]): value
        for key, value in point.items()
    } == {
        ("PreFilter", "Success", "default-scheduler"): 2,
        ("Filter", "Success", "default-scheduler"): 2,
    }


async def profiles_seen(client: Client) -> set[str]:
    series = (await samples(client))["scheduler_plugin_evaluation_total"]
    return {dict(key)["profile"] for key in series}


async def test_without_profiles_twenty_scheduler_names_stand_and_the_rest_is_other() -> None:
    async with served() as client:
        for i in [*range(25), 3, 24]:
            pod = pod_json(scheduler=f"scheduler-{i}")
            await client.ask("filter", nodes_request(pod, PLAIN))
        seen = await profiles_seen(client)
        others = await evaluations(client, profile="other")
        third = await evaluations(client, profile="scheduler-3")

    assert seen == {f"scheduler-{i}" for i in range(20)} | {"other"}
    assert others[("TaintToleration", "Filter", "Success")] == 6
    assert third[("TaintToleration", "Filter", "Success")] == 2


async def test_with_profiles_any_other_scheduler_name_is_other() -> None:
    config = Config(profiles=(ProfileConfig("ours", {"TaintToleration": 3}),))
    affinity = required([requirement("tier", "DoesNotExist")])
    async with served(config) as client:
        for scheduler in ("ours", "theirs", ""):
            pod = pod_json(scheduler=scheduler, annotated_affinity=affinity)
            await client.ask("filter", nodes_request(pod, PLAIN))
        ours = await evaluations(client, profile="ours")
        other = await evaluations(client, profile="other")
        seen = await profiles_seen(client)

    assert seen == {"ours", "other"}
    assert ours == {
        ("TaintToleration", "PreFilter", "Success"): 1,
        ("TaintToleration", "Filter", "Success"): 1,
    }
    assert other == {
        ("NodeAffinity", "PreFilter", "Success"): 2,
        ("NodeAffinity", "Filter", "Success"): 2,
    }


ODD_TAINT = node_json(
    "a", taint("sla", "high"), taint("kernel", "six"), labels={"n": "x", "v": "y"}
)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            pod_json(toleration("sla", "Gt", "900")), {("taint", "integer"): 1}, id="a taint"
        ),
        pytest.param(
            pod_json(toleration("sla", "Exists"), toleration("kernel", "SemverGt", "5")),
            {("taint", "semver"): 1},
            id="a taint that should be a version",
        ),
        pytest.param(
            pod_json(toleration("sla", "Gt", "much"), toleration("k", "SemverLt", "new")),
            {("toleration", "integer"): 1, ("toleration", "semver"): 1},
            id="values of tolerations",
        ),
        pytest.param(
            pod_json(
                toleration(operator="Exists"),
                affinity=required(
                    [requirement("n", "Gt", "5")], [requirement("v", "SemverGt", "5")]
                ),
            ),
            {("label", "integer"): 1, ("label", "semver"): 1},
            id="labels",
        ),
        pytest.param(
            pod_json(
                toleration(operator="Exists"),
                affinity=required(
                    [requirement("n", "Gt", "m")], [requirement("v", "SemverEq", "m")]
                ),
            ),
            {("affinity", "integer"): 1, ("affinity", "semver"): 1},
            id="values of an affinity",
        ),
        pytest.param(pod_json(toleration("sla", "Equal", "x")), {}, id="nothing is compared"),
    ],
)
async def test_values_that_cannot_be_read_are_counted_by_where_they_stand(
    pod: JSON, expected: dict[tuple[str, str], float]
) -> None:
    async with served() as client:
        await client.ask("filter", nodes_request(pod, ODD_TAINT))
        series = (await samples(client)).get("leeway_value_parse_failures_total", {})

    counted = {(dict(key)["source"], dict(key)["kind"]): value for key, value in series.items()}
    assert counted == expected


async def test_scheduler_names_of_any_kind_do_not_break_the_page() -> None:
    async with served() as client:
        for name in ('quo"te', "line\nbreak", "back\\slash", "é", "x" * 10_000):
            await client.ask("filter", nodes_request(pod_json(scheduler=name), PLAIN))
        await client.post(
            "filter", b'{"Pod": {"spec": {"schedulerName": "\\ud800"}}, "Nodes": {"items": [{}]}}'
        )
        await samples(client)
        status, _ = await client.get("/status")

    assert status == 200


async def test_the_build_is_told() -> None:
    async with served() as client:
        found = await samples(client)

    labels = frozenset({("version", __version__), ("rows", IMPLEMENTATION)})
    assert found["leeway_build_info"] == {labels: 1.0}
