"""Values at paths of plain objects."""

from extender.model.documents import Plain
from extender.review.compiling.edits import Edit, applied, at, nested

POD: Plain = {"spec": {"containers": [{"name": "a"}], "tolerations": []}}


def test_a_value_at_a_path() -> None:
    assert at(POD, ("spec", "containers", 0, "name")) == "a"
    assert at(POD, ("spec", "containers", 1, "name")) is None
    assert at(POD, ("spec", "containers", "name")) is None
    assert at(POD, ()) == POD


def test_a_value_inside_of_mappings() -> None:
    assert nested(("a", "b"), 1) == {"a": {"b": 1}}


def test_an_edit_sets_creates_and_removes() -> None:
    edits = [
        Edit(("spec", "containers", 0, "image"), "b"),
        Edit(("metadata", "annotations", "x"), "y"),
        Edit(("spec", "tolerations"), None),
    ]

    assert applied(POD, edits) == {
        "spec": {"containers": [{"name": "a", "image": "b"}]},
        "metadata": {"annotations": {"x": "y"}},
    }
    assert at(POD, ("spec", "tolerations")) == []  # the object itself is left alone
