import pytest

from extender.match.cel.source import NOWHERE
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
