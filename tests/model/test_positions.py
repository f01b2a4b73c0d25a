import pytest

from extender.model import positions
from extender.model.positions import Path, Place

TEXT = """\
# a comment
kind: Pod
metadata:
  annotations:
    a.b/c: |
      - key: sla
        value: x
    folded: >
      text
spec:
  tolerations:
  - key: sla
    value: "1"
  -
    key: other
  empty: []
--- {second: document}
---
- [1, {a: b}]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("kind",), 2),
        (("metadata", "annotations", "a.b/c"), 5),
        (("spec",), 10),
        (("spec", "tolerations"), 11),
        (("spec", "tolerations", 0), 12),
        (("spec", "tolerations", 0, "value"), 13),
        (("spec", "tolerations", 1, "key"), 15),
        (("spec", "empty"), 16),
    ],
)
def test_lines(path: Path, line: int) -> None:
    place = positions.of_text(TEXT)[0][path]

    assert place.line == line


def test_a_block_of_text_begins_on_the_next_line() -> None:
    (places, *_) = positions.of_text(TEXT)

    assert places["metadata", "annotations", "a.b/c"] == Place(5, 6)
    assert places["metadata", "annotations", "folded"] == Place(8, None)


def test_every_document_has_its_places() -> None:
    _, second, third = positions.of_text(TEXT)

    assert second["second",].line == 17
    assert third[0, 1, "a"].line == 19


def test_json_has_lines_too() -> None:
    (places,) = positions.of_text('{"a": [\n  {"b":\n    1}]}')

    assert places["a", 0, "b"].line == 2


def test_a_single_value_is_a_document() -> None:
    assert positions.of_text("text") == [{(): Place(1)}]


@pytest.mark.parametrize("text", ["{", "a: \x00", "a: [\ud800]"])
def test_what_is_no_yaml_has_no_places(text: str) -> None:
    assert positions.of_text(text) == []


def test_what_is_not_there_is_found_in_what_it_would_stand_in() -> None:
    (places, *_) = positions.of_text(TEXT)
    path = ("spec", "tolerations", 0, "effect", 7)

    assert positions.nearest(places, path) == (Place(12), ("effect", 7))
    assert positions.nearest(places, ("a",)) == (Place(2), ("a",))
    assert positions.nearest({}, ("a",)) == (None, ("a",))


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("", ()),
        ("spec", ("spec",)),
        ("spec.tolerations[0].value", ("spec", "tolerations", 0, "value")),
        (
            "metadata.annotations[scheduling.leeway/tolerations][12].key",
            ("metadata", "annotations", "scheduling.leeway/tolerations", 12, "key"),
        ),
        ("metadata.annotations[...]", ("metadata", "annotations", "...")),
    ],
)
def test_the_path_of_a_field(field: str, path: Path) -> None:
    assert positions.path_of(field) == path


def test_an_alias_has_its_own_line() -> None:
    (places,) = positions.of_text("a: &x\n  b: 1\nc: *x\nd:\n- *x\n- 5\n")

    assert places[("c",)] == Place(3)
    assert positions.nearest(places, ("c", "b")) == (Place(3), ("b",))
    assert places[("d", 0)] == Place(5)
    assert places[("d", 1)] == Place(6)
