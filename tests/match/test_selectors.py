import msgspec
import pytest

from extender.match import selectors
from extender.match.findings import Finding, Noticed
from extender.match.gates import FeatureGates
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodSpec,
    PreferredSchedulingTerm,
)
from tests.vectors import Row, assert_every_row, gates_of

ALL_ON = FeatureGates()

Requirement = NodeSelectorRequirement


def affinity_of(row: Row) -> tuple[PodSpec, NodeAffinity | None]:
    spec = msgspec.convert(row["pod_spec_fragment"], PodSpec)
    return spec, spec.affinity.node_affinity if spec.affinity else None


def asked(row: Row) -> tuple[bool, int]:
    """Whether the node of a row has what is required, and the weight of what is preferred."""
    spec, affinity = affinity_of(row)
    name, labels, gates = row["node"]["name"], row["node"]["labels"] or {}, gates_of(row)
    required = selectors.compile_required(spec.node_selector, [affinity], gates, set())
    preferred = selectors.compile_preferred([affinity], gates, set())
    return (
        required is None or required.matches(name, labels, set()),
        0 if preferred is None else preferred.score(name, labels, set()),
    )


def answered(row: Row) -> tuple[bool, int]:
    return row["required_match"] is True, row["preferred_score"]


@pytest.mark.parametrize("name", ["node_affinity", "node_affinity_semver"])
def test_every_selector_matches_as_in_go(name: str) -> None:
    """Values are checked as label values for every operator: no alternative answer is needed."""
    assert_every_row(name, asked, answered)


def matches(term: NodeSelectorTerm, name: str = "node-1", **labels: str) -> bool:
    compiled = selectors.compile_term(term, ALL_ON, set())
    return compiled is not None and compiled.matches(name, labels, set())


def expressions(*requirements: Requirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=requirements)


def fields(*requirements: Requirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=requirements)


@pytest.mark.parametrize(
    ("requirement", "labels", "expected"),
    [
        pytest.param(Requirement("a", "In", ("x", "y")), {"a": "y"}, True, id="in"),
        pytest.param(Requirement("a", "In", ("x", "y")), {"a": "z"}, False, id="not in"),
        pytest.param(Requirement("a", "In", ("x",)), {}, False, id="In, absent"),
        pytest.param(Requirement("a", "NotIn", ("x",)), {"a": "x"}, False, id="NotIn, in"),
        pytest.param(Requirement("a", "NotIn", ("x",)), {}, True, id="NotIn, absent"),
        pytest.param(Requirement("a", "Exists"), {"a": ""}, True, id="exists, empty"),
        pytest.param(Requirement("a", "Exists"), {}, False, id="does not exist"),
        pytest.param(Requirement("a", "DoesNotExist"), {}, True, id="absent as it should be"),
        pytest.param(Requirement("a", "DoesNotExist"), {"a": ""}, False, id="there, empty"),
        pytest.param(Requirement("a", "Gt", ("0900",)), {"a": "+901"}, True, id="as Go's ParseInt"),
        pytest.param(Requirement("a", "Lt", ("900",)), {"a": "900"}, False, id="not below itself"),
        pytest.param(Requirement("a", "Gt", ("900",)), {}, False, id="Gt, absent"),
        pytest.param(Requirement("a", "Gt", ("900",)), {"a": "high"}, False, id="Gt of a word"),
        pytest.param(Requirement("a", "SemverGt", ("1.9",)), {"a": "v1.10"}, True, id="later"),
        pytest.param(Requirement("a", "SemverLt", ("1.9",)), {"a": "1.9-rc"}, False, id="no parse"),
        pytest.param(Requirement("a", "SemverEq", ("1",)), {"a": "1.0.0"}, True, id="the same"),
        pytest.param(Requirement("a", "SemverEq", ("1",)), {}, False, id="semver, absent"),
    ],
)
def test_one_expression(requirement: Requirement, labels: dict[str, str], expected: bool) -> None:
    assert matches(expressions(requirement), **labels) is expected


