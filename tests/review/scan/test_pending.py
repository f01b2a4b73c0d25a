"""Pods that wait: judged exactly as `/filter` judges them."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from extender import plugins
from extender.config.schema import Config
from extender.framework.interface import Settings
from extender.model.core_v1 import Pod
from extender.review.scan import pending
from extender.review.scan.objects import Ref
from extender.verbs import filter as filter_verb
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from tests.builders import a_snapshot, node_json, pod_json, taint, toleration
from tests.serving import FixedSource

REF = Ref("Pod", "default", "p")


def test_the_most_frequent_reason_stands_first() -> None:
    nodes = [
        node_json("a", taint("x", "1")),
        node_json("b", taint("y", "1")),
        node_json("c", taint("y", "1")),
    ]
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())
    steps: list[int] = []
    (found,) = pending.judge(
        {REF: msgspec.convert(pod_json(), Pod)},
        a_snapshot(nodes),
        lambda _pod: profile,
        lambda ref: Ref("Job", ref.namespace, "j"),
        lambda: steps.append(1),
    )

    assert found.passed == 0
    assert found.reasons == (
        ("node(s) had untolerated taint {y: 1}", 2),
        ("node(s) had untolerated taint {x: 1}", 1),
    )
    assert (str(found.workload), found.scheduler, steps) == (
        "Job default/j",
        "default-scheduler",
        [1],
    )


VALUES = st.sampled_from(["1", "5", "9", "x"])
OPERATORS = st.sampled_from(["Gt", "Lt", "Exists", "Equal", "SemverGt"])


@given(
    rules=st.lists(st.tuples(OPERATORS, VALUES), max_size=3),
    on_nodes=st.lists(VALUES, min_size=1, max_size=6),
)
def test_scan_says_what_filter_says(rules: list[tuple[str, str]], on_nodes: list[str]) -> None:
    nodes = [node_json(f"n{i}", taint("k", value)) for i, value in enumerate(on_nodes)]
    document = pod_json(annotated_tolerations=[toleration("k", o, v) for o, v in rules])
    profiles = Profiles(Config())
    (found,) = pending.judge(
        {REF: msgspec.convert(document, Pod)}, a_snapshot(nodes), profiles.of, lambda ref: ref
    )
    names = [node["metadata"]["name"] for node in nodes]
    body = json.dumps({"Pod": document, "NodeNames": names}).encode()
    context = Context(FixedSource(*nodes), profiles, refusals="always")
    answer = json.loads(b"".join(filter_verb.answer(context, body).pieces))

    assert found.passed == len(answer["NodeNames"])
    assert sum(count for _, count in found.reasons) == len(answer["FailedAndUnresolvableNodes"])
    assert {reason for reason, _ in found.reasons} == set(
        answer["FailedAndUnresolvableNodes"].values()
    )
