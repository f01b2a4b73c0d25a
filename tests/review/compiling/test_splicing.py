"""Edits in the text of a manifest: what is not changed stays byte for byte."""

import textwrap

import pytest

from extender.errors import DocumentError
from extender.model.documents import Plain
from extender.model.positions import Path
from extender.review.compiling.edits import Edit
from extender.review.compiling.splicing import Change, spliced

SLA: Plain = {"key": "sla", "operator": "Equal", "value": "950"}
LIST: Path = ("spec", "tolerations")


def edited(text: str, path: Path, value: Plain, document: int = 0) -> str:
    return spliced(text, [Change(document, Edit(path, value))])


def block(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        pytest.param(
            """
            spec:
              tolerations:   # ours
              # first
              - key: gpu     # mine
                operator: Exists
              # the end
              containers: []
            """,
            LIST,
            [{"key": "gpu", "operator": "Exists"}, SLA],
            """
            spec:
              tolerations:   # ours
              # first
              - key: gpu     # mine
                operator: Exists
              - key: sla
                operator: Equal
                value: '950'
              # the end
              containers: []
            """,
            id="an item more, comments stay",
        ),
        pytest.param(
            """
            spec:
              tolerations:
                - {key: gpu, operator: Exists}   # mine
            """,
            LIST,
            [{"key": "gpu", "operator": "Exists"}, SLA],
            """
            spec:
              tolerations:
                - {key: gpu, operator: Exists}   # mine
                - {key: sla, operator: Equal, value: '950'}
            """,
            id="an item on one line, as the one before it",
        ),
        pytest.param(
            "spec: {tolerations: [{key: gpu}], x: 1} # c\n",
            LIST,
            [{"key": "gpu"}, SLA],
            "spec: {tolerations: [{key: gpu}, "
            '{"key": "sla", "operator": "Equal", "value": "950"}], x: 1} # c\n',
            id="an item more in a flow list",
        ),
        pytest.param(
            "spec: {tolerations: [{key: gpu}, {key: b}]}\n",
            LIST,
            [{"key": "gpu"}],
            "spec: {tolerations: [{key: gpu}]}\n",
            id="an item less in a flow list",
        ),
        pytest.param(
            "spec: {tolerations: [{key: gpu}, {key: b}]}\n",
            LIST,
            [{"key": "c"}],
            'spec: {tolerations: [{"key": "c"}]}\n',
            id="other items in a flow list",
        ),
        pytest.param(
            """
            spec:
              tolerations:
              - key: a
              - key: b
              x: 1
            """,
            LIST,
            [{"key": "a"}],
            """
            spec:
              tolerations:
              - key: a
              x: 1
            """,
            id="an item less",
        ),
        pytest.param(
            """
            spec:
              tolerations:
              - key: a
              - key: b  # gone
              x: 1
            """,
            LIST,
            [{"key": "a"}, {"key": "c"}],
            """
            spec:
              tolerations:
              - key: a
              - key: c
              x: 1
            """,
            id="another item",
        ),
        pytest.param(
            "spec:\n  tolerations:\n  x: 1\n",
            LIST,
            [{"key": "a"}],
            "spec:\n  tolerations:\n  - key: a\n  x: 1\n",
            id="a list in place of null",
        ),
        pytest.param(
            "spec:\n  tolerations: []  # none\n  x: 1\n",
            LIST,
            [{"key": "a"}],
            "spec:\n  tolerations:\n  - key: a  # none\n  x: 1\n",
            id="a list in place of an empty one",
        ),
        pytest.param(
            "spec:\n  x: |\n    text\n\n---\na: 1\n",
            LIST,
            [{"key": "a"}],
            "spec:\n  x: |\n    text\n  tolerations:\n  - key: a\n\n---\na: 1\n",
            id="a new key behind a block of text",
        ),
        pytest.param("{}\n", ("a", "b"), "c", '{"a": {"b": "c"}}\n', id="a mapping that is empty"),
        pytest.param("a: {b: 1}", ("a", "c"), "d", 'a: {b: 1, "c": "d"}', id="a key in flow style"),
        pytest.param("a: {b: 1}", ("a", "b"), "d", 'a: {b: "d"}', id="a value in flow style"),
        pytest.param("a:\n  b: 'x'", ("a", "b"), "950", "a:\n  b: '950'", id="a text"),
        pytest.param("a:\n  b:", ("a", "b"), "x", "a:\n  b: x", id="a text in place of null"),
        pytest.param(
            "a:\n  b: 1", ("a", "b"), {"c": 1}, "a:\n  b:\n    c: 1", id="a mapping in its place"
        ),
        pytest.param("a: 1\nb: 2 # c\nd: 3\n", ("b",), None, "a: 1\nd: 3\n", id="a key is removed"),
        pytest.param("a: 1\nb: 2", ("b",), None, "a: 1\n", id="the last key is removed"),
        pytest.param("a:\n  b: 1\n", ("a", "b"), None, "a:\n  {}\n", id="the only key is removed"),
        pytest.param("a: {b: 1, c: 2}", ("a", "b"), None, "a: {c: 2}", id="the first, in flow"),
        pytest.param("a: {b: 1, c: 2}", ("a", "c"), None, "a: {b: 1}", id="the last, in flow"),
        pytest.param("a: {b: 1}", ("a", "b"), None, "a: {}", id="the only one, in flow"),
        pytest.param("a: 1\n", ("b", "c"), None, "a: 1\n", id="what is not there is not removed"),
        pytest.param(
            "items:\n- a: 1\n- a: 2 # c\n",
            ("items", 1, "b"),
            "x",
            "items:\n- a: 1\n- a: 2 # c\n  b: x\n",
            id="in an item of a list",
        ),
        pytest.param(
            '{\n  "a": {"b": ["x"]}\n}\n',
            ("a", "b"),
            ["x", "y"],
            '{\n  "a": {"b": ["x", "y"]}\n}\n',
            id="JSON",
        ),
        pytest.param(
            "ä: ö # ü\nspec:\n  t: [é]\n",
            ("spec", "t"),
            ["é", "漢"],
            'ä: ö # ü\nspec:\n  t: [é, "漢"]\n',
            id="letters that are not ASCII",
        ),
    ],
)
def test_only_the_value_changes(text: str, path: Path, value: Plain, expected: str) -> None:
    assert edited(block(text), path, value) == block(expected)


