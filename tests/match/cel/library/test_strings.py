"""Functions of strings count code points, and keep the odd corners of upstream's."""

import pytest

from extender.match.cel.faults import CostLimitError
from extender.match.cel.values import MAX_ITEMS, MAX_TEXT, Value
from tests.match.cel.library.calls import RUN, Refused, call, typed


def out_of_range(index: int) -> Refused:
    return Refused(f"index out of range: {index}")


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("char_at_int", ("a\U0001f600b", 1), "\U0001f600", id="a character"),
        pytest.param("char_at_int", ("ab", 2), "", id="the character behind the last"),
        pytest.param("char_at_int", ("ab", 3), out_of_range(3), id="the one after that"),
        pytest.param("char_at_int", ("ab", -1), out_of_range(-1), id="the one before the first"),
        pytest.param("substring_int", ("\u00e9bc", 1), "bc", id="from a position on"),
        pytest.param("substring_int", ("abc", 3), "", id="from the end on"),
        pytest.param("substring_int", ("abc", 4), out_of_range(4), id="from behind the end on"),
        pytest.param("substring_int_int", ("abc", 1, 2), "b", id="between two positions"),
        pytest.param(
            "substring_int_int",
            ("abc", 2, 1),
            Refused("invalid substring range. start: 2, end: 1"),
            id="from right to left",
        ),
        pytest.param("substring_int_int", ("abc", -1, 1), out_of_range(-1), id="from before"),
        pytest.param("substring_int_int", ("abc", 1, 4), out_of_range(4), id="to behind the end"),
        pytest.param("lower_ascii", ("A\u00c9Z\u212a",), "a\u00c9z\u212a", id="lower case"),
        pytest.param("upper_ascii", ("a\u00e9z\u00df",), "A\u00e9Z\u00df", id="upper case"),
        pytest.param("trim", ("\u3000\x85 a b\u2003\n",), "a b", id="white space"),
        pytest.param("trim", ("\x1ca\u200b",), "\x1ca\u200b", id="what looks like white space"),
    ],
)
def test_parts(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert call(f"string_{overload}", *arguments) == typed(expected)


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        pytest.param("aXaX", "X", (1, 3), id="found"),
        pytest.param("\U0001f600\u00e9", "\u00e9", (1, 1), id="found behind wide characters"),
        pytest.param("abc", "x", (-1, -1), id="not found"),
        pytest.param("abc", "", (0, 3), id="nothing is at both ends"),
        pytest.param("", "", (0, 0), id="nothing in nothing"),
        pytest.param("", "a", (-1, -1), id="something in nothing"),
        pytest.param("a", "aa", (-1, -1), id="longer than the text"),
        pytest.param("aaaa", "aa", (0, 2), id="overlapping"),
        pytest.param("ab" * 40, "ab" * 20, (0, 40), id="a long part"),
        pytest.param("ab" * 40, "b" * 33, (-1, -1), id="a long part that is not there"),
    ],
)
def test_index_of(text: str, part: str, expected: tuple[int, int]) -> None:
    first, last = expected

    assert call("string_index_of_string", text, part) == typed(first)
    assert call("string_last_index_of_string", text, part) == typed(last)


