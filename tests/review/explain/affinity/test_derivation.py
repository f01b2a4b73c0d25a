"""Each term and each requirement against a node."""

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import NodeSelectorRequirement
from extender.review.explain.affinity import derivation
from tests.builders import JSON, a_pod, node_json, required, requirement
from tests.review.explain.asking import SETTINGS, derived

LABELS = {"zone": "a", "kernel": "5.15.0-91", "cores": "016", "word": "many"}
SEMVER_OFF = Settings(gates=FeatureGates(semver_operators=False))


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds", "why"),
    [
        ("zone", "In", ("a", "b"), True, '"a" is one of "a", "b"'),
        ("zone", "In", ("b",), False, '"a" is not "b"'),
        ("zone", "NotIn", ("a",), False, '"a" is excluded'),
        ("zone", "NotIn", ("b",), True, '"a" is not excluded'),
        ("zone", "Exists", (), True, "the node has the label"),
        ("zone", "DoesNotExist", (), False, "the node has the label"),
        ("gone", "DoesNotExist", (), True, "the node has no such label"),
        ("gone", "In", ("a",), False, "the node has no such label"),
        ("cores", "Gt", ("8",), True, "16 is greater than 8"),
        ("word", "Gt", ("8",), False, 'the label\'s "many" is not an integer'),
        ("cores", "Lt", ("x",), False, 'the rule\'s "x" is not an integer'),
        ("cores", "Gt", (), False, "Gt takes exactly one value, not 0"),
        ("zone", "Exists", ("a",), False, "Exists takes no value, not 1"),
        ("zone", "in", ("a",), False, 'operator "in" is unknown'),
        ("-", "Exists", (), False, '"-" is not a label key'),
        ("zone", "In", ("a b",), False, '"a b" is not a label value'),
        (
            "kernel",
            "SemverGt",
            ("5.15.0",),
            False,
            "5.15.0-91 is not greater than 5.15.0: what follows the dash makes it a pre-release,"
            " which comes before 5.15.0",
        ),
    ],
)
def test_one_requirement(
    key: str, operator: str, values: tuple[str, ...], holds: bool, why: str
) -> None:
    written = NodeSelectorRequirement(key, operator, values)
    check = derivation.requirement_check(written, LABELS, SETTINGS)

    assert (check.matches, check.why) == (holds, why)
    assert check.actual == LABELS.get(key)


def test_values_are_told_as_they_were_read() -> None:
    written = NodeSelectorRequirement("cores", "Gt", ("8",))
    check = derivation.requirement_check(written, LABELS, SETTINGS)

    assert (check.parsed_value, check.parsed_actual) == ("8", "16")


def test_a_gate_that_is_off_is_named() -> None:
    written = NodeSelectorRequirement("kernel", "SemverGt", ("5.0",))
    check = derivation.requirement_check(written, LABELS, SEMVER_OFF)

    assert "TaintTolerationNodeAffinitySemverComparisonOperators is off" in check.why


def fields(operator: str, *values: str, key: str = "metadata.name") -> JSON:
    term = {"matchFields": [requirement(key, operator, *values)]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


@pytest.mark.parametrize(
    ("affinity", "matches", "why"),
    [
        (fields("In", "n"), True, '"n" is "n"'),
        (fields("NotIn", "n"), False, '"n" is excluded'),
        (fields("Exists"), False, "matchFields takes In or NotIn with exactly one value"),
        (fields("In", "", key="spec.x"), True, "only metadata.name is a field of a node"),
    ],
)
def test_fields_of_a_node(affinity: JSON, matches: bool, why: str) -> None:
    (term,) = derived(a_pod(affinity=affinity), node_json("n")).terms

    assert (term.matches, term.requirements[0].why) == (matches, why)


def test_the_node_selector_and_both_carriers_in_order() -> None:
    pod = a_pod(
        node_selector={"zone": "b", "gone": "x"},
        affinity=required([requirement("zone", "In", "a")], [requirement("zone", "Exists")]),
        annotated_affinity=required([requirement("kernel", "SemverGt", "5")]),
    )
    terms = derived(pod, node_json("n", labels=LABELS)).terms

    assert [(term.carrier, term.index, term.matches, term.why) for term in terms] == [
        ("nodeSelector", 0, False, "2 label(s) differ"),
        ("native", 0, True, "every requirement holds"),
        ("native", 1, True, "every requirement holds"),
        ("annotation", 0, True, "every requirement holds"),
    ]
    assert [each.why for each in terms[0].requirements] == [
        '"a" is not "b"',
        "the node has no such label",
    ]


@pytest.mark.parametrize(
    ("affinity", "why"),
    [
        (required(), "there is no term, so no node matches"),
        (required([]), "an empty term matches nothing"),
        (
            required([requirement("zone", "bogus")]),
            "a malformed requirement keeps the whole term from matching",
        ),
        (
            required([requirement("zone", "In", "b"), requirement("zone", "Exists")]),
            "1 of 2 requirement(s) do not hold",
        ),
    ],
)
def test_why_a_term_does_not_match(affinity: JSON, why: str) -> None:
    (term,) = derived(a_pod(affinity=affinity), node_json("n", labels=LABELS)).terms

    assert (term.matches, term.why) == (False, why)


def test_a_selector_that_matches_says_so() -> None:
    (term,) = derived(a_pod(node_selector={"zone": "a"}), node_json("n", labels=LABELS)).terms

    assert (term.matches, term.why) == (True, "every label is equal")
