import re

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from extender.errors import DocumentError
from extender.model import documents
from extender.model.documents import Plain

LIMIT = 262_144
DEEP = 25_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("null", None, id="nothing"),
        pytest.param("[1.20]", [1.2], id="a fraction is a number in JSON"),
        pytest.param("[1e3]", [1000.0], id="an exponent is a number in JSON"),
        pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="of two keys the last stands, as in Go"),
        pytest.param('{"<<": 1}', {"<<": 1}, id="a merge key is a key"),
        pytest.param('["\\u003e", "\\ud83d\\ude00"]', [">", "😀"], id="escapes"),
        pytest.param('{"a": [null, true, {"b": ""}]}', {"a": [None, True, {"b": ""}]}, id="all"),
    ],
)
def test_json_is_tried_first(text: str, expected: Plain) -> None:
    assert documents.parse_one(text, LIMIT) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", None, id="no text"),
        pytest.param("\n# a remark\n", None, id="a remark alone"),
        pytest.param("---", None, id="an empty document"),
        pytest.param("a: 1.20", {"a": "1.20"}, id="a fraction stays text"),
        pytest.param("a: 1:30:00", {"a": "1:30:00"}, id="base 60 stays text"),
        pytest.param("a: 0x10", {"a": "0x10"}, id="base 16 stays text"),
        pytest.param("a: 010", {"a": "010"}, id="a leading zero stays text"),
        pytest.param("a: +5", {"a": "+5"}, id="a plus stays text"),
        pytest.param("a: 1e3", {"a": "1e3"}, id="an exponent stays text"),
        pytest.param("a: .inf", {"a": ".inf"}, id="infinity stays text"),
        pytest.param("a: 2026-01-02", {"a": "2026-01-02"}, id="a date stays text"),
        pytest.param("a: yes", {"a": "yes"}, id="yes stays text"),
        pytest.param("a: tRUE", {"a": "tRUE"}, id="odd letter case stays text"),
        pytest.param("a: 0", {"a": 0}, id="zero"),
        pytest.param("a: -17", {"a": -17}, id="a negative number"),
        pytest.param("a: 123456789012345678", {"a": 123456789012345678}, id="18 digits"),
        pytest.param(
            "a: 1234567890123456789", {"a": "1234567890123456789"}, id="19 digits stay text"
        ),
        pytest.param("a: -" + "9" * 5000, {"a": "-" + "9" * 5000}, id="5,000 digits stay text"),
        pytest.param("[true, True, TRUE, x]", [True, True, True, "x"], id="true"),
        pytest.param("[false, False, FALSE, x]", [False, False, False, "x"], id="false"),
        pytest.param("[null, Null, NULL, ~, x]", [None, None, None, None, "x"], id="null"),
        pytest.param("a:\nb: ''", {"a": None, "b": ""}, id="nothing is null, quotes are text"),
        pytest.param("['1', \"true\", '~']", ["1", "true", "~"], id="quoted is text"),
        pytest.param("a: |\n  1\nb: >-\n  true", {"a": "1\n", "b": "true"}, id="a block is text"),
        pytest.param("- - 1\n- a: {b: [c]}", [[1], {"a": {"b": ["c"]}}], id="nested"),
        pytest.param("? a\n: b", {"a": "b"}, id="an explicit key"),
        pytest.param("{a, b}", {"a": None, "b": None}, id="keys without values"),
        pytest.param("1: a\ntrue: b\n~: c", {"1": "a", "true": "b", "~": "c"}, id="keys are text"),
        pytest.param("'<<': 1", {"<<": 1}, id="a quoted merge key is a key"),
        pytest.param("%YAML 1.1\n---\n- a", ["a"], id="a directive"),
        pytest.param("\ufeff- a", ["a"], id="a byte order mark"),
        pytest.param("[1,]", [1], id="a comma too many"),
        pytest.param("{'a': 1}", {"a": 1}, id="single quotes"),
        pytest.param("[x" + "]", ["x"], id="plain text in brackets"),
    ],
)
def test_yaml_is_tried_second(text: str, expected: Plain) -> None:
    document = documents.parse_one(text, LIMIT)

    assert document == expected
    assert repr(document) == repr(expected)  # True is not 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param(
            "? " * DEEP, "line 1: a mapping key must be text, not dict", id="25,000 keys in keys"
        ),
        pytest.param("- ? " * DEEP, "line 1: a mapping key must be text, not list", id="in lists"),
        pytest.param("a: &x 1", "line 1: anchors are not supported", id="an anchor on a value"),
        pytest.param("a: &x [1]", "line 1: anchors are not supported", id="an anchor on a list"),
        pytest.param("&x {a: b}", "line 1: anchors are not supported", id="an anchor on a mapping"),
        pytest.param("a: *x", "line 1: aliases are not supported", id="an alias"),
        pytest.param("a: !!str 1", "line 1: tags are not supported", id="a tag on a value"),
        pytest.param("- !!set {a}", "line 1: tags are not supported", id="a tag on a mapping"),
        pytest.param(
            "!!python/object/apply:os.system [ls]",
            "line 1: tags are not supported",
            id="a tag that runs a program",
        ),
        pytest.param("a: 1\n<<: {b: 2}", "line 2: merge keys are not supported", id="a merge key"),
        pytest.param("a: 1\nb: 2\na: 3", "line 3: key 'a' appears twice", id="a key twice"),
        pytest.param("{1: a, '1': b}", "line 1: key '1' appears twice", id="a key twice, quoted"),
        pytest.param(
            f"{{{'k' * 99}: 1, {'k' * 99}: 2}}",
            f"line 1: key '{'k' * 64}' appears twice",
            id="a long key is cut",
        ),
        pytest.param("? [a]\n: b", "line 1: a mapping key must be text, not list", id="a list key"),
        pytest.param("--- 1\n--- 2", "more than one YAML document", id="two documents"),
        pytest.param(
            "a: b: c", "line 1: mapping values are not allowed in this context", id="two colons"
        ),
        pytest.param("[1, 2", "line 2: did not find expected ',' or ']'", id="an open bracket"),
        pytest.param("'a", "line 1: found unexpected end of stream", id="an open quote"),
        pytest.param(
            "a: @b", "line 1: found character that cannot start any token", id="a reserved sign"
        ),
        pytest.param(
            '"\\ud800"',
            "line 1: found invalid Unicode character escape code",
            id="half a surrogate pair, escaped",
        ),
        pytest.param(
            "a\ud800b",
            "'utf-8' codec can't encode character '\\ud800' in position 1: surrogates not allowed",
            id="half a surrogate pair",
        ),
        pytest.param(
            "a\x01b",
            "unacceptable character #x0001: control characters are not allowed",
            id="a control character",
        ),
        pytest.param(
            "a\x00b",
            "unacceptable character #x0000: control characters are not allowed",
            id="a zero byte",
        ),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(text: str, error: str) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.parse_one(text, LIMIT)

    assert str(caught.value) == error


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * DEEP, id="brackets"),
        pytest.param("- " * DEEP, id="dashes"),
        pytest.param("{a: " * DEEP, id="braces"),
        pytest.param('{"a":' * DEEP, id="objects"),
        pytest.param("[" * DEEP + "]" * DEEP, id="brackets, closed"),
        pytest.param("[" * 33 + "x", id="33 brackets"),
        pytest.param("a:\n- " + "[" * 31, id="33 in all"),
    ],
)
def test_what_is_too_deep_is_refused_by_counting(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.without_nulls(documents.parse_one(text, LIMIT))

    assert str(caught.value) == "nested deeper than 32"


@pytest.mark.parametrize("leaf", ["1", "x"], ids=["JSON", "YAML"])
def test_32_levels_are_enough_for_everybody(leaf: str) -> None:
    def nested(depth: int) -> Plain:
        text = "[" * depth + leaf + "]" * depth
        return documents.without_nulls(documents.parse_one(text, LIMIT))

    document = nested(32)
    for _ in range(32):
        assert isinstance(document, list)
        document = document[0]
    assert str(document) == leaf
    with pytest.raises(DocumentError, match=r"^nested deeper than 32$"):
        nested(33)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("a" * LIMIT, None, id="as long as the limit"),
        pytest.param(
            "a" * (LIMIT + 1), "262145 bytes are more than the limit of 262144", id="a byte longer"
        ),
        pytest.param(
            "é" * (LIMIT // 2 + 1),
            "262146 bytes are more than the limit of 262144",
            id="bytes count, not characters",
        ),
        pytest.param(
            "[" + " " * LIMIT + "]", "262146 bytes are more than the limit of 262144", id="JSON too"
        ),
    ],
)
def test_the_limit_is_in_bytes(text: str, error: str | None) -> None:
    if error is None:
        assert documents.parse_one(text, LIMIT) == text
        return
    with pytest.raises(DocumentError) as caught:
        documents.parse_one(text, LIMIT)

    assert str(caught.value) == error


