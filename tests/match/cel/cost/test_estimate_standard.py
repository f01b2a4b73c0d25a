"""Costs that the real cel-go estimated, rule by rule."""

import pytest

from tests.match.cel.estimating import estimated


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param(
            "taint.key == taint.value", 11, id="a comparison goes through the shorter text"
        ),
        pytest.param("taint.key == ''", 2, id="text of no length is compared for nothing"),
        pytest.param("1 == 2", 1, id="two scalars are compared for 1"),
        pytest.param("taint.key != 'abcdefghijkl'", 4, id="a difference is as dear as equality"),
        pytest.param("taint.key < taint.effect", 6, id="texts have an order by their characters"),
        pytest.param("bytes(taint.value) >= b'a'", 10, id="so have bytes"),
        pytest.param("1 < 2", 1, id="numbers have an order for 1"),
        pytest.param(
            "taint.key.startsWith('env.example.com/')", 4, id="a prefix counts, not the text"
        ),
        pytest.param("'a'.endsWith(taint.key)", 34, id="a suffix counts, not the text"),
        pytest.param(
            "taint.key.contains(taint.value)", 228, id="contains multiplies text and part"
        ),
        pytest.param(
            "taint.key.matches('^zone-a[12]-rack-[0-9]+$')",
            194,
            id="a pattern is dearer by the character",
        ),
        pytest.param("''.matches('abcdefgh')", 2, id="an empty text still meets a pattern"),
        pytest.param("matches(taint.key, '^a+$')", 3, id="the global matches is a nominal call"),
        pytest.param(
            "bytes(taint.value) == bytes(taint.key)",
            69,
            id="text becomes up to four bytes a character",
        ),
        pytest.param(
            "string(b'12345678').replace('', 'ab') == taint.key",
            8,
            id="bytes become a quarter as many characters",
        ),
        pytest.param(
            "string(bytes(taint.value)) == taint.key", 63, id="bytes become as many characters"
        ),
        pytest.param(
            "strings.quote(taint.value) == taint.key",
            24,
            id="a quoted text is twice as long and two more",
        ),
        pytest.param(
            "strings.quote(string(1)) == taint.key",
            1_844_674_407_370_955_267,
            id="the size of an unknown text overflows when quoted",
        ),
        pytest.param(
            "'%s is there'.format([taint.key]) == 'a'", 15, id="format counts its pattern"
        ),
        pytest.param("taint.value in ['a', 'b']", 14, id="in counts the list"),
        pytest.param("taint.value in {'a': 1}", 33, id="in a map is a nominal call"),
        pytest.param(
            "taint.key + taint.value == taint.key", 76, id="texts are added by the character"
        ),
        pytest.param("[1] + [2, 3] == [1]", 32, id="lists are added for 1"),
        pytest.param(
            "([taint.key] + [taint.value])[0].contains('a')",
            58,
            id="a sum of lists knows what is in it",
        ),
        pytest.param("true || taint.key == 'a'", 3, id="either side of an or may be skipped"),
        pytest.param("taint.key == 'a' && false", 3, id="either side of an and may be skipped"),
        pytest.param(
            "taint.key == 'a' ? taint.value == 'abcdefghijkl' : true",
            7,
            id="the dearer branch counts",
        ),
        pytest.param(
            "(true ? 'abcdefghijklm' : 'a') == taint.key", 4, id="the longer branch counts"
        ),
        pytest.param(
            "(true ? ['abcdefghijk'] : ['a'])[0].contains('a')",
            13,
            id="lists of either branch know what is in them",
        ),
        pytest.param(
            "sets.contains(['gpu', 'tpu'], [taint.value])", 25, id="sets multiply their sizes"
        ),
        pytest.param(
            "sets.equivalent([1, 2, 3], [1, 2])", 33, id="equivalent sets are looked at twice"
        ),
        pytest.param("lists.range(10) == []", 31, id="a range is as long as written"),
        pytest.param("lists.range(-3) == []", 21, id="a negative range is empty"),
        pytest.param(
            "lists.range(size(taint.key)) == []",
            18_446_744_073_709_551_615,
            id="a range of unknown length",
        ),
        pytest.param(
            "lists.range(dyn(3u)) == []",
            18_446_744_073_709_551_615,
            id="a count that is written as a dyn is unknown",
        ),
        pytest.param("[1, 2, 3].slice(1, 3) == []", 33, id="a slice is as long as written"),
        pytest.param(
            "[1, 2, 3].slice(size('a'), size('ab')) == []",
            36,
            id="a slice of unknown ends is as long as the list",
        ),
        pytest.param(
            "[1, 2, 3].slice(2, 1) == []",
            18_446_744_073_709_551_615,
            id="a slice that ends before it starts wraps around",
        ),
        pytest.param("[1, 2].reverse() == [1]", 34, id="reverse keeps the size"),
        pytest.param("[[1], [2]].flatten() == [1]", 54, id="flatten goes one level deep"),
        pytest.param("[[1], [2]].flatten(3) == [1]", 58, id="flatten multiplies by the depth"),
        pytest.param(
            "[[1], [2]].flatten(-3) == [1]", 52, id="flatten to a negative depth is for nothing"
        ),
        pytest.param(
            "[[1], [2]].flatten(size('a')) == [1]",
            18_446_744_073_709_551_615,
            id="flatten to an unknown depth",
        ),
        pytest.param(
            "taint.key.split('').distinct().size() > 5",
            201_057,
            id="distinct compares each with each",
        ),
        pytest.param("[3, 1, 2].sort() == [1, 2, 3]", 50, id="sort compares each with each"),
        pytest.param("['b', 'a', 'c'].sort() == ['a']", 51, id="texts are dearer to sort"),
        pytest.param("[b'b', b'a', b'c'].sort() == [b'a']", 51, id="bytes are dearer to sort"),
        pytest.param(
            "[3, 1, 2].sortBy(x, string(x)) == [1]", 116, id="sorting by keys counts the keys"
        ),
        pytest.param("['b', 'a', 'c'].sortBy(x, size(x)) == ['a']", 115, id="sorting by numbers"),
    ],
)
def test_a_rule_of_cel(expression: str, expected: int) -> None:
    assert estimated(expression) == expected
