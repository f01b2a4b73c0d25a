import pytest

from extender.match.cel.syntax.lexer import tokenize
from extender.match.cel.syntax.source import Source


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokenize(Source(text))[0]]


def words(text: str) -> list[str]:
    return [token.text for token in tokenize(Source(text))[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("== != < <= >= > && ||", ["==", "!=", "<", "<=", ">=", ">", "&&", "||"]),
        ("[]{}().,-!?:+*/%", list("[]{}().,-!?:+*/%")),
        ("in true false null", ["in", "true", "false", "null"]),
        ("ins _a A1 as", ["IDENTIFIER"] * 4),
        ("`a-b/c.d e`", ["ESC_IDENTIFIER"]),
        ("1 0x1F 007", ["NUM_INT"] * 3),
        ("1u 1U 0x1Fu", ["NUM_UINT"] * 3),
        ("1.5 .5 1e5 1.5E-3 .5e+1", ["NUM_FLOAT"] * 5),
        ("'a' \"a\" r'\\' R\"\\\" '''a'b''' r\"\"\"a\nb\"\"\"", ["STRING"] * 6),
        ("b'a' B\"a\" br'a' bR'''a'''", ["BYTES"] * 4),
        (r"""'\a\b\f\n\r\t\v\"\'\\\?\`\x41\X41\u0041\U00000041\101'""", ["STRING"]),
    ],
)
def test_a_word_is_of_a_kind(text: str, expected: list[str]) -> None:
    assert kinds(text) == [*expected, "<EOF>"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.e5", ["1", ".", "e5"], id="a double has digits after the dot"),
        pytest.param("1.x", ["1", ".", "x"], id="a field of a number"),
        pytest.param("1e", ["1", "e"], id="an exponent has digits"),
        pytest.param("0x", ["0", "x"], id="a hexadecimal has digits"),
        pytest.param("0X1", ["0", "X1"], id="a hexadecimal has a small x"),
        pytest.param("5u8", ["5u", "8"], id="a suffix ends a number"),
        pytest.param("rb'a'", ["rb", "'a'"], id="b comes before r"),
        pytest.param("''''''''", ["''''''", "''"], id="three quotes are found first"),
        pytest.param("'''a'", ["''", "'a'"], id="three quotes without an end are two"),
        pytest.param("'''a\\'''b'''", ["'''a\\'''b'''"], id="an escaped quote ends nothing"),
        pytest.param("a//b 'c\nd", ["a", "d"], id="a comment ends with its line"),
        pytest.param("a\t\r\n\fb", ["a", "b"], id="white space"),
        pytest.param("a<=b", ["a", "<=", "b"], id="the longest sign"),
        pytest.param("inx", ["inx"], id="the longest word"),
    ],
)
def test_a_word_ends_where_no_longer_one_can_be_read(text: str, expected: list[str]) -> None:
    assert words(text) == [*expected, "<EOF>"]


@pytest.mark.parametrize(
    ("text", "expected", "rest"),
    [
        pytest.param("#", [(0, "#")], [], id="a strange character"),
        pytest.param("a # b", [(2, "#")], ["a", "b"], id="it is left out"),
        pytest.param("a = b", [(2, "= ")], ["a", "b"], id="half a sign takes the next along"),
        pytest.param("a &", [(2, "&")], ["a"], id="half a sign at the end"),
        pytest.param("a|b|c", [(1, "|b"), (3, "|c")], ["a"], id="twice"),
        pytest.param("'abc", [(0, "'abc")], [], id="a text without an end"),
        pytest.param("'a\nb", [(0, "'a\n")], ["b"], id="a line end in a text"),
        pytest.param("'a\\q'", [(0, "'a\\q"), (4, "'")], [], id="an unknown escape"),
        pytest.param("'\\x4g'", [(0, "'\\x4g"), (5, "'")], [], id="a short escape"),
        pytest.param('"\\400"', [(0, '"\\4'), (5, '"')], ["00"], id="an octal that is no byte"),
        pytest.param('"\\u00e', [(0, '"\\u00e')], [], id="half an escape at the end"),
        pytest.param("b'a", [(1, "'a")], ["b"], id="bytes without an end"),
        pytest.param("`a$b", [(0, "`a$")], ["b"], id="a quoted name without an end"),
        pytest.param("кey", [(0, "к")], ["ey"], id="a letter that is not ASCII"),
    ],
)
def test_what_cannot_be_read_is_reported_and_left_out(
    text: str, expected: list[tuple[int, str]], rest: list[str]
) -> None:
    tokens, issues = tokenize(Source(text))

    prefix = "Syntax error: token recognition error at: "
    assert [(issue.offset, issue.message) for issue in issues] == [
        (offset, f"{prefix}'{bad}'") for offset, bad in expected
    ]
    assert [token.text for token in tokens] == [*rest, "<EOF>"]


def test_a_token_knows_its_place_and_what_is_before_it() -> None:
    tokens, _ = tokenize(Source("é  #\ta //x\n"))

    assert [(token.text, token.offset, token.before) for token in tokens] == [
        ("a", 5, "  \t"),
        ("<EOF>", 11, " //x\n"),
    ]
