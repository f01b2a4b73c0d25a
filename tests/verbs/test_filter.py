"""filter, prioritize and preempt as a client sees them, in both wire modes."""

from typing import Any

import msgspec
import pytest

from extender.config.schema import Config
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
from tests.serving import Client, FixedSource, lean, names_request, nodes_request, served

GOLD = node_json("gold", taint("sla", "950"), labels={"tier": "gold"})
BRONZE = node_json("bronze", taint("sla", "800"), labels={"tier": "bronze"})
PLAIN = node_json("plain")
CORDONED = node_json("cordoned", unschedulable=True)
SOFT = node_json("soft", taint("old", "yes", "PreferNoSchedule"))
ALL = (GOLD, BRONZE, PLAIN, CORDONED, SOFT)
UNKNOWN = "node(s) not yet known to the extender"
CORDON = "node(s) were unschedulable"
MODES = ("names", "nodes")


def name_of(node: JSON) -> str:
    return str(node["metadata"]["name"])


def request_of(mode: str, pod: JSON, *nodes: JSON) -> JSON:
    if mode == "names":
        return names_request(pod, *map(name_of, nodes))
    return nodes_request(pod, *nodes)


def passed(answer: JSON) -> list[str]:
    if answer["NodeNames"] is not None:
        return list(answer["NodeNames"])
    return [name_of(node) for node in answer["Nodes"]["items"]]


async def refusals(client: Client, body: JSON) -> Any:
    answer = await client.ask("filter", body)
    assert answer["Error"] == ""
    assert answer["FailedNodes"] == {}
    return answer["FailedAndUnresolvableNodes"]


def scores(answer: list[JSON]) -> list[tuple[str, int]]:
    return [(each["Host"], each["Score"]) for each in answer]


@pytest.mark.parametrize("mode", MODES)
async def test_filter_keeps_the_order_of_the_request(mode: str) -> None:
    nodes = [node_json(name) for name in ("z", "a", "m", "b", "y")]
    async with served(source=FixedSource(*reversed(nodes))) as client:
        answer = await client.ask("filter", request_of(mode, pod_json(), *nodes))
        soft = [taint("old", "yes", "PreferNoSchedule")]
        listed = await client.ask(
            "prioritize", nodes_request(pod_json(), *nodes, node_json("soft", *soft))
        )

    assert passed(answer) == ["z", "a", "m", "b", "y"]
    assert [host for host, _ in scores(listed)] == ["z", "a", "m", "b", "y"]


@pytest.mark.parametrize("mode", MODES)
async def test_filter_refuses_with_upstreams_sentences(mode: str) -> None:
    pod = pod_json(toleration("sla", "Gt", "900"), node_selector={"tier": "gold"})
    async with served(source=FixedSource(*ALL)) as client:
        refused = await refusals(client, request_of(mode, pod, *ALL))

    mismatch = "node(s) didn't match Pod's node affinity/selector"
    assert refused == {
        "bronze": "node(s) had untolerated taint {sla: 800}",
        "plain": mismatch,
        "cordoned": CORDON,
        "soft": mismatch,
    }


@pytest.mark.parametrize("mode", MODES)
async def test_filter_of_no_nodes_passes_none_in_the_kind_that_was_asked(mode: str) -> None:
    async with served(source=FixedSource()) as client:
        answer = await client.ask("filter", request_of(mode, pod_json()))

    assert answer["NodeNames"] == ([] if mode == "names" else None)
    assert answer["Nodes"] == ({"items": []} if mode == "nodes" else None)
    assert answer["Error"] == ""


async def test_whole_nodes_come_back_byte_for_byte() -> None:
    odd = '{"metadata" : {"name":"a",  "x": 1.00}, "status":{"é":"\\u00e9"}, "spec":null}'
    body = f'{{"Pod": {{}}, "Nodes": {{"items": [{odd}]}}, "NodeNames": null}}'
    async with served() as client:
        status, text = await client.post("filter", body.encode())

    assert status == 200
    assert odd in text


async def test_a_node_that_the_request_carries_wins_over_the_cache() -> None:
    clean = node_json("gold")
    async with served(source=FixedSource(GOLD, PLAIN)) as client:
        whole = await client.ask("filter", nodes_request(pod_json(), clean))
        both = {**nodes_request(pod_json(), clean), "NodeNames": ["gold", "plain"]}
        by_name = await client.ask("filter", both)
        cached = await refusals(client, names_request(pod_json(), "gold", "plain"))

    assert passed(whole) == ["gold"]
    assert by_name["Nodes"] is None
    assert passed(by_name) == ["gold", "plain"]
    assert cached == {"gold": "node(s) had untolerated taint {sla: 950}"}


