from collections.abc import Callable

import pytest

from tests.match.cel.outlines import complaints, ids_of, outline_of, parsed

TOO_DEEP = ["-1:0: expression recursion limit exceeded: 250"]
TOO_LONG = ["-1:0: max recursion depth exceeded"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a + b * c - d", "(_-_ (_+_ a (_*_ b c)) d)", id="arithmetic"),
        pytest.param("a / b % c", "(_%_ (_/_ a b) c)", id="from the left"),
        pytest.param("a < b == c", "(_==_ (_<_ a b) c)", id="relations are equal among themselves"),
        pytest.param("a + b in c", "(@in (_+_ a b) c)", id="sums before relations"),
        pytest.param("a != b <= c >= d > e", "(_>_ (_>=_ (_<=_ (_!=_ a b) c) d) e)", id="all"),
        pytest.param("a || b && c", "(_||_ a (_&&_ b c))", id="and before or"),
        pytest.param("a && b || c && d", "(_||_ (_&&_ a b) (_&&_ c d))", id="two ands"),
        pytest.param("(a || b) && c", "(_&&_ (_||_ a b) c)", id="parentheses"),
        pytest.param("a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))", id="from the right"),
        pytest.param("a || b ? c && d : e", "(_?_:_ (_||_ a b) (_&&_ c d) e)", id="last of all"),
        pytest.param("!a", "(!_ a)", id="not"),
        pytest.param("!!a", "a", id="not not"),
        pytest.param("!!!a.b", "(!_ (get a b))", id="three times not"),
        pytest.param("-a", "(-_ a)", id="minus"),
        pytest.param("--a", "a", id="minus minus"),
        pytest.param("-1 - -2.5", "(_-_ -1 -2.5)", id="negative literals"),
        pytest.param("--1", "1", id="two signs are no literal"),
        pytest.param("---1", "(-_ 1)", id="nor are three"),
        pytest.param("-(1)", "(-_ 1)", id="nor is a sign before parentheses"),
        pytest.param("-1.f()", "(.f -1)", id="a method of a negative literal"),
        pytest.param("1.f() + 'a'[0]", "(_+_ (.f 1) (_[_] 'a' 0))", id="suffixes of constants"),
        pytest.param("!-1", "(!_ -1)", id="not minus one"),
    ],
)
def test_operators_bind_by_precedence(text: str, expected: str) -> None:
    assert outline_of(text) == expected


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("a b", "(_&&_ a b)"),
        ("a b c", "(_&&_ (_&&_ a b) c)"),
        ("a b c d", "(_&&_ (_&&_ a b) (_&&_ c d))"),
        ("a b c d e", "(_&&_ (_&&_ (_&&_ a b) c) (_&&_ d e))"),
    ],
)
def test_chains_are_balanced(terms: str, expected: str) -> None:
    assert outline_of(" && ".join(terms.split())) == expected
    assert outline_of(" || ".join(terms.split())) == expected.replace("&&", "||")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a +  b", "(_+_@2 a@0 b@5)"),
        ("a && b && c", "(_&&_@7 (_&&_@2 a@0 b@5) c@10)"),
        ("a ? b : c", "(_?_:_@2 a@0 b@4 c@8)"),
        (" !!!a", "(!_@1 a@4)"),
        ("\n- a", "(-_@1 a@3)"),
        ("(-1)", "-1@1"),
    ],
)
def test_a_node_is_where_its_operator_is(text: str, expected: str) -> None:
    assert outline_of(text, places=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", ["1:0: mismatched input '<EOF>' expecting OPERAND"], id="empty"),
        pytest.param("a +", ["1:4: mismatched input '<EOF>' expecting OPERAND"], id="no operand"),
        pytest.param("*a", ["1:1: extraneous input '*' expecting OPERAND"], id="one too many"),
        pytest.param("a b", ["1:3: extraneous input 'b' expecting <EOF>"], id="one more"),
        pytest.param("a b c", ["1:3: mismatched input 'b' expecting <EOF>"], id="two more"),
        pytest.param("a ? b", ["1:6: mismatched input '<EOF>' expecting ':'"], id="no else"),
        pytest.param("a ? b c", ["1:7: missing ':' at 'c'"], id="no colon"),
        pytest.param(
            "a ? b ? c : d : e",
            ["1:7: mismatched input '?' expecting ':'"],
            id="a choice between ? and :",
        ),
        pytest.param(
            "-)",
            [
                "1:2: no viable alternative at input '-)'",
                "1:2: mismatched input ')' expecting OPERAND",
            ],
            id="minus nothing",
        ),
        pytest.param(
            "--\t)",
            [
                "1:4: no viable alternative at input '-\\t)'",
                "1:4: mismatched input ')' expecting OPERAND",
            ],
            id="minus minus nothing",
        ),
        pytest.param("!)", ["1:2: extraneous input ')' expecting OPERAND"], id="not nothing"),
        pytest.param(
            "!*a", ["1:2: extraneous input '*' expecting OPERAND"], id="not, one too many"
        ),
        pytest.param("!-a", ["1:3: no viable alternative at input '-a'"], id="not minus"),
        pytest.param(
            "#1 + #",
            [
                "1:1: token recognition error at: '#'",
                "1:6: token recognition error at: '#'",
                "1:7: mismatched input '<EOF>' expecting OPERAND",
            ],
            id="unreadable",
        ),
        pytest.param(
            "as + )",
            ["1:1: reserved identifier: as", "1:6: mismatched input ')' expecting OPERAND"],
            id="by place",
        ),
    ],
)
def test_faults_are_listed_as_upstream_does(text: str, expected: list[str]) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize(
    ("shape", "most", "expected"),
    [
        pytest.param(lambda n: "(" * n + "1" + ")" * n, 249, TOO_DEEP, id="parentheses"),
        pytest.param(lambda n: "[" * n + "]" * n, 250, TOO_DEEP, id="lists"),
        pytest.param(lambda n: "f(" * n + "1" + ")" * n, 249, TOO_DEEP, id="functions"),
        pytest.param(lambda n: "{1: " * n + "1" + "}" * n, 249, TOO_DEEP, id="maps"),
        pytest.param(lambda n: "a ? b : " * n + "c", 249, TOO_DEEP, id="choices"),
        pytest.param(lambda n: "1 < (" * n + "1" + ")" * n, 124, TOO_DEEP, id="nested relations"),
        pytest.param(lambda n: "1 + (" * n + "1" + ")" * n, 124, TOO_DEEP, id="nested sums"),
        pytest.param(lambda n: "1 + 2 * (" * n + "1" + ")" * n, 83, TOO_DEEP, id="nested products"),
        pytest.param(lambda n: " + ".join("1" * n), 251, TOO_LONG, id="terms"),
        pytest.param(lambda n: "a" + ".f()" * n, 250, TOO_LONG, id="methods"),
        pytest.param(lambda n: "a" + ".f" * n, 250, TOO_LONG, id="fields"),
        pytest.param(lambda n: "a" + "[0]" * n, 250, TOO_LONG, id="indexes"),
    ],
)
def test_nesting_has_upstreams_limits(
    shape: Callable[[int], str], most: int, expected: list[str]
) -> None:
    assert complaints(shape(most)) == []
    assert complaints(shape(most + 1)) == expected


@pytest.mark.parametrize("operator", ["&&", "||"])
def test_chains_have_no_limit(operator: str) -> None:
    assert complaints(operator.join(["a"] * 3000)) == []


def test_signs_have_no_limit() -> None:
    assert outline_of("!" * 9000 + "a") == "a"
    assert outline_of("-" * 9001 + "a") == "(-_ a)"


def test_what_was_found_before_a_limit_is_still_said() -> None:
    assert complaints("# [1 2] + as + " + "(" * 250 + "#") == [
        "-1:0: expression recursion limit exceeded: 250",
        "1:1: token recognition error at: '#'",
        "1:6: extraneous input '2' expecting {']', ','}",
    ]


def test_a_chain_that_is_too_long_hides_what_is_wrong_inside_of_it() -> None:
    assert complaints(" + ".join(["as"] * 252)) == TOO_LONG


def test_every_node_has_an_id_of_its_own() -> None:
    ids = ids_of(parsed("f(a.b, -c, {d: [e]}, T{f: 1}, g.optMap(x, x), h.sortBy(y, y), has(i.j))"))

    assert len(ids) == len(set(ids))
