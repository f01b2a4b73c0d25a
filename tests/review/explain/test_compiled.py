"""What compile mode makes of the pod that is explained."""

from dataclasses import replace
from typing import Any

import msgspec

from extender.native.settings import CompileSettings
from extender.review.explain import compiled, templates
from extender.review.explain.explaining import explain
from extender.review.explain.schema import Compilation, Explanation
from tests.builders import JSON, PREFIX, node_json, pod_json, taint, toleration
from tests.review.explain.asking import an_inquiry

ABOVE = toleration("sla", "Gt", "900", "NoSchedule")
EQUAL = toleration("sla", "Equal", "950", "NoSchedule")
EVICTING = toleration("tier", "Gt", "5", "NoExecute")
GUARD = toleration("tier", "Exists", "", "NoExecute", tolerationSeconds=30)
RECORD = {PREFIX + "guarded-keys": '["tier"]'}
NODES = (node_json("silver", taint("sla", "950")), node_json("gold", taint("sla", "980")))


def explained(pod: JSON, *nodes: JSON, kind: str = "Pod", **chosen: Any) -> Explanation:
    document = {"kind": kind, **pod}
    (subject,) = templates.subjects("a test", document)
    inquiry = an_inquiry(subject.pod, *nodes)
    settings = CompileSettings(**chosen)
    return explain(replace(inquiry, subject=subject, compile_settings=settings))


def of(pod: JSON, *nodes: JSON, **chosen: Any) -> Compilation:
    made = explained(pod, *nodes, **chosen).compilation
    assert isinstance(made, Compilation)
    return made


def on_node(pod: JSON, node: str) -> JSON:
    return pod | {"spec": pod["spec"] | {"nodeName": node}}


def test_a_pod_that_is_behind() -> None:
    made = of(pod_json(EQUAL, annotated_tolerations=[ABOVE]), *NODES)

    assert (made.state, made.why) == (
        "behind",
        "1 toleration missing: 'leeway controller' writes it",
    )
    assert [(each.text, each.missing, each.origin, each.why) for each in made.tolerations] == [
        ("sla=950:NoSchedule", False, "rule", "from `sla Gt 900 NoSchedule` (annotation)"),
        ("sla=980:NoSchedule", True, "rule", "from `sla Gt 900 NoSchedule` (annotation)"),
    ]
    assert (made.tolerations[0].rule, made.tolerations[0].carrier) == (
        "sla Gt 900 NoSchedule",
        "annotation",
    )
    assert (made.open_by_tolerations, made.open_by_rules) == (1, 2)
    assert made.only_by_rules == ("gold",)


def test_a_pod_that_is_compiled() -> None:
    waiting = of(pod_json(EQUAL, annotated_tolerations=[ABOVE]), NODES[0])
    pod = pod_json(
        toleration("tier", "Equal", "7", "NoExecute"),
        GUARD,
        annotated_tolerations=[EVICTING],
        annotations=RECORD,
    )
    running = of(on_node(pod, "n"), node_json("n", taint("tier", "7", "NoExecute")), *NODES)

    assert waiting.why == "the pod tolerates every taint of the cluster that its rules match"
    assert (waiting.open_by_tolerations, waiting.open_by_rules) == (1, 1)
    assert running.why == "the pod tolerates every taint of its node that its rules match"
    assert running.tolerations[1].why == (
        "guard of tier: evicted by Kubernetes 30 s after no rule tolerates"
    )
    # It needs no other node.
    assert (running.open_by_tolerations, running.open_by_rules) == (None, None)


def test_what_is_undone_is_named() -> None:
    equal = toleration("tier", "Equal", "7", "NoExecute")
    node = node_json("n", taint("tier", "7", "NoExecute"))
    bare = pod_json(annotated_tolerations=[EVICTING])
    before = pod_json(GUARD, equal, annotated_tolerations=[EVICTING], annotations=RECORD)
    broken = pod_json(
        equal, GUARD, annotated_tolerations=[EVICTING], annotations={PREFIX + "guarded-keys": "x"}
    )

    assert of(on_node(bare, "n"), node).why.startswith("1 toleration missing, 1 guard missing: ")
    assert of(on_node(before, "n"), node).why.startswith(
        "the guard of tier stands before others of its key: "
    )
    assert of(on_node(broken, "n"), node).why.startswith("the record of the guards is incomplete: ")