@pytest.mark.parametrize(
    "term",
    [
        pytest.param(NodeSelectorTerm(), id="an empty term"),
        pytest.param(NodeSelectorTerm((), ()), id="a term of empty lists"),
        pytest.param(expressions(Requirement("a", "in", ("x",))), id="an operator in lower case"),
        pytest.param(expressions(Requirement("a", "In", ())), id="In without values"),
        pytest.param(expressions(Requirement("a", "NotIn", None)), id="NotIn without values"),
        pytest.param(expressions(Requirement("a", "Exists", ("x",))), id="Exists with a value"),
        pytest.param(expressions(Requirement("b", "DoesNotExist", ("x",))), id="and the reverse"),
        pytest.param(expressions(Requirement("a", "Gt", ("1", "2"))), id="Gt with two values"),
        pytest.param(expressions(Requirement("a", "Lt", None)), id="Lt without a value"),
        pytest.param(expressions(Requirement("a", "Gt", ("high",))), id="Gt of a word"),
        pytest.param(expressions(Requirement("a", "Gt", ("-5",))), id="Gt of no label value"),
        pytest.param(expressions(Requirement("a", "SemverGt", ("0", "1"))), id="two versions"),
        pytest.param(expressions(Requirement("a", "SemverGt", ("x",))), id="no version"),
        pytest.param(expressions(Requirement("a", "SemverEq", ("1+b",))), id="no label value"),
        pytest.param(expressions(Requirement("-", "DoesNotExist")), id="an illegal key"),
        pytest.param(expressions(Requirement("b", "NotIn", ("a b",))), id="an illegal value"),
        pytest.param(fields(Requirement("metadata.name", "Exists")), id="Exists of a field"),
        pytest.param(fields(Requirement("metadata.name", "In", ())), id="no name"),
        pytest.param(fields(Requirement("metadata.name", "In", ("a", "node-1"))), id="two names"),
        pytest.param(
            fields(Requirement("metadata.name", "SemverGt", ("1",))), id="a version of a field"
        ),
        pytest.param(
            expressions(Requirement("a", "Exists"), Requirement("a", "Bogus")),
            id="one of two malformed",
        ),
        pytest.param(
            NodeSelectorTerm(
                (Requirement("a", "Exists"),), (Requirement("metadata.name", "Gt", ("1",)),)
            ),
            id="a good label and a malformed field",
        ),
    ],
)
def test_a_malformed_or_empty_term_never_matches(term: NodeSelectorTerm) -> None:
    assert selectors.compile_term(term, ALL_ON, set()) is None
    assert not matches(term, a="10")


@pytest.mark.parametrize(
    ("requirement", "name", "expected"),
    [
        pytest.param(Requirement("metadata.name", "In", ("node-1",)), "node-1", True, id="its"),
        pytest.param(Requirement("metadata.name", "In", ("node-1",)), "node-2", False, id="not"),
        pytest.param(
            Requirement("metadata.name", "NotIn", ("node-1",)), "node-2", True, id="NotIn"
        ),
        pytest.param(Requirement("metadata.name", "NotIn", ("node-1",)), "node-1", False, id="in"),
        pytest.param(
            Requirement("metadata.name", "In", ("node-1",)), "", True, id="a node without a name"
        ),
        pytest.param(Requirement("spec.x", "In", ("node-1",)), "node-1", False, id="other field"),
        pytest.param(Requirement("spec.x", "In", ("",)), "node-1", True, id="reads as empty"),
        pytest.param(Requirement("spec.x", "NotIn", ("node-1",)), "node-1", True, id="so NotIn"),
    ],
)
def test_one_field(requirement: Requirement, name: str, expected: bool) -> None:
    assert matches(fields(requirement), name) is expected


def test_a_term_needs_all_its_requirements() -> None:
    both = NodeSelectorTerm(
        (Requirement("a", "In", ("x",)), Requirement("b", "Exists")),
        (Requirement("metadata.name", "In", ("node-1",)),),
    )

    assert matches(both, "node-1", a="x", b="")
    assert not matches(both, "node-1", a="x")
    assert not matches(both, "node-1", a="y", b="")
    assert not matches(both, "node-2", a="x", b="")


def selector(*terms: NodeSelectorTerm) -> NodeAffinity:
    return NodeAffinity(required=NodeSelector(terms))


A = expressions(Requirement("a", "Exists"))
B = expressions(Requirement("b", "Exists"))
BAD = expressions(Requirement("b", "Bogus"))


