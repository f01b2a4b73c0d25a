import pytest

from extender.match.cel.check.checker import qualified_name
from extender.match.cel.syntax.ast import Expr
from extender.match.cel.syntax.parser import parse
from extender.match.cel.syntax.source import NOWHERE, Source
from tests.match.cel.expressions import checked, refusals, type_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", "null_type"),
        ("true", "bool"),
        ("1", "int"),
        ("1u", "uint"),
        ("1.5", "double"),
        ("'a'", "string"),
        ("b'a'", "bytes"),
        ("taint", "kubernetes.Taint"),
        ("int", "type(int)"),
        ("[1].all(x, x > 0)", "bool"),
        ("[1].map(x, string(x))", "list(string)"),
        ("[].map(x, x + 1)", "list(int)"),
        ("{'a': 1}.map(k, k)", "list(string)"),
        ("['a'].transformMap(i, v, v)", "map(int, string)"),
        ("{'a': 1}.transformMap(k, v, v > 0)", "map(string, bool)"),
        ("dyn([1]).map(x, x)", "list(dyn)"),
        ("dyn({}).transformMap(k, v, [k, v])", "map(dyn, list(dyn))"),
        ("[1].all(int, int == 1)", "bool"),
        ("[1].all(x, .x == 1)", "bool"),
        ("[[1]].exists(x, x.exists(x, x == 1))", "bool"),
        ("optional.of(1).optMap(x, x + 1)", "optional_type(int)"),
    ],
)
def test_an_expression_has_a_type(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "foo", ["1: undeclared reference to 'foo' (in container '')"], id="an unknown name"
        ),
        pytest.param(
            "[1].all(x, true) && x",
            ["21: undeclared reference to 'x' (in container '')"],
            id="a variable out of its scope",
        ),
        pytest.param(
            "taint.map(x, x)",
            [
                "1: expression of type 'kubernetes.Taint' cannot be range of a comprehension"
                " (must be list, map, or dynamic)"
            ],
            id="a loop over an object",
        ),
        pytest.param(
            "1.all(i, v, i + 'a' == v)",
            [
                "1: expression of type 'int' cannot be range of a comprehension"
                " (must be list, map, or dynamic)"
            ],
            id="variables of a refused loop fit everything",
        ),
        pytest.param(
            "[1].all(x, x)", ["12: expected type 'bool' but found 'int'"], id="a test of no bool"
        ),
        pytest.param(
            "foo + 1 + bar",
            [
                "1: undeclared reference to 'foo' (in container '')",
                "11: undeclared reference to 'bar' (in container '')",
            ],
            id="every mistake, once",
        ),
    ],
)
def test_what_does_not_fit_is_refused(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_what_is_found_out_later_holds_for_all_nodes() -> None:
    result = checked("[[], [1]].size() == 2")

    assert "dyn" not in " ".join(map(str, result.types.values()))


def test_names_of_loops_are_not_global_names() -> None:
    result = checked("[taint].all(taint, taint.key == 'a') && type(1) == int")

    assert sorted(result.names.values()) == ["int", "taint"]


def nested(levels: int, before: str, inner: str, after: str) -> str:
    return before * levels + inner + after * levels


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(nested(240, "[", "1", "]"), id="lists"),
        pytest.param(nested(240, "{1: ", "1", "}"), id="maps"),
        pytest.param(nested(120, "[[]].map(x, ", "x", ")"), id="loops in loops"),
        pytest.param("[1]" + ".map(x, [x])" * 240, id="loops after loops"),
        pytest.param(nested(240, "optional.of(", "1", ")"), id="optionals"),
        pytest.param("dyn(taint)" + ".a" * 240, id="fields"),
        pytest.param("&&".join(["true"] * 1700), id="a long conjunction"),
    ],
)
def test_no_nesting_is_too_deep_for_python(text: str) -> None:
    def from_deep_below(levels: int) -> str:
        return from_deep_below(levels - 1) if levels else type_of(text)

    assert from_deep_below(150)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[1]" + ".map(x, {x: x})" * 240, id="a map that doubles with every loop"),
        pytest.param("[1]" + f".map(x, {nested(60, '[', 'x', ']')})" * 60, id="a list too deep"),
        pytest.param(
            "".join(f"[{{}}].all(v{index}, " for index in range(60))
            + " && ".join(f"v{index} == {{v{index - 1}: v{index - 1}}}" for index in range(1, 60))
            + ")" * 60,
            id="variables that double with every loop",
        ),
    ],
)
def test_types_that_explode_are_refused(text: str) -> None:
    assert refusals(text) == [f"{NOWHERE + 1}: the types are too large"]


