import pytest

from tests.match.cel.expressions import checked, refusals, type_of


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
