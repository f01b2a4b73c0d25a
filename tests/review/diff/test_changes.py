"""Other taints on nodes, other tolerations on pods, and what is different about a node."""

import msgspec
import pytest

from extender.framework.interface import Settings
from extender.model.core_v1 import Node, Taint
from extender.review.diff import changes
from extender.review.diff.changes import NodeChange, TaintChange
from tests.builders import JSON, PREFIX, a_snapshot, node_json, taint
from tests.review.diff.clusters import population, running


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=sla=950:NoSchedule", TaintChange("n", Taint("sla", "950", "NoSchedule"))),
        ("n=gpu:NoExecute", TaintChange("n", Taint("gpu", "", "NoExecute"))),
        ("n=sla=950:NoSchedule-", TaintChange("n", Taint("sla", "950", "NoSchedule"), True)),
        ("n=sla:NoSchedule-", TaintChange("n", Taint("sla", "", "NoSchedule"), True)),
        ("n=example.com/sla-", TaintChange("n", Taint("example.com/sla"), True)),
        ("spot-*=sla=1:NoSchedule", TaintChange("spot-*", Taint("sla", "1", "NoSchedule"))),
    ],
)
def test_a_change_is_written_as_for_kubectl(text: str, expected: TaintChange) -> None:
    assert changes.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n", "must be NODE=KEY=VALUE:EFFECT, or NODE=KEY:EFFECT-, not 'n'"),
        ("n=", "must be NODE=KEY=VALUE:EFFECT"),
        ("=sla:NoSchedule", "must be NODE=KEY=VALUE:EFFECT"),
        ("n=-", "must be NODE=KEY=VALUE:EFFECT"),
        ("n=sla=950", "must be key=value:Effect or key:Effect, not 'sla=950'"),
        ("n=sla=950:Never", "unknown effect 'Never'"),
    ],
)
def test_what_is_no_change_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        changes.parse(text)


def changed(text: str, *taints: JSON, name: str = "n") -> list[tuple[str, str, str]]:
    node = msgspec.convert(node_json(name, *taints), Node)
    (found,) = changes.apply([node], [changes.parse(text)])
    assert found.spec is not None
    return [(each.key, each.value, each.effect) for each in found.spec.taints or ()]


def test_a_taint_is_added_or_replaced_in_its_place() -> None:
    old = taint("sla", "950"), taint("gpu")

    assert changed("n=sla=800:NoSchedule", *old) == [
        ("sla", "800", "NoSchedule"),
        ("gpu", "", "NoSchedule"),
    ]
    assert changed("n=sla=800:NoExecute", taint("sla", "950")) == [
        ("sla", "950", "NoSchedule"),
        ("sla", "800", "NoExecute"),
    ]


def test_a_taint_is_removed_by_what_is_said_of_it() -> None:
    old = taint("sla", "950"), taint("sla", "950", "NoExecute")

    assert changed("n=sla-", *old) == []
    assert changed("n=sla:NoExecute-", *old) == [("sla", "950", "NoSchedule")]
    assert changed("n=sla=800:NoExecute-", *old) == [
        ("sla", "950", "NoSchedule"),
        ("sla", "950", "NoExecute"),
    ]
    assert changed("n=gpu-", *old) == [
        ("sla", "950", "NoSchedule"),
        ("sla", "950", "NoExecute"),
    ]


def test_a_wildcard_is_about_several_nodes() -> None:
    assert changed("spot-*=sla=1:NoSchedule", name="spot-7") == [("sla", "1", "NoSchedule")]
    assert changed("spot-*=sla=1:NoSchedule", name="on-demand") == []


def test_a_node_without_a_spec_gets_one() -> None:
    bare = msgspec.convert({"metadata": {"name": "n"}}, Node)
    nameless, found = changes.apply([Node(), bare], [changes.parse("n=a:NoExecute")])

    assert nameless == Node()
    assert found.spec is not None
    assert found.spec.taints == (Taint("a", "", "NoExecute"),)


def test_what_is_different_about_nodes() -> None:
    before = a_snapshot(
        [
            node_json("same", labels={"a": "1"}),
            node_json("gone"),
            node_json("changed", taint("sla", "950"), labels={"a": "1", "b": "2"}),
        ]
    )
    after = a_snapshot(
        [
            node_json("same", labels={"a": "1"}),
            node_json(
                "changed",
                taint("sla", "800"),
                taint("soft", "", "PreferNoSchedule"),
                labels={"a": "2"},
                unschedulable=True,
            ),
            node_json("new"),
        ]
    )

    assert list(changes.between(before, after)) == [
        NodeChange("gone", ("is gone",)),
        NodeChange(
            "changed",
            (
                "- taint sla=950:NoSchedule",
                "- label a=1",
                "- label b=2",
                "+ cordon",
                "+ taint sla=800:NoSchedule",
                "+ taint soft:PreferNoSchedule",
                "+ label a=2",
            ),
        ),
        NodeChange("new", ("is new",)),
    ]


def test_other_tolerations_are_in_the_pod_and_in_what_compile_mode_reads() -> None:
    (pod,) = population(running("a", "n", annotations={"x": "y"})).members()
    template = next(
        population(
            Deployment={"metadata": {"name": "web"}, "spec": {"template": {"metadata": {}}}}
        ).members()
    )
    text = '[{"key":"sla","operator":"Exists"}]'
    found = [changes.with_tolerations(each, text, Settings()) for each in (pod, template)]

    assert found[0].pod.metadata is not None
    assert found[0].pod.metadata.annotations == {"x": "y", f"{PREFIX}tolerations": text}
    assert found[0].live is not None
    assert found[0].live.metadata.annotations == {"x": "y", f"{PREFIX}tolerations": text}
    assert found[1].pod.metadata is not None
    assert found[1].pod.metadata.annotations == {f"{PREFIX}tolerations": text}
    assert found[1].live is None
