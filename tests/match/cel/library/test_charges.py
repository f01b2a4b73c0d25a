"""What a call costs when it runs: by its overload, its function and the sizes of its arguments."""

import pytest

from extender.match.cel.library.charges import heft, quarter, tenth
from extender.match.cel.values import MAX_STEPS, NONE, OptionalValue, Value
from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.key == 'example.com/dedicated-and-longer'", False, 5, id="two texts"),
        pytest.param("taint.key == ''", False, 2, id="an empty text is free"),
        pytest.param("taint.key != 'example.com/dedicated-and-longer'", True, 5, id="a difference"),
        pytest.param("taint.key < 'example.com/z'", True, 4, id="an order"),
        pytest.param("taint.key <= 'example.com/z'", True, 4, id="an order or the same"),
        pytest.param("taint.key > 'example.com/z'", False, 4, id="the other way round"),
        pytest.param(
            "taint.key >= 'example.com/z'", False, 4, id="the other way round, or the same"
        ),
        pytest.param("bytes(taint.key) < b'example.com/z'", True, 7, id="an order of bytes"),
        pytest.param(
            "bytes(taint.key) <= b'example.com/z'", True, 7, id="an order of bytes or the same"
        ),
        pytest.param(
            "bytes(taint.key) > b'example.com/z'", False, 7, id="bytes the other way round"
        ),
        pytest.param(
            "bytes(taint.key) >= b'example.com/z'",
            False,
            7,
            id="bytes the other way round, or the same",
        ),
        pytest.param("lists.range(25) == lists.range(21)", False, 71, id="lists by their elements"),
        pytest.param("{taint.key: 1} == {'a': 1}", False, 33, id="a map by its entries"),
        pytest.param(
            "optional.of(taint.key) == optional.of(taint.key + 'a')",
            False,
            12,
            id="optionals by what they hold",
        ),
        pytest.param(
            "optional.of(taint.key) != optional.of(taint.key)",
            False,
            9,
            id="a difference of optionals",
        ),
        pytest.param(
            "optional.of(optional.of(taint.key)) == optional.of(optional.of(taint.key))",
            True,
            11,
            id="optionals of optionals",
        ),
        pytest.param(
            "optional.none() == optional.of(taint.key)", False, 5, id="no value has the size one"
        ),
        pytest.param("dyn(ip('::1')) == dyn(ip('::1'))", True, 5, id="objects behind dyn"),
        pytest.param(
            "dyn(ip('::1')) != dyn(ip('::1'))", False, 6, id="a difference of objects behind dyn"
        ),
        pytest.param("dyn(taint.key) == dyn(ip('::1'))", False, 7, id="an object on the right"),
    ],
)
def test_a_comparison_costs_a_tenth_of_the_shorter_side(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("size(taint.key) == 21", True, 4, id="numbers"),
        pytest.param("size(taint.key) != 21", False, 4, id="a difference of numbers"),
        pytest.param("timestamp('2024-01-01T00:00:00Z') == timestamp(0)", False, 1, id="times"),
        pytest.param("semver('1.2.3') == semver('1.2.4')", False, 3, id="versions"),
        pytest.param("semver('1.2.3') != semver('1.2.4')", True, 3, id="a difference of versions"),
        pytest.param("quantity('1') == quantity('1k')", False, 3, id="quantities"),
        pytest.param("ip('::1') == ip('::2')", False, 3, id="addresses, whatever their size"),
        pytest.param("cidr('::/128') == cidr('::/64')", False, 3, id="networks"),
        pytest.param("url('https://a') == url('https://b')", False, 3, id="URLs"),
        pytest.param("format.dns1123Label() == format.dns1123Label()", True, 3, id="formats"),
    ],
)
def test_a_comparison_of_what_has_no_size_costs_one(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("ip('::1') != ip('::2')", True, 4, id="version six"),
        pytest.param("ip('1.1.1.1') != ip('1.1.1.2')", True, 3, id="version four"),
        pytest.param("cidr('::/128') != cidr('::1/128')", True, 4, id="a network of sixteen bytes"),
    ],
)
def test_a_difference_of_addresses_goes_by_their_size(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.key.startsWith('e')", True, 5, id="a prefix by the whole text"),
        pytest.param("taint.key.endsWith('d')", True, 5, id="a suffix by the whole text"),
        pytest.param("bytes(taint.key).size() == 21", True, 7, id="bytes of a text"),
        pytest.param("string(bytes(taint.key)) == ''", False, 8, id="a text of bytes"),
        pytest.param("strings.quote(taint.key) == ''", False, 5, id="a quoted text"),
        pytest.param(
            "'%s %s %s %s'.format([1, 2, 3, 4]) == ''", False, 2, id="a format by its text"
        ),
        pytest.param(
            "taint.key.contains('dedicated-to-somebody')", False, 11, id="a part by both texts"
        ),
        pytest.param("taint.key + taint.value == ''", False, 7, id="two texts that become one"),
        pytest.param(
            "bytes(taint.key) + bytes(taint.key) == b''", False, 15, id="bytes that become one"
        ),
        pytest.param("taint.key.matches(taint.effect)", False, 13, id="a pattern by both"),
        pytest.param(
            "matches(taint.key, taint.effect)", False, 5, id="a pattern of a function is one"
        ),
        pytest.param(
            "'1234567890123456789'.find(taint.effect) == ''",
            True,
            8,
            id="a search adds one to the text",
        ),
        pytest.param(
            "taint.key.find(taint.effect) == ''", True, 13, id="a search by text and pattern"
        ),
        pytest.param(
            "taint.key.findAll(taint.effect) == []", True, 13, id="all matches by text and pattern"
        ),
        pytest.param(
            "taint.key.findAll(taint.effect, 1) == []",
            True,
            13,
            id="some matches by text and pattern",
        ),
        pytest.param("taint.key.lowerAscii() == ''", False, 5, id="lower case"),
        pytest.param("taint.key.upperAscii() == ''", False, 5, id="upper case"),
        pytest.param("taint.key.substring(20) == ''", False, 5, id="a substring"),
        pytest.param("taint.key.trim() == ''", False, 5, id="a trimmed text"),
        pytest.param("url('https://' + taint.key).getPort() == ''", True, 9, id="a URL"),
        pytest.param("isSemver(taint.key)", False, 5, id="a version"),
        pytest.param("isQuantity(taint.key)", False, 5, id="a quantity"),
        pytest.param("isIP(taint.key)", False, 5, id="an address"),
        pytest.param("isCIDR(taint.key)", False, 5, id="a network"),
        pytest.param(
            "semver('1.0.0-aaaaaaaaaaaa').major() == 1", True, 4, id="a version that is read"
        ),
        pytest.param(
            "quantity('100000000000000').isInteger()", True, 3, id="a quantity that is read"
        ),
        pytest.param(
            "ip('::ffff:1234:1234').family() == 6",
            'IPv4-mapped IPv6 address "::ffff:1234:1234" is not allowed',
            4,
            id="an address that is read",
        ),
        pytest.param(
            "cidr('1234:1234::/16').prefixLength() == 16", True, 4, id="a network that is read"
        ),
        pytest.param("taint.key.replace('a', 'b') == ''", False, 7, id="a replacement, twice"),
        pytest.param("taint.key.split('/') == []", False, 7, id="a text that is cut, twice"),
        pytest.param(
            "ip.isCanonical('::ffff:1234:1234')",
            'IPv4-mapped IPv6 address "::ffff:1234:1234" is not allowed',
            4,
            id="a spelling of an address, twice",
        ),
        pytest.param(
            "[taint.key, taint.key].join('-').size() == 43",
            True,
            25,
            id="a list that is joined, by twice the result",
        ),
        pytest.param(
            "[taint.key].filter(x, false).join() == ''",
            True,
            13,
            id="a list of nothing that is joined",
        ),
    ],
)
def test_a_text_is_gone_through(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("'123456789'.indexOf('a') == -1", True, 1, id="a text of nine bytes is free"),
        pytest.param(
            "'1234567890123456789'.lastIndexOf('a') == -1", True, 2, id="a text of nineteen bytes"
        ),
        pytest.param("'ééééééééééééé'.indexOf('a') == -1", True, 3, id="two bytes a character"),
        pytest.param("[1, 2, 3].sum() == 6", True, 4, id="numbers are one each"),
        pytest.param("['example.com/a', 'b', taint.key].isSorted()", False, 15, id="texts"),
        pytest.param("[bytes(taint.key), bytes(taint.key)].max() == b''", False, 24, id="bytes"),
        pytest.param("['1', taint.key].min() == '1'", True, 15, id="the least of some texts"),
        pytest.param(
            "[[taint.key, taint.key + taint.key], ['']].indexOf(['']) == 1", True, 38, id="lists"
        ),
        pytest.param(
            "[{taint.key: taint.key + taint.key}, {}].indexOf({}) == 1",
            True,
            58,
            id="maps by keys and values",
        ),
        pytest.param("[{1: 2, 3: 4}].indexOf({}) == 0", False, 5, id="a map of numbers"),
        pytest.param(
            "[dyn(1), dyn(taint.key), dyn(b'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')].indexOf(2) == -1",
            True,
            20,
            id="numbers and texts",
        ),
        pytest.param("[[1, 2], [3]].lastIndexOf([3]) == 1", True, 4, id="lists of numbers"),
        pytest.param("[1].filter(x, false).sum() == 0", True, 2, id="an empty list"),
    ],
)
def test_a_traversal_counts_bytes_and_rounds_down(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("lists.range(5).size() == 5", True, 18, id="a range by its length"),
        pytest.param("[1, 2, 3].slice(0, 2).size() == 2", True, 15, id="a slice by its length"),
        pytest.param(
            "[1, 2, 3].reverse().size() == 3", True, 16, id="a reversed list by its length"
        ),
        pytest.param(
            "[[1], [2, 3]].flatten() == [1, 2, 3]", True, 14, id="lists that are flattened"
        ),
        pytest.param(
            "[[[1]], [[2], [3]]].flatten(3) == [1, 2, 3]",
            True,
            18,
            id="lists that are flattened deeply",
        ),
        pytest.param("[[1], [2]].flatten(0) == []", False, 11, id="lists that are not flattened"),
        pytest.param("[3, 2, 1].sort() == [1, 2, 3]", True, 30, id="numbers that are sorted"),
        pytest.param(
            "['c', 'b', 'a', taint.value].sort()[0] == 'a'", True, 59, id="texts that are sorted"
        ),
        pytest.param(
            "[b'c', b'b', b'a', bytes(taint.value)].sort()[0] == b'a'",
            True,
            60,
            id="bytes that are sorted",
        ),
        pytest.param("[3].filter(x, false).sort() == []", True, 12, id="nothing to be sorted"),
        pytest.param("[1, 2, 1].distinct() == [1, 2]", True, 30, id="distinct numbers"),
        pytest.param(
            "['a', 'b', 'a', taint.value].distinct() == ['a']", False, 57, id="distinct texts"
        ),
        pytest.param(
            "[dyn('a'), dyn(1), dyn(2), dyn(3)].distinct().size() == 4",
            True,
            46,
            id="the first element tells",
        ),
        pytest.param(
            "['c', 'b', 'a', 'd'].sortBy(x, size(x))[0] == 'a'",
            False,
            105,
            id="what is sorted by numbers",
        ),
        pytest.param(
            "[1, 2, 3, 4].sortBy(x, string(x))[0] == 1", True, 106, id="what is sorted by texts"
        ),
        pytest.param("sets.contains([1, 2, 3], [1, 2])", True, 7, id="sets by their product"),
        pytest.param("sets.intersects([1, 2, 3], [1, 2, 4, 5])", True, 13, id="sets that overlap"),
        pytest.param(
            "sets.equivalent([1, 2, 3], [3, 2, 1])", True, 19, id="equivalent sets, twice"
        ),
        pytest.param(
            "taint.key in [taint.value, taint.effect, 'a']", False, 19, id="a list that is searched"
        ),
    ],
)
def test_a_list_costs_ten_and_one_beside(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))", True, 3, id="an address in it"
        ),
        pytest.param(
            "cidr('::/128').containsIP(ip('::1'))", False, 6, id="an address of version six in it"
        ),
        pytest.param(
            "cidr('10.0.0.0/8').containsIP('10.111.222.3')", True, 4, id="an address as a text"
        ),
        pytest.param(
            "cidr('::/128').containsCIDR(cidr('::1/128'))", False, 9, id="a network in it"
        ),
        pytest.param(
            "cidr('10.0.0.0/8').containsCIDR('10.111.222.0/24')", True, 6, id="a network as a text"
        ),
        pytest.param(
            "cidr('1234:1234:1234:1234::/64').ip() == ip('::')",
            False,
            6,
            id="its own address is one",
        ),
    ],
)
def test_a_network_costs_by_its_prefix(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "format.dns1123Label().validate(taint.value).hasValue()", False, 12, id="a label"
        ),
        pytest.param(
            "format.dns1123Subdomain().validate(taint.key).hasValue()", True, 49, id="a subdomain"
        ),
        pytest.param(
            "format.labelValue().validate('').hasValue()", False, 12, id="a value of a label"
        ),
        pytest.param(
            "format.uuid().validate('1234567890123456789').hasValue()",
            True,
            38,
            id="a format adds one to the text",
        ),
        pytest.param("format.uri().validate(taint.key).hasValue()", True, 832, id="a URI"),
        pytest.param("format.uuid().validate(taint.key).hasValue()", True, 58, id="a UUID"),
        pytest.param("format.byte().validate(taint.key).hasValue()", True, 67, id="bytes"),
        pytest.param("format.date().validate(taint.key).hasValue()", True, 58, id="a date"),
    ],
)
def test_a_format_costs_by_its_pattern(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("dyn(taint.key) < dyn(taint.key)", False, 7, id="a comparison"),
        pytest.param("dyn(taint.key) + dyn(taint.key) == ''", False, 7, id="a sum"),
        pytest.param(
            "dyn(1) in dyn([taint.key, 'a', 'b'])", False, 14, id="a list that is searched"
        ),
        pytest.param("dyn(taint.key).indexOf('a') == 1", False, 6, id="an index"),
        pytest.param(
            "dyn([[taint.key], ['a']]).flatten().size() == 2",
            True,
            38,
            id="a list that is flattened",
        ),
        pytest.param("dyn([1, 2, 3]).sort() == [1, 2, 3]", True, 2, id="a list that is sorted"),
    ],
)
def test_where_the_overload_is_not_known_the_function_tells(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("string(1 / 0).startsWith('a')", "division by zero", 3, id="a text"),
        pytest.param("taint.key == string(1 / 0)", "division by zero", 5, id="beside a text"),
        pytest.param("string(1 / 0) == ''", "division by zero", 2, id="beside an empty text"),
        pytest.param(
            "string(1 / 0).split(taint.key) == []", "division by zero", 5, id="a text that is cut"
        ),
        pytest.param("lists.range(1 / 0).sum() == 0", "division by zero", 15, id="a list"),
        pytest.param(
            "lists.range(1 / 0) == []", "division by zero", 13, id="a list that is not made"
        ),
        pytest.param(
            "format.named('none').value().validate(taint.key).hasValue()",
            "optional.none() dereference",
            6,
            id="a format",
        ),
        pytest.param(
            "cidr(taint.key).containsIP('10.1.2.3')",
            (
                "network address parse error during conversion from string: network address "
                "parse error during conversion from string: "
                'netip.ParsePrefix("example.com/dedicated"): ParseAddr("example.com"): '
                'unexpected character (at "example.com")'
            ),
            7,
            id="a network",
        ),
        pytest.param("taint.key.matches(string(1 / 0))", "division by zero", 7, id="a pattern"),
        pytest.param(
            "[string(1 / 0)].join() == ''", "division by zero", 13, id="a text that is joined"
        ),
        pytest.param(
            "sets.contains(lists.range(1 / 0), [1, 2, 3])", "division by zero", 17, id="a set"
        ),
    ],
)
def test_an_error_has_the_size_one(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("length", "tenths", "quarters"),
    [
        pytest.param(0, 0, 0, id="nothing"),
        pytest.param(1, 1, 1, id="one"),
        pytest.param(4, 1, 1, id="four"),
        pytest.param(10, 1, 3, id="ten"),
        pytest.param(11, 2, 3, id="eleven"),
        pytest.param(1_023, 103, 256, id="the last in the table"),
        pytest.param(1_024, 103, 256, id="the first that is not"),
        pytest.param(1_030, 103, 258, id="not in the table"),
        pytest.param(1_031, 104, 258, id="one more"),
    ],
)
def test_parts_of_a_length_are_rounded_up(length: int, tenths: int, quarters: int) -> None:
    assert (tenth(length), quarter(length)) == (tenths, quarters)


def test_a_scalar_that_turns_out_to_be_a_text_costs_what_that_does() -> None:
    """The checker believes orValue(), which passes on what is no optional."""
    assert answered("7 == dyn('').orValue(-1)") == (False, 0)


def doubled(levels: int) -> Value:
    """A list that holds twice a list that holds twice a list, and so on."""
    value: Value = []
    for _ in range(levels):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(1, 0, id="a number"),
        pytest.param("a" * 63, 0, id="a short text"),
        pytest.param("a" * 640, 10, id="a text"),
        pytest.param(b"a" * 640, 10, id="bytes"),
        pytest.param([1, 2, 3], 11, id="a list"),
        pytest.param({1: "a" * 640}, 19, id="a map and what is in it"),
        pytest.param([[1], [2, 3]], 29, id="lists in a list"),
        pytest.param(OptionalValue([1]), 9, id="an optional"),
        pytest.param(NONE, 0, id="nothing"),
    ],
)
def test_how_much_there_is_to_a_value(value: Value, expected: int) -> None:
    assert heft(value) == expected


def test_a_value_that_is_part_of_itself_many_times_is_counted_until_it_is_too_much() -> None:
    assert MAX_STEPS < heft(doubled(60)) < 2 * MAX_STEPS
