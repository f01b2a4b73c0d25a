"""Stories of a whole controller against a scripted API server, over real HTTP."""

import pytest

from extender.config.schema import Config, LeaderElection
from extender.control import memory
from tests.builders import PREFIX, node_json, taint
from tests.cluster.apiserver import Answer, eventually, scripted
from tests.control.building import (
    ALONE,
    GOLD,
    RECORD,
    beside,
    compiling,
    controlled,
    equal,
    guard,
    node_of,
    pod_of,
)

ELECTED = Config(leader_election=LeaderElection())
HELD = {
    "metadata": {"name": "leeway-controller", "namespace": "leeway"},
    "spec": {"holderIdentity": "other", "leaseDurationSeconds": 15},
}
INVALID = (
    '{"kind":"Status","message":"Pod \\"web-0\\" is invalid: spec.tolerations: Forbidden: no",'
    '"details":{"name":"web-0","causes":[]},"code":422}'
)


async def test_a_pod_that_waits_gets_the_values_that_its_rules_match() -> None:
    async with controlled(node_of("a", "700"), node_of("b", "950"), pod_of(GOLD)) as cluster:
        await cluster.has([equal("950")])


async def test_a_value_that_appears_later_reaches_a_pod_that_waits() -> None:
    async with controlled(node_of("a", "700"), pod_of(GOLD)) as cluster:
        await cluster.settle()
        cluster.server.put("nodes", node_of("a", "960"))

        await cluster.has([equal("960")])


async def test_a_bound_pod_gets_a_guard_behind_the_values_of_its_node() -> None:
    evicting = node_of("a", "950", effect="NoExecute")
    async with controlled(evicting, pod_of(GOLD, node="a")) as cluster:
        await cluster.has([equal("950", "NoExecute"), guard()])

        assert cluster.record() == '["sla"]'


async def test_a_good_change_is_written_before_the_guard() -> None:
    evicting = node_of("a", "950", effect="NoExecute")
    async with controlled(evicting, pod_of(GOLD, node="a")) as cluster:
        await cluster.has([equal("950", "NoExecute"), guard()])
        cluster.server.put("nodes", node_of("a", "960", effect="NoExecute"))

        await cluster.has([equal("950", "NoExecute"), equal("960", "NoExecute"), guard()])


async def test_what_does_not_evict_is_not_written_to_bound_pods() -> None:
    async with controlled(node_of("a", "950"), pod_of(GOLD, node="a")) as cluster:
        await cluster.has([guard()])
        cluster.server.put("nodes", node_of("a", "960"), node_of("b", "970"))
        await cluster.settle()

        assert cluster.added() == [guard()]


async def test_pods_without_rules_and_of_other_schedulers_are_left_alone() -> None:
    plain = pod_of(name="plain", uid="2")
    other = pod_of(GOLD, name="other", uid="3", schedulerName="other")
    async with controlled(node_of("a", "950"), plain, other) as cluster:
        await cluster.settle()

        assert cluster.added("plain") == cluster.added("other") == []
        await eventually(lambda: cluster.controller.state().remark == "1 nodes; 1 pods", 5)
        assert cluster.controller.state().remark == "1 nodes; 1 pods"


async def test_who_leads_writes_and_lets_another_one_lead_in_the_end() -> None:
    async with controlled(node_of("a", "950"), pod_of(GOLD), config=ELECTED) as cluster:
        await cluster.has([equal("950")])
        lease = cluster.server.objects["leases"]["leeway/leeway-controller"]

        assert cluster.counted("leeway_leader") == 1
        assert lease["spec"]["holderIdentity"] == "a"
    lease = cluster.server.objects["leases"]["leeway/leeway-controller"]
    assert not lease["spec"].get("holderIdentity")