def test_line_breaks_of_windows_stay() -> None:
    text = "spec:\r\n  tolerations:\r\n  - key: a # \t tab\r\n  - key: b\r\n  x: 1\r\n"

    more = edited(text, LIST, [{"key": "a"}, {"key": "b"}, {"key": "c"}])
    less = edited(text, LIST, [{"key": "a"}])

    assert more == text.replace("key: b\r\n", "key: b\r\n  - key: c\r\n")
    assert less == text.replace("  - key: b\r\n", "")


def test_the_right_document_changes() -> None:
    text = "# one\na: 1\n---\n# two\na: 1 # x\n...\n---\na: 1\n"

    assert edited(text, ("b",), 2, document=1) == text.replace("1 # x\n", "1 # x\nb: 2\n")


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("a: &x {b: 1}\nc: *x\n", ("c", "b"), "line 2: an anchor or alias is in the way"),
        ("a: &x {b: 1}\nc: *x\n", ("a", "b"), "line 1: an anchor or alias is in the way"),
        ("a: 1\n", ("a", "b"), "line 1: a mapping is needed here for b"),
    ],
)
def test_a_layout_that_cannot_be_edited_is_refused(text: str, path: Path, why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        edited(text, path, "new")


def test_the_first_key_behind_a_dash_is_not_removed() -> None:
    with pytest.raises(DocumentError, match="line 1: a cannot be removed"):
        edited("- a: 1\n  b: 2\n", (0, "a"), None)


def test_a_key_that_was_merged_is_not_removed() -> None:
    with pytest.raises(DocumentError, match=r"c\.b cannot be changed in this layout"):
        edited("a: &x {b: 1}\nc: {<<: *x}\n", ("c", "b"), None)
