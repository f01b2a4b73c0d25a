from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.match import shapes
from extender.match.annotations import StrictNodeAffinity, StrictToleration, StrictVolumeAffinity
from extender.match.shapes import FieldProblem, Words
from extender.model import documents, nulls
from extender.model.core_v1 import Node, Pod
from extender.model.documents import Plain

ANNOTATED: tuple[Any, ...] = (
    tuple[StrictToleration, ...],
    StrictNodeAffinity,
    StrictVolumeAffinity,
)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NAMES = [
    *("key", "operator", "value", "effect", "tolerationSeconds", "expression"),
    *(REQUIRED, PREFERRED, "required", "weight", "preference", "values"),
    *("nodeSelectorTerms", "matchExpressions", "matchFields"),
    *("metadata", "labels", "name", "spec", "taints", "unschedulable"),
]
SCALARS: st.SearchStrategy[Plain] = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False), st.text(max_size=3)
)
DATA: st.SearchStrategy[Plain] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=4),
    ),
    max_leaves=12,
)


def refusal(decode: Callable[[], object]) -> msgspec.ValidationError | None:
    try:
        decode()
    except msgspec.ValidationError as exc:
        return exc
    return None


def problem(data: Plain, kind: Any) -> FieldProblem:
    exc = refusal(lambda: nulls.convert(data, kind))
    assert exc is not None
    return shapes.first_problem(data, kind, exc, Words())


@given(DATA, st.sampled_from(ANNOTATED))
def test_the_problem_is_the_one_that_stopped_the_decoder(data: Plain, kind: Any) -> None:
    data = documents.without_nulls(data)
    exc = refusal(lambda: msgspec.convert(data, kind))
    if exc is None:
        return
    found = shapes.first_problem(data, kind, exc, Words(nulls=False))
    what, _, place = str(exc).rpartition(" - at `$") if "at `$" in str(exc) else (str(exc), "", "")
    at = place.removesuffix("`").removeprefix(".")
    if "unknown field" in what:
        assert found.field.startswith(at)
        assert " is not a field of " in str(found)
    else:
        assert found.field == at
        assert found.text.startswith("must be ")


@given(DATA, st.sampled_from((Pod, Node)))
def test_every_problem_of_an_object_is_told_in_words(data: Plain, kind: Any) -> None:
    exc = refusal(lambda: nulls.convert(data, kind))
    if exc is not None:
        assert "Expected `" not in str(shapes.first_problem(data, kind, exc, Words()))


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (None, Pod, "must be an object, but there is nothing"),
        ({"metadata": {"labels": []}}, Pod, "metadata.labels must be a mapping, not a list"),
        (
            {"metadata": {"labels": {"a.b/c": 1}}},
            Pod,
            'metadata.labels[a.b/c] must be text: write "1"',
        ),
        ({"metadata": None, "spec": "x"}, Node, "spec must be an object, not text"),
        (
            {"spec": {"unschedulable": "yes"}},
            Node,
            "spec.unschedulable must be true or false, not text",
        ),
        (
            {"spec": {"tolerations": [None, {"tolerationSeconds": 1.5}]}},
            Pod,
            "spec.tolerations[1].tolerationSeconds must be a whole number",
        ),
        (
            {"spec": {"tolerations": [{"tolerationSeconds": True}]}},
            Pod,
            "spec.tolerations[0].tolerationSeconds must be a number, not true",
        ),
    ],
)
def test_native_objects(data: Plain, kind: Any, expected: str) -> None:
    assert str(problem(data, kind)) == expected


def test_beside_its_field_a_problem_is_brief() -> None:
    found = problem({"spec": {"tolerations": [{"value": 900}]}}, Pod)

    assert (found.field, found.shown) == ("spec.tolerations[0].value", "900")
    assert found.brief == 'value must be text: write "900"'


def test_a_problem_is_short_however_long_the_data() -> None:
    exc = msgspec.ValidationError("")
    data: Plain = [{"x" * 100_000: 1}]
    found = shapes.first_problem(data, tuple[StrictToleration, ...], exc, Words())
    number = shapes.first_problem([int("9" * 4_000)], tuple[str, ...], exc, Words())

    assert len(str(found)) < 400
    assert len(str(number)) < 120


def test_a_problem_that_is_not_known_keeps_the_words_of_the_decoder() -> None:
    found = shapes.first_problem([], tuple[str, ...], msgspec.ValidationError("odd"), Words())

    assert str(found) == "odd"
