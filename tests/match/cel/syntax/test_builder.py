import pytest

from extender.match.cel.syntax.ast import Expr
from extender.match.cel.syntax.builder import RESERVED, Builder
from extender.match.cel.syntax.lexer import Token
from tests.match.cel.outlines import complaints, outline_of


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_no_names(word: str) -> None:
    assert complaints(word) == [f"1:1: reserved identifier: {word}"]
    assert complaints(f"a.{word} == {word}s") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + 9223372036854775808", ["1:5: invalid int literal"]),
        ("a + - 9223372036854775809", ["1:5: invalid int literal"]),
        ("18446744073709551616u", ["1:1: invalid uint literal"]),
        ("1e309", ["1:1: invalid double literal"]),
        (r"a + '\ud800'", ["1:5: invalid unicode code point"]),
        (r"b'\u0041'", ["1:1: unable to unescape string"]),
        ("a.`b` + c.?`d`", ["1:3: unsupported syntax: '`'", "1:12: unsupported syntax: '`'"]),
    ],
)
def test_literals_and_names_are_checked(text: str, expected: list[str]) -> None:
    assert complaints(text) == expected


def test_the_least_int_is_a_literal() -> None:
    assert outline_of("-9223372036854775808") == "-9223372036854775808"


def test_depth_counts_operators_but_no_functions() -> None:
    builder = Builder()
    sign = Token("!", "!", 0)
    plus = Token("+", "+", 0)
    paren = Token("(", "(", 0)

    def one() -> Expr:
        return builder.constant(Token("NUM_INT", "1", 0), None)

    total = builder.operator(plus, "_+_", one(), builder.operator(plus, "_+_", one(), one()))
    inside = builder.list(paren, [builder.call("f", paren, [builder.negation(sign, total)])], [])
    chain = builder.balanced("_&&_", [(one(), plus), (inside, plus)], one())

    assert builder.depth(one()) == 0
    assert builder.depth(total) == 2
    assert builder.depth(chain) == 2
    assert builder.depth(builder.call("f", paren, [total], one())) == 3