async def test_an_unknown_name_is_refused_if_another_node_passes() -> None:
    async with served(source=FixedSource(*ALL)) as client:
        body = names_request(pod_json(), "new-1", "plain", "gold", "new-2")
        answer = await client.ask("filter", body)

    assert passed(answer) == ["plain"]
    assert answer["Error"] == ""
    assert answer["FailedAndUnresolvableNodes"] == {
        "new-1": UNKNOWN,
        "gold": "node(s) had untolerated taint {sla: 950}",
        "new-2": UNKNOWN,
    }


@pytest.mark.parametrize(
    ("names", "count"),
    [
        pytest.param(["new-1"], 1, id="alone"),
        pytest.param(["new-1", "gold", "new-2"], 2, id="beside a refused node"),
    ],
)
async def test_unknown_names_are_an_error_if_none_passes(names: list[str], count: int) -> None:
    async with served(source=FixedSource(*ALL)) as client:
        answer = await client.ask("filter", names_request(pod_json(), *names))

    assert answer == {
        "Nodes": None,
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": f"{count} node(s) not yet known to the extender",
    }


async def test_prioritize_leaves_unknown_nodes_at_the_bottom() -> None:
    async with served(source=FixedSource(*ALL)) as client:
        body = names_request(pod_json(), "new-1", "plain", "soft", "new-2", "gold")
        answer = await client.ask("prioritize", body)

    assert scores(answer) == [("plain", 10), ("gold", 10)]


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(pod_json(), [10, 10, 10, 10, 0], id="soft taints alone"),
        pytest.param(
            pod_json(toleration("old", "Exists")), [0] * 5, id="nothing to tell apart: all 0"
        ),
        pytest.param(
            pod_json(
                toleration("old", "Exists"),
                affinity=preferred(
                    (4, [requirement("tier", "Exists")]), (4, [requirement("tier", "In", "gold")])
                ),
            ),
            [10, 5, 0, 0, 0],
            id="preferences alone",
        ),
        pytest.param(
            pod_json(affinity=preferred((1, [requirement("tier", "In", "gold")]))),
            [10, 6, 6, 6, 0],
            id="both, weighed 3 to 2",
        ),
        pytest.param(
            pod_json(
                affinity=preferred((5, [requirement("tier", "In", "gold")])),
                annotated_affinity=preferred((5, [requirement("tier", "Exists")])),
                annotated_tolerations=[toleration("old", "Exists")],
            ),
            [10, 5, 0, 0, 0],
            id="native and annotated preferences add up",
        ),
    ],
)
@pytest.mark.parametrize("mode", MODES)
async def test_prioritize_weighs_what_the_plugins_say(
    pod: JSON, expected: list[int], mode: str
) -> None:
    async with served(source=FixedSource(*ALL)) as client:
        answer = await client.ask("prioritize", request_of(mode, pod, *ALL))

    assert answer == lean(zip(map(name_of, ALL), expected, strict=True))


