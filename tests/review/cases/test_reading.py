"""What a RuleTest may say, and that every mistake in it is named at once."""

import copy
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from extender.cluster import manifests
from extender.match.gates import ATTRIBUTE_OF
from extender.model import positions
from extender.review.cases import reading
from extender.review.cases.schema import API_VERSION, KIND, Expected, PodSource, Source
from extender.review.explain.templates import TEMPLATES
from tests.builders import JSON

ROOT = Path(__file__).parents[3]
SCHEMA: JSON = json.loads((ROOT / "docs/ruletest.schema.json").read_text(encoding="utf-8"))
# Comes with validate-pyproject, and has no types.
_compiled: Any = import_module("fastjsonschema").compile(SCHEMA)


def a_test(*cases: JSON, **more: Any) -> JSON:
    return {"apiVersion": API_VERSION, "kind": KIND, "cases": list(cases), **more}


def a_case(**more: Any) -> JSON:
    return {"name": "n", "pod": "pod.yaml", "expect": {"passes": []}, **more}


def problems_of(document: JSON) -> list[str]:
    return reading.read(document)[1]


def is_in_schema(document: JSON) -> bool:
    try:
        _compiled(copy.deepcopy(document))
    except ValueError:
        return False
    return True


def test_everything_that_a_case_can_say() -> None:
    pod: JSON = {"kind": "Pod", "metadata": {"name": "p"}}
    test, problems = reading.read(
        a_test(
            a_case(
                nodes=[{"metadata": {"name": "b"}}],
                objects=["volumes/", {"kind": "Pod"}],
                configuration={"noExecute": "join"},
                pod=pod,
                expect={
                    "passes": ["b"],
                    "refused": {"a.example": "why", "c": None},
                    "scores": {"b": 10},
                    "fix": "use",
                },
            ),
            a_case(name="other", pod={"file": "web.yaml", "name": "deployment/web"}),
            metadata={"name": "all"},
            nodes=["nodes.yaml"],
            configuration={"featureGates": {"TaintTolerationCEL": False}},
        )
    )
    first, second = test.cases

    assert problems == []
    assert test.name == "all"
    assert first.pod == PodSource("cases[0].pod", item=pod)
    assert first.objects == (
        Source("nodes[0]", file="nodes.yaml"),
        Source("cases[0].nodes[0]", item={"kind": "Node", "metadata": {"name": "b"}}),
        Source("cases[0].objects[0]", file="volumes/"),
        Source("cases[0].objects[1]", item={"kind": "Pod"}),
    )
    assert [each.path for each in first.configuration] == [
        "configuration",
        "cases[0].configuration",
    ]
    assert first.expected == Expected(("b",), {"a.example": "why", "c": ""}, {"b": 10}, "use")
    assert second.pod == PodSource("cases[1].pod", file="web.yaml", name="deployment/web")
    assert second.expected == Expected(())