async def test_who_does_not_lead_writes_nothing() -> None:
    async with scripted() as server:
        server.put("leases", HELD)
        server.put("nodes", node_of("a", "950"))
        server.put("pods", pod_of(GOLD))
        async with beside(server, ELECTED) as cluster:
            await eventually(lambda: "following" in cluster.controller.leadership()[1], 5)

            assert cluster.controller.leadership() == (None, "following other")
            assert cluster.added() == []
            assert cluster.counted("leeway_leader") == 0
            assert cluster.counted("leeway_compile_pods", state="current") == 0


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        pytest.param(pod_of("[{]"), "LeewayRuleInvalid", id="an annotation that does not decode"),
        pytest.param(
            pod_of(GOLD, node="a", annotations={PREFIX + "eviction-grace-seconds": "soon"}),
            "LeewayGraceInvalid",
            id="a grace that is no number",
        ),
        pytest.param(
            pod_of(GOLD, node="a", annotations={RECORD: '["sla'}),
            "LeewayRuleInvalid",
            id="a record that was cut off",
        ),
    ],
)
async def test_what_cannot_be_read_is_said_once(pod: dict[str, object], reason: str) -> None:
    async with controlled(node_of("a", "950"), pod) as cluster:
        await eventually(lambda: cluster.events, 5)
        cluster.server.put("pods", pod | {"extra": 1})
        await cluster.settle()

        assert [each for each, _ in cluster.events] == [reason]


async def test_a_limit_cuts_the_rarest_values_and_says_so_once() -> None:
    nodes = node_of("a", "950"), node_of("b", "950"), node_of("c", "960")
    async with controlled(*nodes, pod_of(GOLD), config=compiling(max_tolerations=1)) as cluster:
        await cluster.has([equal("950")])
        # The Event may be there before the answer to the patch: only then the state is settled.
        await eventually(lambda: cluster.counted("leeway_compile_pods", state="cut") == 1, 5)
        await eventually(lambda: cluster.events, 5)

        assert [reason for reason, _ in cluster.events] == ["LeewayCut"]
        assert cluster.counted("leeway_compile_pods", state="cut") == 1


async def test_a_narrowed_rule_is_said_and_what_was_added_stays() -> None:
    async with controlled(node_of("a", "950"), pod_of(GOLD)) as cluster:
        await cluster.has([equal("950")])
        await cluster.settle()
        pod = cluster.server.objects["pods"]["default/web-0"]
        narrower = {PREFIX + "tolerations": '[{"key":"sla","operator":"Gt","value":"990"}]'}
        cluster.server.put("pods", pod | {"metadata": pod["metadata"] | {"annotations": narrower}})
        await eventually(lambda: cluster.events, 5)

        assert [reason for reason, _ in cluster.events] == ["LeewayRuleNarrowed"]
        assert cluster.added() == [equal("950")]


async def test_a_pod_whose_rules_were_taken_away_is_said_to_keep_what_they_came_to() -> None:
    async with controlled(node_of("a", "950"), pod_of(GOLD)) as cluster:
        await cluster.has([equal("950")])
        await cluster.settle()
        pod = cluster.server.objects["pods"]["default/web-0"]
        cluster.server.put("pods", pod | {"metadata": pod["metadata"] | {"annotations": {}}})
        await eventually(lambda: cluster.events, 5)

        assert [reason for reason, _ in cluster.events] == ["LeewayRuleNarrowed"]


async def test_a_patch_that_is_refused_is_said_in_the_servers_words_and_holds_nobody_up() -> None:
    async with controlled(node_of("a", "950")) as cluster:
        cluster.server.on_patch(Answer(422, INVALID))
        cluster.server.put("pods", pod_of(GOLD))
        await eventually(lambda: cluster.events, 5)
        cluster.server.put("pods", pod_of(GOLD, name="other", uid="2"))
        await cluster.has([equal("950")], "other")
        await cluster.has([equal("950")])

        message = 'Pod "web-0" is invalid: spec.tolerations: Forbidden: no'
        assert cluster.events == [("LeewayPatchRefused", message)]
        assert cluster.counted("leeway_compile_writes_total", kind="tolerations", code="422") == 1