@pytest.mark.parametrize(
    ("node_selector", "affinities", "labels", "expected"),
    [
        pytest.param({}, [], {}, None, id="nothing is asked"),
        pytest.param(None, [None, NodeAffinity()], {}, None, id="nothing is required"),
        pytest.param({"a": ""}, [], {"a": ""}, True, id="a label of the selector"),
        pytest.param({"a": ""}, [], {}, False, id="an empty label is not an absent one"),
        pytest.param({"_ bad": "& value"}, [], {"_ bad": "& value"}, True, id="never validated"),
        pytest.param({"a": "1", "b": "2"}, [], {"a": "1"}, False, id="all labels"),
        pytest.param(None, [selector(A, B)], {"b": ""}, True, id="one term of two"),
        pytest.param(None, [selector(A, B)], {"c": ""}, False, id="no term of two"),
        pytest.param(None, [selector(BAD, A)], {"a": ""}, True, id="beside a malformed one"),
        pytest.param(None, [selector(BAD)], {"b": ""}, False, id="a malformed one alone"),
        pytest.param(None, [selector()], {"a": ""}, False, id="no terms match nothing"),
        pytest.param(None, [NodeAffinity(NodeSelector())], {}, False, id="null terms neither"),
        pytest.param(None, [selector(A), selector(B)], {"a": ""}, False, id="one affinity of two"),
        pytest.param(None, [selector(A), selector(B)], {"a": "", "b": ""}, True, id="both"),
        pytest.param({"c": "1"}, [selector(A)], {"a": ""}, False, id="terms but no label"),
        pytest.param({"c": "1"}, [selector(A)], {"c": "1"}, False, id="label but no terms"),
        pytest.param({"c": "1"}, [selector(A)], {"a": "", "c": "1"}, True, id="label and terms"),
    ],
)
def test_required(
    node_selector: dict[str, str] | None,
    affinities: list[NodeAffinity | None],
    labels: dict[str, str],
    expected: bool | None,
) -> None:
    required = selectors.compile_required(node_selector, affinities, ALL_ON, set())

    assert (None if required is None else required.matches("n", labels, set())) is expected


def prefers(*weighed: tuple[int, NodeSelectorTerm | None]) -> NodeAffinity:
    return NodeAffinity(preferred=tuple(PreferredSchedulingTerm(w, term) for w, term in weighed))


@pytest.mark.parametrize(
    ("affinities", "expected"),
    [
        pytest.param([], None, id="nothing is asked"),
        pytest.param([None, NodeAffinity(), prefers()], None, id="nothing is preferred"),
        pytest.param([prefers((3, A), (5, A), (9, B))], 8, id="what matches adds up"),
        pytest.param([prefers((3, A)), prefers((4, A))], 7, id="both affinities add up"),
        pytest.param([prefers((3, A), (50, BAD))], 3, id="a malformed term adds nothing"),
        pytest.param([prefers((3, A), (50, NodeSelectorTerm()))], 3, id="an empty one neither"),
        pytest.param([prefers((3, A), (50, None))], 3, id="nor a weight alone"),
        pytest.param([prefers((0, A))], 0, id="no weight"),
        pytest.param([prefers((5, A), (-2, A))], 3, id="a weight below zero counts"),
    ],
)
def test_preferred(affinities: list[NodeAffinity | None], expected: int | None) -> None:
    preferred = selectors.compile_preferred(affinities, ALL_ON, set())

    score = None if preferred is None else preferred.score("n", {"a": ""}, set())
    assert score == expected


@pytest.mark.parametrize("operator", ["SemverGt", "SemverLt", "SemverEq"])
def test_semver_terms_never_match_with_their_gate_off(operator: str) -> None:
    value = {"SemverGt": "0.1", "SemverLt": "9", "SemverEq": "1"}[operator]
    term = expressions(Requirement("a", operator, (value,)))
    affinity = NodeAffinity(NodeSelector((term,)), (PreferredSchedulingTerm(5, term),))
    noticed: Noticed = set()

    def ask(gates: FeatureGates) -> tuple[bool, int]:
        required = selectors.compile_required(None, [affinity], gates, noticed)
        preferred = selectors.compile_preferred([affinity], gates, noticed)
        assert required is not None
        assert preferred is not None
        labels = {"a": "1.0"}
        return required.matches("n", labels, noticed), preferred.score("n", labels, noticed)

    assert ask(ALL_ON) == (True, 5)
    assert ask(FeatureGates(comparison_operators=False)) == (True, 5)
    assert ask(FeatureGates(semver_operators=False)) == (False, 0)
    assert noticed == set()


def test_integer_terms_have_no_gate() -> None:
    """Node affinity has had Gt and Lt for ever; the gate is about tolerations."""
    term = expressions(Requirement("a", "Gt", ("5",)))
    compiled = selectors.compile_term(term, FeatureGates(comparison_operators=False), set())

    assert compiled is not None
    assert compiled.matches("n", {"a": "6"}, set())


