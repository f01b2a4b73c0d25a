"""Asked about many nodes at once, a plugin says what it says one by one."""

import json
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extender import plugins
from extender.errors import AnnotationError, DocumentError
from extender.framework.interface import Settings
from extender.framework.snapshot import Snapshot
from extender.match import annotations, shapes, taints
from extender.match.annotations import StrictNodeAffinity, StrictToleration
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Noticed
from extender.match.gates import FeatureGates
from extender.model import documents
from extender.model.core_v1 import Taint, Toleration
from tests.builders import JSON, PREFIX, some_nodes
from tests.oracle import whole
from tests.properties import core_strategies as core

EXAMPLES = settings(max_examples=150)
LIMIT = 10_000


@EXAMPLES
@given(parts=core.pod_parts(), described=core.nodes(), config=core.SETTINGS)
def test_a_batch_is_judged_as_one_by_one(
    parts: JSON, described: list[JSON], config: Settings
) -> None:
    pod, nodes = core.pod_of(parts), some_nodes(*described)
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, config)
    for plugin in profile.filters:
        question: Any = plugin.pre_filter(pod, Snapshot())
        if hasattr(question, "filter_all"):
            assert [*map(whole, question.filter_all(nodes))] == [
                whole(question.filter(node)) for node in nodes
            ]
    for scorer, _ in profile.scorers:
        question = scorer.pre_score(pod, Snapshot())
        if hasattr(question, "score_all"):
            assert question.score_all(nodes) == [question.score(node) for node in nodes]


# Few keys and many values that are nearly the same: thresholds meet, and so do wildcards.
NEARLY_ALIKE = st.fixed_dictionaries(
    {},
    optional={
        "key": st.sampled_from(["", "sla", "kernel"]),
        "operator": st.sampled_from(
            ["", "Equal", "Exists", "Gt", "Lt", "SemverGt", "SemverLt", "SemverEq", "gt"]
        ),
        "value": st.sampled_from(["", "-1", "0", "1", "2", "v1", "01", "1.0", "1.0.0-a", "x"]),
        "effect": st.sampled_from(["", "NoSchedule", "PreferNoSchedule", "NoExecute"]),
        "expression": st.sampled_from(
            ["", "taint.key == 'sla'", "int(taint.value) > 0", "taint.value", "false"]
        ),
    },
)


THRESHOLDS = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["sla", ""]),
        "operator": st.sampled_from(["Gt", "Lt", "SemverGt", "SemverLt", "SemverEq"]),
        "value": st.sampled_from(["-2", "-1", "0", "1", "2", "3", "1.0"]),
    }
)
TAINTED = st.fixed_dictionaries({"key": st.just("sla"), "value": st.sampled_from("0123")})


@settings(max_examples=500)
@given(
    written=st.lists(core.tolerations() | NEARLY_ALIKE, max_size=8)
    | st.lists(THRESHOLDS, min_size=2, max_size=5),
    tainted=st.lists(core.taints() | NEARLY_ALIKE, max_size=4) | st.lists(TAINTED, min_size=2),
    gates=st.builds(FeatureGates, cel=..., comparison_operators=..., semver_operators=...),
    split=st.integers(0, 8),
)
def test_looking_a_taint_up_is_asking_every_toleration(
    written: list[JSON], tainted: list[JSON], gates: FeatureGates, split: int
) -> None:
    rules = msgspec.convert(written, list[Toleration])
    programs = ProgramCache()
    parts = [
        taints.compile_tolerations(each, gates, programs, set())
        for each in (rules[:split], rules[split:])
    ]
    tolerations = parts[0].joined(parts[1])
    for taint in msgspec.convert([*tainted, {}], list[Taint]):
        noticed: Noticed = set()
        expected: Noticed = set()
        addressing = [each for each in tolerations.matchers if each.addresses(taint)]
        accepted = [each.accepts(taint, expected) for each in addressing]
        assert tolerations.tolerates(taint, noticed) == any(accepted)
        assert tolerations.addresses(taint) == bool(addressing)
        assert noticed == (set() if any(accepted) else expected)


KINDS: list[tuple[str, Any, Any]] = [
    ("tolerations", annotations.tolerations, tuple[StrictToleration, ...]),
    ("node-affinity", annotations.node_affinity, StrictNodeAffinity),
]


@EXAMPLES
@given(
    data=st.lists(core.tolerations() | core.JSON_VALUES, max_size=3)
    | core.AFFINITIES
    | core.JSON_VALUES,
    compact=st.booleans(),
)
@example(data=[{"key": "a", "value": None}], compact=True)
@example(data=[{"key": "a", "keey": None}], compact=True)
@example(data=[{"tolerationSeconds": 60.0}], compact=True)
def test_json_is_read_in_one_go_as_it_is_step_by_step(data: Any, compact: bool) -> None:
    text = json.dumps(data, ensure_ascii=compact)

    def step_by_step(kind: Any) -> object:
        try:
            plain = documents.without_nulls(documents.parse_one(text, LIMIT))
        except DocumentError as exc:
            return str(exc)
        try:
            return msgspec.convert(plain, kind)
        except msgspec.ValidationError as exc:
            wrong = shapes.first_problem(plain, kind, exc, annotations._WORDS)
            return AnnotationError("", wrong.text, field=wrong.field).problem

    def in_one_go(name: str, read: Any) -> object:
        try:
            return read({PREFIX + name: text}, PREFIX, LIMIT)
        except AnnotationError as exc:
            return str(exc).removeprefix(f"pod annotation {PREFIX}{name} is invalid: ")

    for name, read, kind in KINDS:
        assert in_one_go(name, read) == step_by_step(kind)