@pytest.mark.parametrize(
    ("status", "times", "said"),
    [
        pytest.param(403, 2, [], id="roles that are not known yet"),
        pytest.param(403, 3, [("LeewayPatchRefused", "no")], id="a right that is missing"),
        pytest.param(500, 5, [], id="etcd that is away for a moment"),
        pytest.param(500, 6, [("LeewayPatchRefused", "no")], id="a pod that is too large"),
    ],
)
async def test_what_an_api_server_answers_to_everybody_for_a_moment_is_not_told(
    status: int, times: int, said: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "REFUSED", (0.05, 0.1))
    monkeypatch.setattr(memory, "LOST", (0.05, 0.1))
    async with controlled(node_of("a", "950")) as cluster:
        cluster.server.on_patch(*[Answer(status, '{"message":"no"}')] * times)
        cluster.server.put("pods", pod_of(GOLD))
        await cluster.has([equal("950")])
        await cluster.settle()
        await eventually(lambda: cluster.events == said, 5)

        assert cluster.events == said


async def test_a_lost_race_is_run_again_without_a_word() -> None:
    async with controlled(node_of("a", "950")) as cluster:
        cluster.server.on_patch(Answer(422, '{"kind":"Status","details":{},"code":422}'))
        cluster.server.put("pods", pod_of(GOLD))

        await cluster.has([equal("950")])
        assert cluster.events == []


async def test_an_api_server_that_is_overloaded_is_asked_again_later() -> None:
    async with controlled(node_of("a", "950")) as cluster:
        cluster.server.on_patch(Answer(503), Answer(429))
        cluster.server.put("pods", pod_of(GOLD))

        await cluster.has([equal("950")])
        assert cluster.events == []


async def test_a_name_that_came_to_another_pod_is_not_patched_for_the_old_one() -> None:
    async with controlled(node_of("a", "950")) as cluster:
        cluster.server.answers_patches.clear()
        cluster.server.put("pods", pod_of(GOLD))
        await eventually(lambda: cluster.server.patches, 5)
        cluster.server.delete("pods", "web-0", "default")
        cluster.server.put("pods", pod_of({**GOLD, "value": "990"}, uid="uid-2"))
        cluster.server.answers_patches.set()
        await cluster.settle()

        assert cluster.added() == []


async def test_a_record_that_somebody_edits_is_put_right_and_nobody_is_evicted() -> None:
    evicting = node_of("a", "950", effect="NoExecute")
    async with controlled(evicting, pod_of(GOLD, node="a")) as cluster:
        await cluster.has([equal("950", "NoExecute"), guard()])
        pod = cluster.server.objects["pods"]["default/web-0"]
        meta = pod["metadata"]
        edited = meta | {"annotations": meta["annotations"] | {RECORD: "[]"}}
        cluster.server.put("pods", pod | {"metadata": edited})
        await eventually(lambda: cluster.record() == '["sla"]', 5)
        cluster.server.put("nodes", node_of("a", "960", effect="NoExecute"))

        await cluster.has([equal("950", "NoExecute"), equal("960", "NoExecute"), guard()])


async def test_costly_expressions_are_worked_on_aside() -> None:
    costly = {"expression": "taint.value.matches('(a|b|c)*d') || taint.value == '950'"}
    nodes = [node_of(f"n{i}", str(i)) for i in range(60)]
    async with controlled(*nodes, node_of("a", "950"), pod_of(costly)) as cluster:
        await cluster.has([equal("950")])


async def test_a_long_annotation_is_read_aside() -> None:
    rules = "\n".join(f"- {{key: k{i}, operator: Exists}}" for i in range(500))
    text = rules + "\n- {key: sla, operator: Gt, value: '900'}\n"
    async with controlled(node_of("a", "950"), pod_of(text)) as cluster:
        await cluster.has([equal("950")])


async def test_the_cluster_is_listed_before_anything_is_written() -> None:
    async with controlled(node_of("a", "950"), config=ALONE) as cluster:
        assert cluster.controller.state().remark == "1 nodes; 0 pods"
        assert cluster.controller.leadership() == (None, "leading without an election")
        assert [each.resource for each in cluster.controller.cached()] == ["nodes", "pods"]


async def test_cordoned_nodes_count_as_tainted_for_rules_that_name_the_taint() -> None:
    key = "node.kubernetes.io/unschedulable"
    cordoned = node_json("a", taint("sla", "950"), unschedulable=True)
    rules = {"key": key, "operator": "Exists"}, GOLD
    async with controlled(cordoned, pod_of(*rules)) as cluster:
        await cluster.has([{"key": key, "operator": "Equal", "effect": "NoSchedule"}, equal("950")])