def test_what_does_not_parse_is_noticed_on_both_sides() -> None:
    noticed: Noticed = set()

    def compile_(*requirements: Requirement) -> selectors.Term | None:
        return selectors.compile_term(expressions(*requirements), ALL_ON, noticed)

    assert compile_(Requirement("sla", "Gt", ("high",))) is None
    assert compile_(Requirement("cni", "SemverEq", ("1.x",))) is None
    assert noticed == {
        Finding("affinity", "integer", "sla", "high"),
        Finding("affinity", "semver", "cni", "1.x"),
    }

    noticed.clear()
    sla, cni = (
        compile_(Requirement("sla", "Gt", ("5",))),
        compile_(Requirement("cni", "SemverGt", ("1",))),
    )
    assert sla is not None
    assert cni is not None
    labels = {"sla": "low", "cni": "two"}
    assert not sla.matches("n", labels, noticed)
    assert not cni.matches("n", labels, noticed)
    assert noticed == {
        Finding("label", "integer", "sla", "low"),
        Finding("label", "semver", "cni", "two"),
    }


def test_a_selector_says_which_labels_and_fields_it_reads() -> None:
    term = NodeSelectorTerm(
        (Requirement("a", "Exists"), Requirement("b", "Exists")),
        (Requirement("metadata.name", "In", ("n",)),),
    )
    required = selectors.compile_required({"c": ""}, [selector(term, A)], ALL_ON, set())

    assert required is not None
    assert [(set(t.label_keys), len(t.field_tests)) for t in required.terms()] == [
        ({"a", "b"}, 1),
        ({"a"}, 0),
    ]
    assert required.labels == (("c", ""),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("app", True, id="a name"),
        pytest.param("App_1.x-Y", True, id="a name of everything"),
        pytest.param("a" * 63, True, id="63 characters"),
        pytest.param("a" * 64, False, id="64 characters"),
        pytest.param("", False, id="nothing"),
        pytest.param("-app", False, id="a hyphen before"),
        pytest.param("app.", False, id="a dot behind"),
        pytest.param("app\n", False, id="a newline behind"),
        pytest.param("äpp", False, id="beyond ASCII"),
        pytest.param("example.com/app", True, id="a prefix"),
        pytest.param("/app", False, id="an empty prefix"),
        pytest.param("example.com/", False, id="a prefix alone"),
        pytest.param("a/b/c", False, id="two slashes"),
        pytest.param("Example.com/app", False, id="a prefix with a capital"),
        pytest.param("ex_ample.com/app", False, id="a prefix with an underscore"),
        pytest.param("-x.com/app", False, id="a prefix with a hyphen before"),
        pytest.param("x-.com/app", False, id="a part of it with a hyphen behind"),
        pytest.param("x..com/app", False, id="a prefix with two dots"),
        pytest.param(".".join(["a" * 49] * 5) + ".abc/app", True, id="a prefix of 253"),
        pytest.param(".".join(["a" * 49] * 5) + ".abcd/app", False, id="a prefix of 254"),
    ],
)
def test_is_label_key(text: str, expected: bool) -> None:
    assert selectors.is_label_key(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", True, id="nothing"),
        pytest.param("x", True, id="a letter"),
        pytest.param("V1.2_3-rc", True, id="everything"),
        pytest.param("1" * 63, True, id="63 characters"),
        pytest.param("1" * 64, False, id="64 characters"),
        pytest.param("-5", False, id="a sign"),
        pytest.param("1.32.0+k3s1", False, id="a plus"),
        pytest.param(" x", False, id="white space"),
        pytest.param("x\n", False, id="a newline behind"),
        pytest.param("a/b", False, id="a slash"),
        pytest.param("٩", False, id="beyond ASCII"),
    ],
)
def test_is_label_value(text: str, expected: bool) -> None:
    assert selectors.is_label_value(text) is expected


def test_what_stands_before_a_choice_is_still_read_and_noticed() -> None:
    number = Requirement("a", "Gt", ("5",))
    choice = Requirement("b", "In", ("x",))
    affinity = NodeAffinity(NodeSelector((expressions(number, choice), expressions(choice))))
    required = selectors.compile_required(None, [affinity], ALL_ON, set())
    noticed: Noticed = set()

    assert required is not None
    assert not required.matches("node-1", {"a": "high"}, noticed)
    assert noticed == {Finding("label", "integer", "a", "high")}


def test_terms_are_asked_in_their_order() -> None:
    number = Requirement("a", "Gt", ("5",))
    choice = Requirement("b", "In", ("x",))
    affinity = NodeAffinity(NodeSelector((expressions(choice), expressions(number))))
    required = selectors.compile_required(None, [affinity], ALL_ON, set())
    noticed: Noticed = set()

    assert required is not None
    assert required.matches("node-1", {"a": "high", "b": "x"}, noticed)
    assert noticed == set()
