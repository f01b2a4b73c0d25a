from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from extender import plugins
from extender.framework.interface import SUCCESS, Code, Settings
from extender.framework.snapshot import NodeInfo
from extender.match import taints as matching
from extender.model.core_v1 import Taint, Toleration
from extender.plugins.taint_toleration import TaintToleration
from tests.builders import JSON, a_pod, filtered, judge, some_nodes
from tests.properties.core_strategies import SETTINGS, nodes, taints, tolerations

EXAMPLES = settings(max_examples=60)
LISTS = st.lists(tolerations(), max_size=3)


def passing(
    config: Settings, native: Sequence[JSON], annotated: Sequence[JSON], cluster: list[NodeInfo]
) -> set[str]:
    profile = plugins.profile("test", {"NodeUnschedulable": 0, "TaintToleration": 3}, config)
    pod = a_pod(*native, annotated_tolerations=annotated)
    statuses = filtered(profile, pod, cluster).statuses()
    return {
        node.name
        for node, status in zip(cluster, statuses, strict=True)
        if status.code is Code.SUCCESS
    }


@EXAMPLES
@given(config=SETTINGS, native=LISTS, annotated=LISTS, more=tolerations(), cluster=nodes())
def test_one_more_native_toleration_never_refuses_more(
    config: Settings, native: list[JSON], annotated: list[JSON], more: JSON, cluster: list[JSON]
) -> None:
    infos = some_nodes(*cluster)
    before = passing(config, native, annotated, infos)

    assert before <= passing(config, [*native, more], annotated, infos)
    assert before <= passing(config, [more, *native], annotated, infos)


@EXAMPLES
@given(config=SETTINGS, native=LISTS, annotated=LISTS, more=tolerations(), cluster=nodes())
def test_one_more_by_annotation_refuses_more_only_for_noexecute(
    config: Settings, native: list[JSON], annotated: list[JSON], more: JSON, cluster: list[JSON]
) -> None:
    infos = some_nodes(*cluster)
    before = passing(config, native, annotated, infos)
    lost = before - passing(config, native, [*annotated, more], infos)

    if config.no_execute == "join":
        assert lost == set()
    for node in infos:
        if node.name in lost:
            assert any(taint.effect == "NoExecute" for taint in node.taints.hard)


@EXAMPLES
@given(
    config=SETTINGS,
    native=LISTS,
    annotated=LISTS,
    carried=taints(st.sampled_from(["NoSchedule", "NoExecute"])),
)
def test_a_taint_is_judged_as_the_rules_are_spelled(
    config: Settings, native: list[JSON], annotated: list[JSON], carried: JSON
) -> None:
    taint = msgspec.convert(carried, Taint)

    def matches(rules: list[JSON]) -> bool:
        return any(
            matching.compile_tolerations(
                [msgspec.convert(rule, Toleration)], config.gates, config.programs, set()
            ).tolerates(taint, set())
            for rule in rules
        )

    def speaks(rule: JSON) -> bool:
        return bool(rule.get("expression")) or (
            rule.get("effect", "") in ("", taint.effect) and rule.get("key", "") in ("", taint.key)
        )

    if taint.effect == "NoSchedule" or config.no_execute == "join":
        tolerated = matches(native) or matches(annotated)
    else:
        spoken_of = any(map(speaks, annotated))
        tolerated = matches(native) and (not spoken_of or matches(annotated))
    (node,) = some_nodes({"metadata": {"name": "n"}, "spec": {"taints": [carried]}})
    status = judge(TaintToleration(config), a_pod(*native, annotated_tolerations=annotated), node)

    assert (status == SUCCESS) is tolerated
    if not tolerated:
        by_annotation_alone = (
            config.no_execute == "narrow"
            and taint.effect == "NoExecute"
            and matches(annotated)
            and not matches(native)
        )
        assert status.reasons[0].endswith(" tolerated only by annotation") is by_annotation_alone
        secret = config.reasons == "redacted"
        assert (f"{{{taint.key}: {taint.value}}}" in status.reasons[0]) is not secret