def test_a_record_that_cannot_be_read_is_noted() -> None:
    pod = pod_json(EQUAL, annotated_tolerations=[ABOVE], annotations={PREFIX + "guarded-keys": "x"})

    assert f"pod annotation {PREFIX}guarded-keys is invalid: it is not a list of keys" in (
        explained(pod, NODES[0]).notes
    )


def test_a_pod_that_is_cut() -> None:
    cut = explained(pod_json(EQUAL, annotated_tolerations=[ABOVE]), *NODES, max_tolerations=1)
    made = cut.compilation
    behind = of(pod_json(annotated_tolerations=[ABOVE]), *NODES, max_tolerations=1)
    said = "compile.maxTolerations leaves out 1 taint of the cluster that the rules match"

    assert isinstance(made, Compilation)
    assert (made.state, made.why) == ("cut", said)
    assert [each.text for each in made.left_out] == ["sla=980:NoSchedule"]
    assert not any("maxTolerations" in note for note in cut.notes)
    assert behind.why == f"1 toleration missing: 'leeway controller' writes it; {said}"


def test_a_pod_that_is_refused() -> None:
    made = of(pod_json(annotated_tolerations="[{color: blue}]"), *NODES)

    assert (made.state, made.tolerations) == ("refused", ())
    assert made.why == (
        f"pod annotation {PREFIX}tolerations is invalid: [0].color is not a field of a"
        " toleration: it has key, operator, value, effect, tolerationSeconds, expression"
    )


def test_what_a_rule_added_before_it_was_narrowed() -> None:
    pod = pod_json(EQUAL, annotated_tolerations=[toleration("sla", "Gt", "960")])
    made = of(pod, NODES[0])

    assert (made.state, made.tolerations[0].origin) == ("current", "narrowed")
    assert made.tolerations[0].why.startswith("no rule matches it: ")


def test_protected_taints_are_noted() -> None:
    role = "node-role.kubernetes.io/control-plane"
    pod = pod_json(annotated_tolerations=[{"expression": "true"}])
    said = f"only a rule that names the key {role} is compiled for it: compile.protectedTaints"
    made = explained(pod, node_json("control", taint(role)), node_json("plain"))
    unprotected = explained(pod, node_json("n", taint("sla", "1")))

    assert said in made.notes
    assert isinstance(made.compilation, Compilation)
    assert made.compilation.only_by_rules == ("control",)
    assert not any("protectedTaints" in note for note in unprotected.notes)


def test_a_bad_grace_is_noted() -> None:
    pod = pod_json(
        EQUAL,
        annotated_tolerations=[ABOVE],
        annotations={PREFIX + "eviction-grace-seconds": "soon"},
    )

    assert any("eviction-grace-seconds is invalid" in note for note in explained(pod).notes)


def test_only_some_nodes_are_named() -> None:
    nodes = [node_json(f"n{i}", taint("sla", f"{901 + i}")) for i in range(20)]
    made = of(pod_json(annotated_tolerations=[ABOVE]), *nodes)

    assert (made.open_by_tolerations, made.open_by_rules) == (0, 20)
    assert len(made.only_by_rules) == compiled.MAX_NODES


def test_of_other_pods_nothing_is_said() -> None:
    for pod in (
        pod_json(EQUAL),
        pod_json(annotated_tolerations=[ABOVE], scheduler="extended-scheduler"),
    ):
        assert b"compilation" not in msgspec.json.encode(explained(pod, *NODES))


def test_nobody_who_does_not_ask_is_told() -> None:
    pod = pod_json(annotated_tolerations=[ABOVE])
    (subject,) = templates.subjects("a test", {"kind": "Pod", **pod})
    made = explain(replace(an_inquiry(subject.pod, *NODES), subject=subject))

    assert b"compilation" not in msgspec.json.encode(made)


def test_a_daemon_set_is_told_what_to_do() -> None:
    template = pod_json(annotated_tolerations=[ABOVE])
    daemon = {"metadata": {"name": "agent"}, "spec": {"template": template}}
    deployment = explained(daemon, *NODES, kind="Deployment")
    made = explained(daemon, *NODES, kind="DaemonSet")

    assert compiled.DAEMON in made.notes
    assert b"compilation" not in msgspec.json.encode(made)
    assert compiled.DAEMON not in deployment.notes
    assert isinstance(deployment.compilation, Compilation)