def meta_victims(*uids: str, violations: int = 0) -> JSON:
    return {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": violations}


def victims(*uids: str, violations: int = 0) -> JSON:
    pods = [{"metadata": {"name": f"pod-{uid}", "uid": uid}, "spec": {}} for uid in uids]
    return {"Pods": pods, "NumPDBViolations": violations}


async def test_preempt_by_uid_echoes_the_candidates_that_help() -> None:
    body = {
        "Pod": pod_json(toleration("sla", "Gt", "900")),
        "NodeNameToVictims": None,
        "NodeNameToMetaVictims": {
            "gold": meta_victims("a", "b", violations=1),
            "bronze": meta_victims("c"),
            "plain": meta_victims("d"),
            "soft": meta_victims(),
            "cordoned": meta_victims("e"),
            "stranger": meta_victims("f"),
        },
    }
    async with served(source=FixedSource(*ALL)) as client:
        answer = await client.ask("preempt", body)

    assert answer == {
        "NodeNameToMetaVictims": {
            "gold": meta_victims("a", "b", violations=1),
            "plain": meta_victims("d"),
        }
    }


async def test_preempt_with_whole_victims_answers_by_uid() -> None:
    body = {
        "Pod": pod_json(),
        "NodeNameToVictims": {
            "plain": victims("a", "b", violations=2),
            "gold": victims("c"),
            "soft": {"Pods": None, "NumPDBViolations": 0},
            "stranger": victims("d"),
        },
        "NodeNameToMetaVictims": None,
    }
    async with served(source=FixedSource(*ALL)) as client:
        answer = await client.ask("preempt", body)

    assert answer == {"NodeNameToMetaVictims": {"plain": meta_victims("a", "b", violations=2)}}


@pytest.mark.parametrize(
    "candidates",
    [
        pytest.param({"NodeNameToMetaVictims": {}}, id="an empty map of UIDs"),
        pytest.param({"NodeNameToVictims": {}}, id="an empty map of pods"),
        pytest.param({}, id="neither map"),
        pytest.param({"NodeNameToVictims": None, "NodeNameToMetaVictims": None}, id="null maps"),
        pytest.param({"NodeNameToMetaVictims": {"plain": None}}, id="null victims"),
        pytest.param({"NodeNameToMetaVictims": {"gold": meta_victims("a")}}, id="only refused"),
        pytest.param({"NodeNameToVictims": {"nowhere": victims("a")}}, id="only unknown"),
    ],
)
async def test_preempt_without_a_candidate_left_is_an_empty_map(candidates: JSON) -> None:
    async with served(source=FixedSource(*ALL)) as client:
        answer = await client.ask("preempt", {"Pod": pod_json(), **candidates})

    assert answer == {"NodeNameToMetaVictims": {}}


INVALID = "pod annotation scheduling.leeway/tolerations is invalid: "
INVALID_AFFINITY = "pod annotation scheduling.leeway/node-affinity is invalid: "


@pytest.mark.parametrize(
    ("pod", "says"),
    [
        pytest.param(pod_json(annotated_tolerations="[{"), INVALID + "line ", id="broken YAML"),
        pytest.param(
            pod_json(annotated_tolerations="{}"),
            INVALID + "must be a list, not a mapping: begin each entry with a dash",
            id="not a list",
        ),
        pytest.param(
            pod_json(annotated_tolerations='[{"operatr": "Gt"}]'),
            INVALID + "[0].operatr is not a field of a toleration: did you mean operator?",
            id="a misspelt field",
        ),
        pytest.param(
            pod_json(annotated_tolerations='[{"key": 5}]'),
            INVALID + '[0].key must be text: write "5"',
            id="a wrong type",
        ),
        pytest.param(
            pod_json(annotated_tolerations="[" * 25_000),
            INVALID + "nested deeper than 32",
            id="25,000 lists in each other",
        ),
        pytest.param(
            pod_json(annotated_affinity="[]"),
            INVALID_AFFINITY + "must be a node affinity, not a list",
            id="an affinity that is a list",
        ),
        pytest.param(
            pod_json(annotated_affinity="a: &b c"),
            INVALID_AFFINITY + "line 1: anchors are not supported",
            id="an anchor in the affinity",
        ),
    ],
)
async def test_an_annotation_that_cannot_be_read_refuses_everywhere(pod: JSON, says: str) -> None:
    candidates = {"plain": meta_victims("a"), "soft": meta_victims("b")}
    async with served(source=FixedSource(*ALL)) as client:
        by_name = await refusals(client, names_request(pod, "plain", "soft", "gold", "new"))
        whole = await refusals(client, nodes_request(pod, PLAIN, SOFT))
        listed = await client.ask("prioritize", names_request(pod, "plain", "soft", "gold"))
        kept = await client.ask("preempt", {"Pod": pod, "NodeNameToMetaVictims": candidates})

    assert set(by_name) == {"plain", "soft", "gold", "new"}
    assert set(whole) == {"plain", "soft"}
    assert all(reason.startswith(says) for reason in [*by_name.values(), *whole.values()])
    assert all(len(reason.encode()) < 500 for reason in by_name.values())
    assert listed == []
    assert kept == {"NodeNameToMetaVictims": {}}


async def test_foreign_text_in_a_reason_is_cut_below_500_bytes() -> None:
    pod = pod_json(annotated_tolerations=f'[{{"{"é" * 2000}": 1}}]')
    tainted = node_json("plain", taint("key", "ü" * 2000))
    async with served() as client:
        by_annotation = await refusals(client, nodes_request(pod, PLAIN))
        by_taint = await refusals(client, nodes_request(pod_json(), tainted))

    assert by_annotation["plain"].startswith(INVALID)
    assert by_taint["plain"].startswith("node(s) had untolerated taint {key")
    assert len(by_annotation["plain"].encode()) < 500
    assert len(by_taint["plain"].encode()) < 500


async def test_many_different_reasons_collapse_to_the_key() -> None:
    ten = [node_json(f"n{i}", taint("sla", str(i))) for i in range(10)]
    eleven = [*ten, node_json("n10", taint("sla", "10"))]
    async with served() as client:
        detailed = await refusals(client, nodes_request(pod_json(), *ten))
        brief = await refusals(client, nodes_request(pod_json(), *eleven))

    assert detailed == {f"n{i}": f"node(s) had untolerated taint {{sla: {i}}}" for i in range(10)}
    assert set(brief.values()) == {"node(s) had untolerated taint {sla}"}


async def test_redacted_reasons_are_upstreams() -> None:
    async with served(Config(reasons="redacted")) as client:
        refused = await refusals(client, nodes_request(pod_json(), GOLD))

    assert refused == {"gold": "node(s) had untolerated taint(s)"}


NATIVE_YES = toleration("sla", "Exists", effect="NoExecute")
NATIVE_NO = toleration("other", "Exists")
MATCHES = toleration("sla", "Gt", "900", "NoExecute")
MISSES = toleration("sla", "Gt", "990", "NoExecute")
SILENT = toleration("other", "Exists")
ORDINARY = "node(s) had untolerated taint {sla: 950}"
ONLY_BY_ANNOTATION = "node(s) had NoExecute taint {sla: 950} tolerated only by annotation"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("native", "annotated", "narrow", "join"),
    [
        pytest.param(NATIVE_YES, MATCHES, None, None, id="native yes, annotation matches"),
        pytest.param(NATIVE_YES, MISSES, ORDINARY, None, id="native yes, annotation does not"),
        pytest.param(
            NATIVE_NO, MATCHES, ONLY_BY_ANNOTATION, None, id="native no, annotation matches"
        ),
        pytest.param(NATIVE_NO, MISSES, ORDINARY, ORDINARY, id="native no, annotation does not"),
        pytest.param(
            NATIVE_YES, SILENT, None, None, id="native yes, annotation speaks of another taint"
        ),
        pytest.param(
            NATIVE_YES,
            {"expression": "taint.key == 'other'"},
            ORDINARY,
            None,
            id="native yes, an expression speaks of every taint",
        ),
        pytest.param(
            NATIVE_YES,
            {"expression": "taint.key == 'sla'"},
            None,
            None,
            id="native yes, an expression that is true",
        ),
    ],
)
async def test_no_execute_narrow_and_join(
    native: JSON, annotated: JSON, narrow: str | None, join: str | None, mode: str
) -> None:
    evicting = node_json("spot", taint("sla", "950", "NoExecute"))
    pod = pod_json(native, annotated_tolerations=[annotated])
    answers = {}
    for no_execute in ("narrow", "join"):
        config = Config(no_execute="narrow" if no_execute == "narrow" else "join")
        async with served(config, FixedSource(evicting, PLAIN)) as client:
            body = request_of(mode, pod, evicting, PLAIN)
            answers[no_execute] = await refusals(client, body)

    assert answers["narrow"] == ({"spot": narrow} if narrow else {})
    assert answers["join"] == ({"spot": join} if join else {})


async def test_a_required_term_of_the_annotation_narrows_the_native_one() -> None:
    pod = pod_json(
        toleration("sla", "Exists"),
        affinity=required([requirement("tier", "Exists")]),
        annotated_affinity=required([requirement("tier", "In", "gold")]),
    )
    async with served() as client:
        answer = await client.ask("filter", nodes_request(pod, *ALL))

    assert passed(answer) == ["gold"]


async def test_keys_come_in_any_letter_case_and_unknown_ones_are_ignored() -> None:
    body = {"pod": pod_json(), "NODENAMES": ["plain"], "nodes": None, "Extra": [1, {"a": None}]}
    async with served(source=FixedSource(PLAIN)) as client:
        answer = await client.ask("filter", body)
        status, text = await client.post(
            "preempt",
            msgspec.json.encode(
                {"pOD": pod_json(), "nodenametometavictims": {"plain": meta_victims("a")}}
            ),
        )

    assert passed(answer) == ["plain"]
    assert status == 200
    assert msgspec.json.decode(text) == {"NodeNameToMetaVictims": {"plain": meta_victims("a")}}