def parsed(text: str) -> Expr:
    return parse(Source(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a", "a", id="a name"),
        pytest.param("a.b.c", "a.b.c", id="a dotted name"),
        pytest.param(".a.b", ".a.b", id="with a leading dot"),
        pytest.param("a().b", None, id="a field of a call"),
        pytest.param("has(a.b)", None, id="a question"),
        pytest.param("1", None, id="a constant"),
    ],
)
def test_an_expression_may_be_a_dotted_name(text: str, expected: str | None) -> None:
    assert qualified_name(parsed(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("taint.key", "string"),
        (".taint.key", "string"),
        ("has(taint.key)", "bool"),
        ("taint.?key", "optional_type(string)"),
        ("google.protobuf.Duration", "type(google.protobuf.Duration)"),
        ("{'a': 1}.a", "int"),
        ("{}.a.b", "dyn"),
        ("dyn(1).a.b", "dyn"),
        ("optional.of({'a': 1}).a", "optional_type(int)"),
        ("optional.of({'a': 1}).?a", "optional_type(int)"),
        ("optional.none().a", "optional_type(dyn)"),
    ],
)
def test_a_field_has_a_type(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("taint.no.no", ["6: undefined field 'no'"], id="a field that is not there"),
        pytest.param("taint.?no", ["6: undefined field 'no'"], id="the same, optional"),
        pytest.param("has(taint.no)", ["4: undefined field 'no'"], id="a question about it"),
        pytest.param(
            "taint.key.a",
            ["10: type 'string' does not support field selection"],
            id="a field of a text",
        ),
        pytest.param(
            "optional.of(1).a",
            ["15: type 'int' does not support field selection"],
            id="a field of an optional number",
        ),
        pytest.param(
            "[].a",
            ["3: type 'list(_var0)' does not support field selection"],
            id="a field of an empty list",
        ),
        pytest.param(
            "semver('1.0.0').major",
            ["16: unexpected failed resolution of 'kubernetes.Semver'"],
            id="a field of a version",
        ),
        pytest.param(
            "foo.bar", ["1: undeclared reference to 'foo' (in container '')"], id="no such name"
        ),
    ],
)
def test_what_has_no_such_field_is_refused(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_an_optional_field_is_a_call_of_one_overload() -> None:
    result = checked("taint.?key")

    assert result.overloads == {result.root.id: ("select_optional_field",)}


def test_a_dotted_type_is_a_name() -> None:
    result = checked("net.IP")

    assert result.names == {result.root.id: "net.IP"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2", "int"),
        ("taint.key.size()", "int"),
        ("size(taint.key)", "int"),
        (".size('a')", "int"),
        ("sets.contains([1], [])", "bool"),
        (".sets.contains([1], [])", "bool"),
        ("dyn(1) + 1", "int"),
        ("dyn(1) + dyn(1)", "dyn"),
        ("dyn(1) < 1", "bool"),
        ("true ? [] : ['a']", "list(string)"),
        ("true ? null : taint", "null_type"),
        ("type(1) == type('a')", "bool"),
        ("optional.none().orValue(1)", "int"),
        ("[1].sortBy(x, 'a')", "list(int)"),
        ("dyn(true) && true || false", "bool"),
    ],
)
def test_a_call_has_a_type(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "overloads"),
    [
        pytest.param("1 + 2", ("add_int64",), id="one fits"),
        pytest.param(
            "taint.key.indexOf('a')", ("string_index_of_string",), id="of members, one fits"
        ),
        pytest.param("size(dyn(1))", "size_bytes size_list size_map size_string", id="all of dyn"),
        pytest.param("1 == 1 && true", ("logical_and",), id="a logical operator"),
        pytest.param("lists.range(1)", ("lists_range",), id="a function in a namespace"),
    ],
)
def test_a_call_knows_what_it_may_mean(text: str, overloads: str | tuple[str, ...]) -> None:
    result = checked(text)
    expected = tuple(overloads.split()) if isinstance(overloads, str) else overloads

    assert result.overloads[result.root.id] == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("sets.contains([1], [])", "sets.contains", id="a namespace"),
        pytest.param(".sets.contains([1], [])", "sets.contains", id="a namespace after a dot"),
        pytest.param(".size('a')", "size", id="a function after a dot"),
        pytest.param("size('a')", None, id="a function"),
        pytest.param("'a'.size()", None, id="a member"),
    ],
)
def test_a_function_in_a_namespace_is_a_name(text: str, name: str | None) -> None:
    result = checked(text)

    assert result.names.get(result.root.id) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "foo(1)", ["4: undeclared reference to 'foo' (in container '')"], id="no function"
        ),
        pytest.param(
            ".foo(1)", ["5: undeclared reference to '.foo' (in container '')"], id="after a dot"
        ),
        pytest.param(
            "math.abs(1)",
            [
                "1: undeclared reference to 'math' (in container '')",
                "9: undeclared reference to 'abs' (in container '')",
            ],
            id="no namespace",
        ),
        pytest.param(
            "1 + 'a'",
            ["3: found no matching overload for '_+_' applied to '(int, string)'"],
            id="operands that do not fit",
        ),
        pytest.param(
            "'a'.size(1)",
            ["9: found no matching overload for 'size' applied to 'string.(int)'"],
            id="too many arguments",
        ),
        pytest.param(
            "startsWith('a', 'b')",
            ["11: found no matching overload for 'startsWith' applied to '(string, string)'"],
            id="a member without its receiver",
        ),
        pytest.param(
            "[[]].startsWith(null)",
            ["16: found no matching overload for 'startsWith' applied to 'list(list(dyn)).(null)'"],
            id="types are printed as if nothing more will be known",
        ),
        pytest.param(
            "1 && 'a' && []",
            [
                "1: expected type 'bool' but found 'int'",
                "6: expected type 'bool' but found 'string'",
                "13: expected type 'bool' but found 'list(_var0)'",
            ],
            id="every operand of a logical operator",
        ),
        pytest.param(
            "sets.contains([1], ['a'])",
            [
                "14: found no matching overload for 'sets.contains'"
                " applied to '(list(int), list(string))'"
            ],
            id="one variable for two types",
        ),
        pytest.param(
            "'a'.check('b')",
            ["10: found no matching overload for 'check' applied to 'string.(string)'"],
            id="functions of the authorizer are known, though nothing is one",
        ),
    ],
)
def test_a_call_that_means_nothing_is_refused(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "list(dyn)"),
        ("[1, 2]", "list(int)"),
        ("[[], ['a']]", "list(list(string))"),
        ("[1, dyn(2)]", "list(dyn)"),
        ("[1, 'a', 2.0]", "list(dyn)"),
        ("[?optional.of(1), 2]", "list(int)"),
        ("[?dyn(1)]", "list(dyn)"),
        ("{}", "map(dyn, dyn)"),
        ("{'a': 1}", "map(string, int)"),
        ("{'a': 1, 2: 'b'}", "map(dyn, dyn)"),
        ("{?'a': optional.of(1)}", "map(string, int)"),
        ("kubernetes.Taint{}", "kubernetes.Taint"),
        (".kubernetes.Taint{key: 'a'}", "kubernetes.Taint"),
        ("kubernetes.Taint{?key: optional.of('x'), value: dyn(1)}", "kubernetes.Taint"),
    ],
)
def test_a_literal_has_a_type(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "[?1]", ["3: expected type 'optional_type(int)' but found 'int'"], id="an element"
        ),
        pytest.param(
            "{?'a': 1}", ["8: expected type 'optional_type(int)' but found 'int'"], id="a value"
        ),
        pytest.param(
            "kubernetes.Taint{?key: 1}",
            [
                "24: expected type 'optional_type(int)' but found 'int'",
                "22: expected type of field 'key' is 'string' but provided type is 'int'",
            ],
            id="a field",
        ),
    ],
)
def test_what_is_marked_optional_must_be_so(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "foo.Bar{a: b}",
            ["8: undeclared reference to 'foo.Bar' (in container '')"],
            id="an unknown name, and its fields are left alone",
        ),
        pytest.param("taint{}", ["6: 'kubernetes.Taint' is not a type"], id="the taint"),
        pytest.param("int{}", ["4: 'int' is not a message type"], id="a simple type"),
        pytest.param(
            "[foo].all(x, x{})",
            ["2: undeclared reference to 'foo' (in container '')"],
            id="a mistake is reported once",
        ),
        pytest.param(
            "kubernetes.Taint{no: 1, value: null}",
            [
                "20: undefined field 'no'",
                "30: expected type of field 'value' is 'string' but provided type is 'null'",
            ],
            id="fields that it does not have",
        ),
        pytest.param(
            "net.IP{a: foo}",
            [
                "7: 'net.IP' is not a message type",
                "11: undeclared reference to 'foo' (in container '')",
                "9: unexpected failed resolution of 'net.IP'",
            ],
            id="fields are looked at all the same",
        ),
    ],
)
def test_no_other_object_can_be_made(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_an_object_is_named_by_its_type() -> None:
    result = checked(".kubernetes.Taint{}")

    assert result.names == {result.root.id: "kubernetes.Taint"}