def test_values_of_yaml_are_counted() -> None:
    few, many = "- x\n" * 10, "- x\n" * 50

    assert documents.parse_one(few, LIMIT, max_values=30) == ["x"] * 10
    assert documents.parse_one(many, LIMIT) == ["x"] * 50
    with pytest.raises(DocumentError, match=r"line 2\d: more than 30 values"):
        documents.parse_one(many, LIMIT, max_values=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="none"),
        pytest.param("[]", [[]], id="JSON is one document"),
        pytest.param("---\na: 1\n---\n- b\n---\n", [{"a": 1}, ["b"], None], id="three of YAML"),
        pytest.param("a: 1\n---\na: 2", [{"a": 1}, {"a": 2}], id="the same key in each"),
    ],
)
def test_every_document_of_a_text(text: str, expected: list[Plain]) -> None:
    assert documents.parse_all(text, LIMIT) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(None, None, id="nothing stays nothing"),
        pytest.param(0, 0, id="zero is something"),
        pytest.param({"a": None, "b": ""}, {"b": ""}, id="a null field is an absent one"),
        pytest.param({"a": {"b": None}}, {"a": {}}, id="at any depth"),
        pytest.param([{"a": None}], [{}], id="inside a list"),
        pytest.param([None, 1], [None, 1], id="a null in a list keeps its place"),
    ],
)
def test_without_nulls(data: Plain, expected: Plain) -> None:
    assert documents.without_nulls(data) == expected