@pytest.mark.parametrize(
    ("part", "position", "expected"),
    [
        pytest.param("b", 2, (4, 1), id="found on either side"),
        pytest.param("b", 1, (1, 1), id="found right there"),
        pytest.param("cab", 3, (-1, 2), id="found as far back as it fits"),
        pytest.param("", -5, (-5, -5), id="nothing is where it was looked for"),
        pytest.param("", 99, (99, 99), id="nothing is even behind the end"),
        pytest.param("b", 6, (-1, -1), id="from the end on"),
        pytest.param("b", -1, (None, None), id="before the beginning"),
    ],
)
def test_index_of_from(part: str, position: int, expected: tuple[int | None, int | None]) -> None:
    first, last = (out_of_range(position) if found is None else found for found in expected)

    assert call("string_index_of_string_int", "abcabc", part, position) == typed(first)
    assert call("string_last_index_of_string_int", "abcabc", part, position) == typed(last)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("aXbX", "X", "--"), "a--b--", id="all"),
        pytest.param(("aXbX", "X", "--", 1), "a--bX", id="one"),
        pytest.param(("aXbX", "X", "--", 0), "aXbX", id="none"),
        pytest.param(("aXbX", "X", "--", -1), "a--b--", id="a negative number is all"),
        pytest.param(("\u00e9b", "", "-"), "-\u00e9-b-", id="nothing, between all characters"),
        pytest.param(("ab", "", "-", 2), "-a-b", id="nothing, twice"),
        pytest.param(("aXb", "X", ""), "ab", id="by nothing"),
    ],
)
def test_replace(arguments: tuple[Value, ...], expected: str) -> None:
    overload = "string_replace_string_string" + ("_int" if len(arguments) > 3 else "")

    assert call(overload, *arguments) == typed(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("a,b,c", ","), ["a", "b", "c"], id="all"),
        pytest.param(("a,b,c", ",", 2), ["a", "b,c"], id="in two"),
        pytest.param(("a,b", ",", 9), ["a", "b"], id="in more than there are"),
        pytest.param(("a,b", ",", 1), ["a,b"], id="in one"),
        pytest.param(("a,b", ",", 0), [], id="in none"),
        pytest.param(("a,b", ",", -5), ["a", "b"], id="a negative number is all"),
        pytest.param(("", ","), [""], id="nothing by something"),
        pytest.param(("", ""), [], id="nothing by nothing"),
        pytest.param(("a\u00e9\U0001f600", ""), ["a", "\u00e9", "\U0001f600"], id="by nothing"),
        pytest.param(("abc", "", 2), ["a", "bc"], id="by nothing in two"),
        pytest.param(("ab", "", 9), ["a", "b"], id="by nothing in more than there are"),
    ],
)
def test_split(arguments: tuple[Value, ...], expected: list[str]) -> None:
    overload = "string_split_string" + ("_int" if len(arguments) > 2 else "")

    assert call(overload, *arguments) == typed(expected)


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("list_join", (["a", "b"],), "ab", id="join"),
        pytest.param("list_join_string", (["a", "b"], "--"), "a--b", id="join with something"),
        pytest.param("list_join_string", ([], "--"), "", id="join nothing"),
        pytest.param(
            "list_join", (["a", 1.5],), Refused("join: invalid input: 1.5"), id="a double"
        ),
        pytest.param("add_string", ("a", "b"), "ab", id="add"),
        pytest.param("add_bytes", (b"a", b"b"), b"ab", id="add bytes"),
        pytest.param("contains_string", ("abc", "bc"), True, id="contains"),
        pytest.param("contains_string", ("abc", "cb"), False, id="contains not"),
        pytest.param("starts_with_string", ("abc", "ab"), True, id="starts with"),
        pytest.param("ends_with_string", ("abc", "ab"), False, id="ends not with"),
        pytest.param("string_size", ("\U0001f600",), 1, id="size"),
        pytest.param("size_bytes", (b"\xc3\xa9",), 2, id="size of bytes"),
        pytest.param(
            "strings_quote",
            ('\a\b\f\n\r\t\v\\"\x00\u00e9',),
            '"\\a\\b\\f\\n\\r\\t\\v\\\\\\"\x00\u00e9"',
            id="quote",
        ),
        pytest.param("strings_quote", ("\ud800",), '"\ufffd"', id="quote half a surrogate"),
    ],
)
def test_other_functions(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert call(overload, *arguments) == typed(expected)


LONG = "a" * (MAX_TEXT // 2 + 1)


@pytest.mark.parametrize(
    ("overload", "arguments"),
    [
        pytest.param("add_string", (LONG, LONG), id="add"),
        pytest.param("add_bytes", (LONG.encode(), LONG.encode()), id="add bytes"),
        pytest.param("list_join", ([LONG, LONG],), id="join"),
        pytest.param("list_join_string", (["", "", ""], LONG), id="join with something long"),
        pytest.param("string_replace_string_string", (LONG, "a", "aa"), id="replace"),
        pytest.param("string_replace_string_string_int", (LONG, "", LONG, 1), id="replace once"),
        pytest.param("strings_quote", ('"' * (MAX_TEXT // 2),), id="quote"),
        pytest.param("string_split_string", ("a" * (MAX_ITEMS + 1), ""), id="split by nothing"),
        pytest.param("string_split_string", ("," * MAX_ITEMS, ","), id="split"),
    ],
)
def test_what_would_be_too_long_is_not_built(overload: str, arguments: tuple[Value, ...]) -> None:
    with pytest.raises(CostLimitError):
        RUN[overload](*arguments)