BAD: list[tuple[JSON, list[str]]] = [
    (
        {"kind": KIND},
        [f"apiVersion: must be {API_VERSION}", "cases: is missing: list at least one case"],
    ),
    (a_test(), ["cases: is missing: list at least one case"]),
    ({**a_test(a_case()), "cases": "x"}, ["cases: must be a list, not text"]),
    ({**a_test(a_case()), "cases": ["x"]}, ["cases[0]: must be a mapping, not text"]),
    (
        a_test(a_case(), metadata={"labels": {}}),
        ["metadata.labels: unknown key; known here: name"],
    ),
    (
        a_test({"expect": {"pases": []}}),
        [
            "cases[0].name: is missing: say in a few words what the case shows",
            "cases[0].pod: is missing: give a file, or a Pod or workload itself",
            "cases[0].expect.pases: unknown key; known here: fix, passes, refused, scores",
            "cases[0].expect: is missing: expect at least one of passes, refused, scores, fix",
        ],
    ),
    (
        a_test(a_case(expect={"passes": None, "refused": {}})),
        ["cases[0].expect: is missing: expect at least one of passes, refused, scores, fix"],
    ),
    (a_test(a_case(expect=[])), ["cases[0].expect: must be a mapping, not a list"]),
    (
        a_test(a_case(expect={"passes": [800], "scores": {"a": 11, "b": None, "c": True}})),
        [
            "cases[0].expect.passes: must be text, not a number",
            "cases[0].expect.scores.a: must be from 0 to 10, not 11",
            "cases[0].expect.scores.b: is missing: give a number from 0 to 10",
            "cases[0].expect.scores.c: must be a whole number, not true or false",
        ],
    ),
    (
        a_test(a_case(expect={"refused": ["a"], "fix": ""})),
        [
            "cases[0].expect.refused: must be a mapping, not a list",
            "cases[0].expect.fix: must not be empty",
        ],
    ),
    (
        a_test(a_case(nodes=[{"kind": "Pod"}, 7, ""], objects=[{"kind": "Nodes"}])),
        [
            "cases[0].nodes[0]: is not a Node: move it to objects",
            "cases[0].nodes[1]: must be the name of a file, or an object",
            "cases[0].nodes[2]: must be the name of a file, or an object",
            "cases[0].objects[0]: kind must be one of Node, Pod, PersistentVolume,"
            " PersistentVolumeClaim, StorageClass, List, not 'Nodes'",
        ],
    ),
    (a_test(a_case(), nodes="nodes.yaml"), ["nodes: must be a list of files and objects"]),
    (
        a_test(a_case(configuration={"featureGates": {"CEL": True}, "listen": {}})),
        [
            "cases[0].configuration.listen: unknown key; known here: annotationPrefix,"
            " featureGates, noExecute, profiles, reasons",
            "cases[0].configuration.featureGates.CEL: unknown key; known here:"
            " NodeInclusionPolicyInPodTopologySpread, TaintTolerationCEL,"
            " TaintTolerationComparisonOperators,"
            " TaintTolerationNodeAffinitySemverComparisonOperators",
        ],
    ),
    (
        a_test(a_case(pod=7), a_case(name="m", pod={"file": "x", "label": "y"})),
        [
            "cases[0].pod: must be a file, or a Pod or workload itself",
            "cases[1].pod: unknown key 'label'; known here: file, name",
        ],
    ),
    (
        a_test(a_case(pod={"kind": "Service"})),
        [f"cases[0].pod: kind must be one of {', '.join(TEMPLATES)}, not 'Service'"],
    ),
]


@pytest.mark.parametrize(("document", "problems"), BAD)
def test_every_mistake_is_named_with_its_path_and_what_to_write(
    document: JSON, problems: list[str]
) -> None:
    assert problems_of(document) == problems
    assert not is_in_schema(document)


def test_two_cases_have_two_names() -> None:
    assert problems_of(a_test(a_case(), a_case())) == [
        "cases[1].name: 'n' is the name of another case: choose another"
    ]


@pytest.mark.parametrize(
    ("document", "wants"),
    [({"kind": KIND}, True), ({"kind": "Pod"}, False), ([KIND], False), (None, False)],
)
def test_a_rule_test_is_told_by_its_kind(document: Any, wants: bool) -> None:
    assert reading.is_rule_test(document) is wants


# --- Lines -------------------------------------------------------------------------------------