def test_data_is_bounded_in_depth_and_left_as_it_is() -> None:
    data: Plain = {"a": [{"b": None}, 1, "x"]}
    deep: Plain = []
    for _ in range(documents.MAX_DEPTH - 1):
        deep = [deep]

    assert documents.bounded(data) is data
    assert documents.bounded(deep) is deep
    with pytest.raises(DocumentError, match="nested deeper than 32"):
        documents.bounded({"a": deep})


# --- Aliases, in manifests alone ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: &x 1\nb: *x", {"a": 1, "b": 1}, id="a value"),
        pytest.param("a: &x [1]\nb: [*x, *x]", {"a": [1], "b": [[1], [1]]}, id="a list, twice"),
        pytest.param("&k a: *k", {"a": "a"}, id="a key"),
        pytest.param("- &x 1\n- &x 2\n- *x", [1, 2, 2], id="the last anchor of a name counts"),
        pytest.param(
            "a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}",
            {"a": {"k": 1, "l": 2}, "b": {"k": 1, "l": 3}},
            id="own keys win over merged ones",
        ),
        pytest.param(
            "a: &x {k: 1}\nb: {l: 3, <<: [*x, {k: 2, m: 4}]}",
            {"a": {"k": 1}, "b": {"l": 3, "k": 1, "m": 4}},
            id="of merged mappings the first one wins",
        ),
        pytest.param("a: {'<<': 5}", {"a": {"<<": 5}}, id="a quoted key merges nothing"),
    ],
)
def test_manifests_may_have_aliases(text: str, expected: Plain) -> None:
    assert documents.parse_manifests(text, LIMIT) == [expected]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("a: *x", "line 1: alias 'x' has no anchor before it", id="no anchor"),
        pytest.param("&x [\n*x]", "line 2: alias 'x' has no anchor before it", id="in itself"),
        pytest.param(
            "--- &x 1\n--- [*x]", "line 2: alias 'x' has no anchor before it", id="of another one"
        ),
        pytest.param("*x : 1", "line 1: alias 'x' has no anchor before it", id="as a key"),
        pytest.param(
            "- &x {}\n- {*x : 1}", "line 2: a mapping key must be text, not dict", id="a key"
        ),
        pytest.param("a: !!str 1", "line 1: tags are not supported", id="a tag"),
        pytest.param(
            "a:\n  <<: 5",
            "line 3: a merge key takes a mapping, or a list of mappings",
            id="merge 5",
        ),
        pytest.param(
            "{<<: [5]}",
            "line 1: a merge key takes a mapping, or a list of mappings",
            id="merge [5]",
        ),
        pytest.param("{<<: {}, <<: {}}", "line 1: key '<<' appears twice", id="two merge keys"),
        pytest.param(
            f"- &x {'[' * 20}{']' * 20}\n- {'[' * 20}*x{']' * 20}",
            "line 2: nested deeper than 32",
            id="too deep by an alias",
        ),
    ],
)
def test_an_alias_that_is_none_is_refused_with_its_line(text: str, error: str) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.parse_manifests(text, LIMIT)

    assert str(caught.value) == error


