"""Costs that the real cel-go and the real Kubernetes library estimated, rule by rule."""

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


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("semver('1.2.3') == semver('1.2.4')", 3, id="versions are equal for 1"),
        pytest.param(
            "semver('1.2.3') != semver('1.2.4')",
            1_844_674_407_370_955_266,
            id="versions differ at any price",
        ),
        pytest.param("quantity('1') == quantity('2')", 3, id="quantities are equal for 1"),
        pytest.param("ip('10.0.0.1') == ip('10.0.0.2')", 3, id="addresses are equal for 1"),
        pytest.param("cidr('10.0.0.0/8') == cidr('11.0.0.0/8')", 3, id="networks are equal for 1"),
        pytest.param("format.uri() == format.uuid()", 9, id="formats are equal by their names"),
        pytest.param(
            "url('https://example.com/') == url(taint.key)",
            68,
            id="URLs are equal by the right one",
        ),
        pytest.param(
            "url(taint.key) == optional.of(url('https://a.b')).value()",
            39,
            id="URLs of unknown size",
        ),
        pytest.param(
            "dyn(1).path('a') == dyn(1).path('b')", 5, id="what nobody has is equal for 1"
        ),
        pytest.param(
            "dyn('abc') == semver('1.2.3')", 3, id="values of two types are compared by size"
        ),
        pytest.param(
            "['a', 'b'].isSorted()",
            3_689_348_814_741_910_540,
            id="lists of texts are compared at any price",
        ),
        pytest.param(
            "[b'a', b'b'].max() == b'a'",
            3_689_348_814_741_910_541,
            id="lists of bytes are compared at any price",
        ),
        pytest.param("[''].slice(0, 0).isSorted()", 21, id="an empty list of texts is free"),
        pytest.param("[1, 2, 3].sum() == 6", 14, id="lists of numbers are compared by size"),
        pytest.param("[1, 2, 3].indexOf(2) == 1", 14, id="the index in a list"),
        pytest.param("taint.key.indexOf('e') == 0", 35, id="the index in a text"),
        pytest.param("dyn(taint.key).lastIndexOf('e') == 0", 36, id="the last index in a dyn"),
        pytest.param(
            "taint.key.lowerAscii() == taint.key", 68, id="case is changed by the character"
        ),
        pytest.param(
            "taint.key.trim().upperAscii().contains('a')", 98, id="trimmed text may be as long"
        ),
        pytest.param(
            "taint.key.substring(3).contains('a')", 66, id="part of a text may be as long"
        ),
        pytest.param(
            "taint.value.replace('', 'ab') == taint.key + taint.key",
            103,
            id="a replaced nothing surrounds each character",
        ),
        pytest.param(
            "taint.value.replace('ab', 'x') == taint.key", 24, id="a replacement that is not longer"
        ),
        pytest.param(
            "taint.value.replace('ab', 'abcde') == taint.key + taint.key",
            99,
            id="a replacement that is longer",
        ),
        pytest.param(
            "string(1).replace('a', 'bb').matches('a')",
            5_534_023_222_112_865_793,
            id="replacing in an unknown text",
        ),
        pytest.param(
            "'abcd'.replace('', 'xy').replace('ab', 'a') == taint.key",
            8,
            id="the shortest text without a nothing",
        ),
        pytest.param("taint.key.split('/').size() == 2", 68, id="split may cut at each character"),
        pytest.param(
            "taint.key.split('/', 2).distinct().size() == 2", 87, id="split counts what is written"
        ),
        pytest.param(
            "taint.key.split('/', -1).reverse().size() == 2",
            18_446_744_073_709_551_615,
            id="a negative count of split wraps around",
        ),
        pytest.param(
            "taint.key.split('/', size('ab')).reverse().size() == 2",
            397,
            id="an unknown count of split",
        ),
        pytest.param(
            "[taint.key, taint.value].join('=') == 'dedicated=gpu'",
            1_844_674_407_370_955_280,
            id="join is dear",
        ),
        pytest.param("['a'].slice(0, 0).join() == ''", 21, id="join of nothing"),
        pytest.param(
            "dyn(['a', 'b', 'c']).join(taint.key) == 'a'",
            78,
            id="join of a dyn counts separators only",
        ),
        pytest.param("dyn([]).join(',') == 'a'", 11, id="nothing has no separators"),
        pytest.param("taint.key.find('^a+$') == 'a'", 35, id="find is as dear as matches"),
        pytest.param(
            "taint.value.findAll('[a-z]', 3).reverse().size() == 2", 92, id="find may find all"
        ),
        pytest.param("semver(taint.value).major() == 1", 11, id="a version is read"),
        pytest.param("isSemver(taint.value)", 9, id="a version is asked for"),
        pytest.param(
            "isQuantity(taint.value) && quantity(taint.value).isInteger()",
            19,
            id="a quantity is read",
        ),
        pytest.param(
            "isIP(taint.value) && ip(taint.value).isLoopback()", 19, id="an address is read"
        ),
        pytest.param(
            "cidr('10.0.0.0/8').ip() == ip('10.0.0.0')", 4, id="the address of a network is there"
        ),
        pytest.param("ip.isCanonical(taint.value)", 15, id="a canonical address is read twice"),
        pytest.param(
            "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))", 6, id="an address in a network"
        ),
        pytest.param("cidr('10.0.0.0/8').containsIP(taint.value)", 14, id="a text in a network"),
        pytest.param(
            "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))", 10, id="a network in a network"
        ),
        pytest.param(
            "cidr('10.0.0.0/8').containsCIDR(taint.value)",
            17,
            id="a text of a network in a network",
        ),
        pytest.param("isCIDR(taint.value)", 9, id="a network is read"),
        pytest.param("url(taint.key).getHost() == 'a'", 36, id="a URL is read"),
        pytest.param(
            "format.uri().validate(taint.value).hasValue()", 228, id="a format is validated"
        ),
        pytest.param("dyn(1).check('create').allowed()", 350_002, id="a check of authorization"),
        pytest.param(
            "dyn(1).fieldSelector(taint.value).check('create').allowed()",
            351_621,
            id="a selector of fields",
        ),
        pytest.param(
            "dyn(1).labelSelector('a=b').check('create').allowed()",
            350_113,
            id="a selector of labels",
        ),
    ],
)
def test_a_rule_of_kubernetes(expression: str, expected: int) -> None:
    assert estimated(expression) == expected
