"""What the rows of the real code do not have: versions, expressions, gates."""

import json

import pytest

from extender.match.gates import FeatureGates
from extender.match.versions import go_quote
from tests.builders import JSON, toleration
from tests.review import objects
from tests.review.objects import ANNOTATED_TOLERATIONS, judged, messages, with_tolerations
from tests.vectors import Row, assert_every_row

FIELD = "spec.tolerations[0]"


def said(rule: JSON, gates: FeatureGates | None = None) -> list[str]:
    return messages(judged(with_tolerations(rule), gates=gates))


def test_every_version_is_refused_in_the_words_of_the_parser() -> None:
    def ask(row: Row) -> list[str]:
        return said(toleration("kernel", "SemverGt", row["input"]))

    def answer(row: Row) -> list[str]:
        if row["ok"]:
            return []
        return [f"{FIELD}.value: Invalid value: {go_quote(row['input'])}: {row['error']}"]

    assert_every_row("semver_parse", ask, answer)


def test_every_expression_is_refused_in_the_words_of_its_row() -> None:
    """Of a syntax error, the place counts; the wording behind it may be ours."""

    def outline(texts: list[str]) -> list[str]:
        return [text.split("Syntax error")[0] for text in texts]

    def ask(row: Row) -> list[str]:
        return outline(said({"expression": row["expression"]}))

    def answer(row: Row) -> list[str]:
        compiled, text = row["compile"], row["expression"]
        if compiled["too_costly"]:
            cost = compiled["max_cost"]
            why = f"too complex, estimated cost {cost} exceeds limit 1000000"
            return [f"{FIELD}.expression: Forbidden: {why}"]
        error = compiled["error"]
        if error is None or not text:
            return [] if text else said(toleration())
        if error.startswith("Too long"):
            return [f"{FIELD}.expression: {error}"]
        return outline([f"{FIELD}.expression: Invalid value: {go_quote(text)}: {error}"])

    assert_every_row("cel", ask, answer)


@pytest.mark.parametrize("field", ["key", "operator", "value", "effect"])
def test_an_expression_stands_alone(field: str) -> None:
    assert said({"expression": "true", field: "x"}) == [
        f'{FIELD}.expression: Invalid value: "true": expression cannot be used with key, value,'
        " operator, or effect fields"
    ]


def test_an_expression_may_have_seconds_beside_it() -> None:
    assert said({"expression": "true", "tolerationSeconds": 5}) == []


def test_an_empty_expression_counts_as_absent() -> None:
    assert said({"expression": "", "key": "sla", "operator": "Exists"}) == []


def test_an_expression_whose_gate_is_off_is_forbidden_unread() -> None:
    gates = FeatureGates(cel=False)

    assert said({"expression": "nonsense (", "key": "x"}, gates) == [
        f"{FIELD}.expression: Forbidden: feature gate TaintTolerationCEL is disabled"
    ]


def test_length_counts_in_bytes() -> None:
    expression = "'" + "é" * 5120 + "' == ''"

    assert said({"expression": expression}) == [
        f"{FIELD}.expression: Too long: may not be more than 10240 bytes"
    ]


@pytest.mark.parametrize("operator", ["SemverGt", "SemverLt", "SemverEq"])
def test_a_version_operator_whose_gate_is_off_is_unsupported(operator: str) -> None:
    gates = FeatureGates(semver_operators=False)

    assert said(toleration("kernel", operator, "1.2"), gates) == [
        f'{FIELD}.operator: Unsupported value: "{operator}": supported values: "Equal", "Exists"'
    ]


def test_a_version_takes_the_other_checks_too() -> None:
    rule = toleration("", "SemverGt", "1.2.x", "Never", tolerationSeconds=1)

    assert said(rule) == [
        f'{FIELD}.operator: Invalid value: "SemverGt": operator must be Exists when `key` is empty,'
        ' which means "match all values and all keys"',
        f"{FIELD}.effect: Invalid value: \"Never\": effect must be 'NoExecute' when"
        " `tolerationSeconds` is set",
        f'{FIELD}.value: Invalid value: "1.2.x": Invalid character(s) found in patch number "x"',
        f'{FIELD}.effect: Unsupported value: "Never": supported values: "NoSchedule",'
        ' "PreferNoSchedule", "NoExecute"',
    ]


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ("", ["must be non-empty", 'strconv.ParseInt: parsing "": invalid syntax']),
        ("-", ["must be a valid", 'strconv.ParseInt: parsing "-": invalid syntax']),
        ("-0", ["must be a valid"]),
        ("9223372036854775808", ['strconv.ParseInt: parsing "9223372036854775808": value out']),
        ("-9223372036854775809", ['strconv.ParseInt: parsing "-9223372036854775809": value out']),
        ("٩٥٠", ["must be a valid", 'strconv.ParseInt: parsing "٩٥٠": invalid syntax']),
        ("²", ["must be a valid", 'strconv.ParseInt: parsing "²": invalid syntax']),
    ],
)
def test_integers_at_the_edges(value: str, problems: list[str]) -> None:
    errors = judged(with_tolerations(toleration("sla", "Lt", value))).errors

    assert [error.field for error in errors] == [f"{FIELD}.value"] * len(problems)
    for error, problem in zip(errors, problems, strict=True):
        assert error.detail.startswith(problem)


def test_the_annotation_has_its_own_path() -> None:
    pod = objects.with_annotation("tolerations", json.dumps([toleration("a", "Exists"), {}]))

    assert [error.field for error in judged(pod).errors] == [f"{ANNOTATED_TOLERATIONS}[1].operator"]