LAUGHS = "a0: &a0 [lol]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
LONG = f"a: &a {'x' * 400_000}\nb: *a\nc: *a\nd: *a\n"
WIDE = "m: &m {" + ", ".join(f"k{n}: 1" for n in range(1_000)) + "}\n"
MERGED = WIDE + "".join(f"n{n}: {{<<: *m}}\n" for n in range(1_000))


@pytest.mark.parametrize(
    ("text", "line"), [(LAUGHS, 7), (LONG, 4), (MERGED, 147)], ids=["laughs", "long", "merged"]
)
def test_what_aliases_stand_for_is_bounded(text: str, line: int) -> None:
    limit = documents.MAX_ALIASED
    with pytest.raises(
        DocumentError, match=f"line {line}: aliases stand for more than {limit} char"
    ):
        documents.parse_manifests(text, 1 << 20)


def test_the_bound_is_that_of_all_documents() -> None:
    text = f"- &a {'x' * 600_000}\n- *a\n---\n" * 2
    with pytest.raises(DocumentError, match="line 5: aliases stand for more"):
        documents.parse_manifests(text, 1 << 22)


NAMES = st.sampled_from("abc")
TREES = st.recursive(
    st.one_of(
        st.integers(0, 9).map(str),
        st.tuples(NAMES, st.integers(0, 9)).map(lambda pair: f"&{pair[0]} {pair[1]}"),
        NAMES.map(lambda name: f"*{name}"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"),
        st.tuples(NAMES, st.lists(inner, max_size=4)).map(
            lambda pair: f"&{pair[0]} [{', '.join(pair[1])}]"
        ),
    ),
    max_leaves=12,
)


@given(TREES)
def test_aliases_mean_what_they_mean_elsewhere(text: str) -> None:
    anchors = re.findall("&(.)", text)
    assume(len(anchors) == len(set(anchors)))  # PyYAML refuses an anchor that comes again
    problem = ""
    try:
        found = documents.parse_manifests(text, LIMIT)
    except DocumentError as exc:
        problem = str(exc)
    else:
        assert found == [yaml.safe_load(text)]
    assert not problem or problem.endswith("has no anchor before it")
