import pytest

from tests.match.cel.outlines import complaints, outline_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a.b.c", "(get (get a b) c)", id="fields"),
        pytest.param(".a.b", "(get .a b)", id="a leading dot"),
        pytest.param("a.?b", "(_?._ a 'b')", id="an optional field"),
        pytest.param("a[b][?c]", "(_[?_] (_[_] a b) c)", id="indexes"),
        pytest.param("a.b(c, d).e()", "(.e (.b a c d))", id="methods"),
        pytest.param(".f(a)", "(.f a)", id="a function with a leading dot"),
        pytest.param("f()", "(f)", id="a function without arguments"),
        pytest.param("a.as.if()", "(.if (get a as))", id="reserved words are names of fields"),
        pytest.param("[]", "[]", id="an empty list"),
        pytest.param("[,]", "[]", id="a comma alone"),
        pytest.param("[a, ?b, c,]", "[a ?b c]", id="a list"),
        pytest.param("{}", "{}", id="an empty map"),
        pytest.param("{,}", "{}", id="a comma alone in a map"),
        pytest.param("{a: b, ?c: d ? e : f,}", "{a: b, ?c: (_?_:_ d e f)}", id="a map"),
        pytest.param("T{}", "T{}", id="an object without fields"),
        pytest.param(".a.b.T{,}", ".a.b.T{}", id="the same with a long name"),
        pytest.param("a.T{f: b, ?as: c,}", "a.T{f: b, ?as: c}", id="an object"),
        pytest.param("1 == -1", "(_==_ 1 -1)", id="ints"),
        pytest.param("[1u, 1.5, -1.5]", "[1u 1.5 -1.5]", id="other numbers"),
        pytest.param("['a', b'a']", "['a' b'a']", id="texts"),
        pytest.param("[true, false, null]", "[True False None]", id="words"),
    ],
)
def test_operands_are_read(text: str, expected: str) -> None:
    assert outline_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a .b", "(get@2 a@0 b)"),
        ("a.?b", "(_?._@1 a@0 'b'@3)"),
        ("a [0]", "(_[_]@2 a@0 0@3)"),
        ("a.f (b)", "(.f@4 a@0 b@5)"),
        ("f (b)", "(f@2 b@3)"),
        (". a", ".a@2"),
        (" [a]", "[a@2]@1"),
        (" {a : b}", "{a@2:@4 b@6}@1"),
        ("a.T {b : c}", "a.T{b:@7 c@9}@4"),
        ("  - 1", "-1@2"),
    ],
)
def test_an_operand_has_a_place(text: str, expected: str) -> None:
    assert outline_of(text, places=True) == expected


AFTER_PAREN = (
    "{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null',"
    " NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("(a", ["1:3: missing ')' at '<EOF>'"], id="a parenthesis"),
        pytest.param("f(a", ["1:4: missing ')' at '<EOF>'"], id="the end of arguments"),
        pytest.param("a[b", ["1:4: missing ']' at '<EOF>'"], id="the end of an index"),
        pytest.param("[a", ["1:3: mismatched input '<EOF>' expecting {']', ','}"], id="of a list"),
        pytest.param("{a", ["1:3: mismatched input '<EOF>' expecting ':'"], id="a colon"),
        pytest.param("{a b}", ["1:4: missing ':' at 'b'"], id="a colon before a value"),
        pytest.param("{a: b, :c}", ["1:8: mismatched input ':' expecting '}'"], id="a key"),
        pytest.param("T{a b}", ["1:5: missing ':' at 'b'"], id="a colon after a field"),
        pytest.param("T{a )}", ["1:5: mismatched input ')' expecting ':'"], id="a value"),
        pytest.param("f(a,)", ["1:5: mismatched input ')' expecting OPERAND"], id="an argument"),
        pytest.param("f(", [f"1:3: mismatched input '<EOF>' expecting {AFTER_PAREN}"], id="any"),
        pytest.param("a.", ["1:3: no viable alternative at input '.'"], id="a field"),
        pytest.param("a.,", ["1:3: no viable alternative at input '.,'"], id="a name"),
        pytest.param("a.true", ["1:3: mismatched input 'true' expecting IDENTIFIER"], id="true"),
        pytest.param("a. true", ["1:4: no viable alternative at input '. true'"], id="a space"),
        pytest.param(".1.a.", ["1:6: no viable alternative at input '.'"], id="of a constant"),
        pytest.param("-.)", ["1:3: no viable alternative at input '.)'"], id="after a dot"),
        pytest.param("a[1)", ["1:4: mismatched input ')' expecting ']'"], id="another bracket"),
    ],
)
def test_what_is_missing_is_said(text: str, expected: list[str]) -> None:
    assert complaints(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[a b]", ["1:4: extraneous input 'b' expecting {']', ','}"], id="a list"),
        pytest.param("f(%a)", [f"1:3: extraneous input '%' expecting {AFTER_PAREN}"], id="a call"),
        pytest.param(
            "f(a].b) + g(c})",
            [
                "1:4: mismatched input ']' expecting ')'",
                "1:7: mismatched input ')' expecting <EOF>",
            ],
            id="the wrong bracket",
        ),
        pytest.param(
            "[a), ?b]",
            [
                "1:3: extraneous input ')' expecting {']', ','}",
                "1:6: missing ']' at '?'",
                "1:8: mismatched input ']' expecting ':'",
            ],
            id="a chain of faults",
        ),
        pytest.param(
            "{as )}", ["1:5: mismatched input ')' expecting ':'"], id="a key without a colon"
        ),
        pytest.param("as(if)", ["1:1: reserved identifier: as"], id="arguments of a reserved word"),
        pytest.param("[. as]", ["1:2: reserved identifier: as"], id="reserved, with a dot"),
        pytest.param(
            "a.?)",
            [
                "1:4: mismatched input ')' expecting {IDENTIFIER, ESC_IDENTIFIER}",
                "1:4: unsupported ident kind",
            ],
            id="an optional field without a name",
        ),
        pytest.param(
            "T{?: 1}",
            [
                "1:3: unsupported ident kind",
                "1:4: mismatched input ':' expecting {IDENTIFIER, ESC_IDENTIFIER}",
            ],
            id="the same in an object",
        ),
        pytest.param(
            "a.?)`b`",
            [
                "1:4: extraneous input ')' expecting {IDENTIFIER, ESC_IDENTIFIER}",
                "1:4: unsupported syntax: '`'",
            ],
            id="a quoted name after something else",
        ),
        pytest.param(
            "T{a: as, `b`: if}",
            ["1:3: unsupported syntax: '`'", "1:6: reserved identifier: as"],
            id="a quoted name in an object",
        ),
    ],
)
def test_the_rest_is_read_on(text: str, expected: list[str]) -> None:
    assert complaints(text) == expected