TEXT = """\
kind: RuleTest
cases:
- name: a
  expect:
    refused:
      node.example.com: why
      other: |
        why
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("cases[0]", 3),
        ("cases[0].expect.refused.node.example.com", 6),
        ("cases[0].expect.refused.gone.example.com", 5),
        ("cases[0].expect.passes[3]", 4),
        ("metadata.name", 1),
    ],
)
def test_a_field_has_the_line_of_its_nearest_parent(path: str, line: int) -> None:
    assert reading.line_of(reading.lines_of(positions.of_text(TEXT)[0]), path) == line


def test_a_document_without_lines_has_none() -> None:
    assert reading.line_of({}, "cases[0]") is None


# --- The schema for editors --------------------------------------------------------------------


def test_the_schema_and_the_reader_know_the_same_keys_and_words() -> None:
    defined = SCHEMA["definitions"]
    wrong = "unknown key; known here: "
    said = dict(
        problem.split(": " + wrong)
        for problem in problems_of(
            a_test(
                a_case(x=1, expect={"x": 1, "passes": []}, configuration={"x": 1}),
                metadata={"x": 1},
                x=1,
            )
        )
    )
    known = {
        "x": SCHEMA,
        "metadata.x": SCHEMA["properties"]["metadata"],
        "cases[0].x": defined["case"],
        "cases[0].expect.x": defined["expect"],
        "cases[0].configuration.x": defined["configuration"],
    }

    assert {path: sorted(each["properties"]) for path, each in known.items()} == {
        path: keys.split(", ") for path, keys in said.items()
    }
    gates = defined["configuration"]["properties"]["featureGates"]
    assert set(gates["properties"]) == set(ATTRIBUTE_OF)
    kinds = defined["objects"]["items"]["anyOf"][1]["properties"]["kind"]["enum"]
    assert kinds == [*manifests.KINDS, "List"]
    assert defined["pod"]["anyOf"][2]["properties"]["kind"]["enum"] == list(TEMPLATES)


@pytest.mark.parametrize(
    "story", sorted(ROOT.glob("deploy/examples/stories/*/test.yaml")), ids=lambda p: p.parent.name
)
def test_the_tests_that_are_shipped_are_in_the_schema(story: Path) -> None:
    document = yaml.safe_load(story.read_text(encoding="utf-8"))

    assert problems_of(document) == []
    assert is_in_schema(document)


def _maybe(key: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[JSON]:
    return st.one_of(st.just({}), values.map(lambda value: {key: value}))


_JUNK: st.SearchStrategy[Any] = st.sampled_from([None, "", "a", 7, 11, True, [], {}, ["a"], [7]])
_EXPECT = st.tuples(
    _maybe("passes", _JUNK),
    _maybe("refused", st.one_of(_JUNK, st.just({"a": "why"}), st.just({"a": 7}))),
    _maybe("scores", st.one_of(_JUNK, st.just({"a": 3}), st.just({"a": -1}))),
    _maybe("fix", _JUNK),
    _maybe("other", st.just(1)),
).map(lambda parts: {key: value for part in parts for key, value in part.items()})
_SOURCES = st.one_of(
    _JUNK, st.lists(st.one_of(_JUNK, st.sampled_from([{"kind": "Node"}, {"kind": "Pod"}])))
)
_POD = st.one_of(
    _JUNK,
    st.sampled_from([{"kind": "Pod"}, {"kind": "Pods"}, {"file": "a"}, {"file": "a", "name": ""}]),
)
_CONFIGURATION = st.one_of(
    _JUNK,
    st.sampled_from([{"noExecute": "join"}, {"noExecute": "x"}, {"featureGates": {"X": True}}]),
)
_CASE = st.tuples(
    _maybe("name", st.sampled_from([None, "", "a", 7])),
    _maybe("pod", _POD),
    _maybe("nodes", _SOURCES),
    _maybe("objects", _SOURCES),
    _maybe("configuration", _CONFIGURATION),
    _maybe("expect", st.one_of(_JUNK, _EXPECT)),
).map(lambda parts: {key: value for part in parts for key, value in part.items()})


@given(st.one_of(_CASE, _CASE.map(lambda case: a_case() | case), _JUNK))
def test_the_schema_takes_what_the_reader_takes(case: Any) -> None:
    document = a_test(case)

    assert is_in_schema(document) == (problems_of(document) == [])
