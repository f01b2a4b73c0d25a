"""Expressions that somebody might write to do harm, with what must come of each.

They are shared by the tests, which look at verdicts and counts, and by the bench, which looks at
time and memory. The taint that they meet has the longest key and value that there can be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from extender.model.core_v1 import Taint

LIMIT = 10_240
TAINT = Taint(key="k" * 253 + "/" + "n" * 63, value="1" * 63, effect="NoSchedule")

# "true" and "false" are what an evaluation says; "error" that it fails, "cancelled" that it did
# too much; "refused" does not compile, "too costly" compiles and is not admitted.
Fate = Literal["true", "false", "error", "cancelled", "refused", "too costly"]


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    expression: str
    fate: Fate


def filled(unit: str, *, around: tuple[str, str] = ("", ""), joint: str = "") -> str:
    """As many units as fit into the limit."""
    room = LIMIT - len((around[0] + around[1]).encode())
    count = (room + len(joint.encode())) // len((unit + joint).encode())
    return around[0] + joint.join([unit] * count) + around[1]


def nested(opening: str, core: str, closing: str, depth: int) -> str:
    return opening * depth + core + closing * depth


def patterns(count: int, letters: int, first: int = 0) -> list[str]:
    """Expressions for one pod: each has a pattern of its own."""
    numbers = range(first, first + count)
    return [rf"taint.value.matches('\\pL{{{letters}}}{number}')" for number in numbers]


def pods() -> Mapping[str, Sequence[str]]:
    """Pods with many expressions: each by itself is legal upstream."""
    return {
        "a pod with 100 patterns that are too large": patterns(100, 200),
        "a pod with 300 patterns that are too large": patterns(300, 200),
        "a pod with 100 patterns as large as may be": patterns(100, 16),
        "a pod with 300 patterns as large as may be": patterns(300, 16),
    }


def cases() -> Iterator[Case]:
    yield from _deep()
    yield from _wide()
    yield from _literals()
    yield from _loops()
    yield from growth()
    yield from _patterns()
    yield from _functions()
    yield from _messages()


def _deep() -> Iterator[Case]:
    yield Case("5,000 opening parentheses", "(" * 5_000, "refused")
    yield Case("5,000 pairs of parentheses", nested("(", "true", ")", 5_000), "refused")
    yield Case("240 pairs of parentheses", nested("(", "true", ")", 240), "true")
    yield Case("5,000 opening brackets", "[" * 5_000, "refused")
    yield Case("5,000 nested lists", nested("[", "1", "]", 5_000) + " == []", "refused")
    yield Case("2,500 nested maps", nested("{1:", "1", "}", 2_000) + " == {}", "refused")
    yield Case("10,000 exclamation marks", "!" * 10_000 + "true", "true")
    yield Case("10,001 exclamation marks", "!" * 10_001 + "true", "false")
    yield Case("10,000 minus signs", "-" * 10_000 + "1 == 1", "true")
    yield Case("deep alternatives", "true ? " * 1_400 + "true" + " : false" * 10, "refused")
    yield Case("alternatives in a row", filled("true ? true : ", around=("", "true")), "refused")
    yield Case("deep selects", "taint" + ".key" * 2_500 + " == ''", "refused")
    yield Case("deep calls", "taint.key" + ".trim()" * 1_400 + " == ''", "refused")
    yield Case("deep indices", "[[1]]" + "[0]" * 3_000 + " == 1", "refused")
    yield Case("nested calls", nested("size(string(", "1", "))", 700) + " == 1", "refused")
    yield Case("nested calls within limits", nested("int(", "1", ")", 200) + " == 1", "true")
    yield Case("nested has", nested("has(", "taint.key", ")", 1_000), "refused")
    yield Case("half an expression, repeated", "taint.key == (" * 700, "refused")


def _wide() -> Iterator[Case]:
    yield Case("thousands of ands", filled("true", joint="&&"), "true")
    yield Case("thousands of ors", filled("false", joint="||"), "false")
    yield Case("thousands of ors of errors", filled("1/0==1", joint="||"), "error")
    yield Case("ands of comparisons", filled("taint.key!='a'", joint="&&"), "true")
    yield Case("thousands of terms", filled("1", joint="+", around=("", "==1")), "refused")
    yield Case("comparisons in a row", filled("1", joint="<"), "refused")
    yield Case(
        "thousands of list elements", filled("1", joint=",", around=("[", "].size()>0")), "true"
    )
    yield Case(
        "thousands of map entries",
        "{" + ",".join(f"{i}:{i}" for i in range(1_000)) + "}.size() == 1000",
        "true",
    )
    yield Case("the same key twice", "{1: 1, 1: 2}.size() == 1", "true")
    yield Case(
        "thousands of arguments", filled("1", joint=",", around=("size(", ")==1")), "refused"
    )
    yield Case("thousands of names", filled("x", joint="||"), "refused")
    yield Case("one name of 10 KiB", "x" * LIMIT, "refused")
    yield Case("one byte too many", "x" * (LIMIT + 1), "refused")
    yield Case("too long in bytes, not in characters", "'" + "é" * 5_200 + "' == ''", "refused")
    yield Case("a megabyte", "true||" * 170_000 + "true", "refused")
    yield Case("only white space", " " * LIMIT, "refused")
    yield Case("only comments", filled("//\n"), "refused")
    yield Case("only semicolons", ";" * LIMIT, "refused")
    yield Case("only quotation marks", "'" * LIMIT, "refused")
    yield Case("a quotation mark that stays open", "'" + "a" * 10_000, "refused")
    yield Case("a triple quote that stays open", "'''" + "''a" * 3_000, "refused")
    yield Case("nothing", "", "refused")
    yield Case("NUL characters", "\0" * 100, "refused")
    yield Case("lone surrogates", "'\ud800' == taint.key", "false")
    yield Case("emoji", filled("😀"), "refused")
    yield Case("right-to-left marks", "taint.key\u202e == 'a'", "refused")


def _literals() -> Iterator[Case]:
    yield Case("an integer of 10,000 digits", "9" * 10_000 + " == 1", "refused")
    yield Case("a hexadecimal of 10,000 digits", "0x" + "f" * 10_000 + " == 1", "refused")
    yield Case("a double of 10,000 digits", "1." + "9" * 10_000 + " == 2.0", "true")
    yield Case("a double with a huge exponent", "1e999999999 == 1.0", "refused")
    yield Case("a double with a tiny exponent", "1e-999999999 == 0.0", "true")
    yield Case("an escape beyond Unicode", r"'\U00110000' == ''", "refused")
    yield Case("an escaped surrogate", r"'\ud800' == ''", "refused")
    yield Case("an octal escape out of range", r"'\777' == ''", "refused")
    yield Case("a Unicode escape in bytes", r"b'\u00e9' == b''", "refused")
    yield Case("half an escape", r"'\x1' == ''", "refused")
    yield Case("bytes that are no text", r"string(b'\xff\xfe') == ''", "refused")
    yield Case("a string of 10 KiB", "'" + "a" * 10_000 + "' == taint.key", "false")
    yield Case("10 KiB of escapes", filled(r"\n", around=("'", "' == taint.key")), "false")


def _loops() -> Iterator[Case]:
    loop = "lists.range(166000).all(i, i >= 0)"
    yield Case("the largest loop that is admitted", loop, "true")
    yield Case("a loop of a million", "lists.range(1000000).all(i, i >= 0)", "too costly")
    yield Case(
        "a range beyond all bounds", "lists.range(9223372036854775807).size() > 0", "too costly"
    )
    yield Case(
        "two nested loops", "lists.range(300).all(i, lists.range(300).all(j, i + j >= 0))", "true"
    )
    yield Case(
        "six nested loops",
        "lists.range(6).all(a, lists.range(6).all(b, lists.range(6).all(c, lists.range(6).all(d,"
        " lists.range(6).all(e, lists.range(6).all(f, a + b + c + d + e + f >= 0))))))",
        "true",
    )
    yield Case(
        "a loop that costs more than it is estimated",
        "lists.range(4000).all(i, " + " && ".join(["taint.key.startsWith('')"] * 8) + ")",
        "cancelled",
    )
    yield Case("a loop of errors", "lists.range(100000).all(i, i / 0 == 1)", "cancelled")
    yield Case(
        "nested optional maps",
        "taint.?key" + ".optMap(k, k)" * 100 + ".hasValue()",
        "refused",
    )
    yield Case(
        "a map of maps", "lists.range(200).map(i, lists.range(200).map(j, j)).size() == 200", "true"
    )


def growth() -> Iterator[Case]:
    yield Case(
        "doubling a string", "'aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 5 + " == ''", "false"
    )
    yield Case(
        "two large replaces",
        f"'{'a' * 1_600}'.replace('', '{'b' * 3_000}').replace('', '{'c' * 5_000}') == 'x'",
        "cancelled",
    )
    yield Case(
        "adding a string to itself",
        nested("(", "taint.key", " + taint.key)", 200) + " == ''",
        "false",
    )
    yield Case("format with a huge precision", "'%.999999999f'.format([1.0]) == ''", "false")
    yield Case("sorting a large list", "lists.range(600).sort().size() == 600", "true")
    yield Case("distinct of a large list", "lists.range(700).distinct().size() == 700", "true")
    yield Case("sorting far too much", "lists.range(100000).sort().size() > 0", "too costly")
    yield Case("joining what was split", "taint.key.split('').join(taint.key) == ''", "too costly")
    yield Case(
        "a large list compared with itself", "lists.range(400000) == lists.range(400000)", "true"
    )
    yield Case(
        "a large list searched often", "lists.range(600).all(i, i in lists.range(600))", "true"
    )
    yield Case(
        "lists appended in a loop",
        "lists.range(20000).map(i, [i, i, i]).size() == 20000",
        "true",
    )


def _patterns() -> Iterator[Case]:
    yield Case("nested repetition", "taint.value.matches('^(1+)+$')", "true")
    yield Case("nested repetition that fails", "taint.value.matches('^(1+)+2$')", "false")
    yield Case("alternation that explodes", "taint.value.matches('^(1|1|11)*2$')", "false")
    yield Case("a repetition above 1,000", "taint.value.matches('1{1001}')", "refused")
    yield Case(
        "nested repetitions above 1,000", "taint.value.matches('((1{100}){100}){10}')", "refused"
    )
    yield Case("a pattern that grows large", "taint.value.matches('(1?){63}(1){63}')", "true")
    yield Case(
        "large counted classes", "taint.value.matches('" + r"[\\pL]{900}" * 8 + "')", "refused"
    )
    yield Case("letters, counted", r"taint.value.matches('\\pL{200}0')", "refused")
    yield Case("as many letters as there may be", r"taint.value.matches('\\pL{16}0')", "false")
    yield Case(
        "the largest patterns together",
        " || ".join(rf"taint.value.matches('\\pL{{16}}{n}')" for n in range(2)),
        "false",
    )
    yield Case("many states", "taint.key.find('(?:.?){1000}') == taint.key", "true")
    yield Case("a large pattern out of parts", r"taint.value.matches('\\pL{16}' + '0')", "false")
    yield Case("too large out of parts", r"taint.value.matches('\\pL{200}' + '0')", "error")
    yield Case("a back reference", r"taint.value.matches('(1)\\1')", "refused")
    yield Case("a look-ahead", "taint.value.matches('(?=1)')", "refused")
    yield Case(
        "deep groups", "taint.key.matches('" + nested("(", "a", ")", 2_000) + "')", "refused"
    )
    yield Case("groups that stay open", "taint.key.matches('" + "(" * 4_000 + "')", "refused")
    yield Case("a pattern out of the taint", "taint.value.matches(taint.key)", "false")
    yield Case(
        "thousands of alternatives",
        "taint.key.matches('" + "|".join(["ab"] * 3_000) + "')",
        "false",
    )


def _functions() -> Iterator[Case]:
    yield Case("a duration of 10 KiB", "duration('" + "1h" * 5_000 + "') > duration('1s')", "true")
    yield Case(
        "a duration of digits", "duration('" + "9" * 9_000 + "s') > duration('1s')", "refused"
    )
    yield Case(
        "a timestamp beyond time", "timestamp('99999-01-01T00:00:00Z') > timestamp(0)", "refused"
    )
    yield Case(
        "a time zone that is a path", "timestamp(0).getHours('../../../etc/passwd') == 0", "error"
    )
    yield Case("a quantity with a huge exponent", "quantity('1e999999999').sign() == 1", "refused")
    yield Case("a quantity beyond all bounds", "sign(quantity('9e999999999')) == 1", "true")
    yield Case("a quantity of 10,000 digits", "isQuantity('" + "9" * 10_000 + "')", "true")
    yield Case("an integer division of extremes", "-9223372036854775808 / -1 == 1", "error")
    yield Case("a negation of extremes", "-(-9223372036854775808) == 1", "error")
    yield Case("a version of 10 KiB", "isSemver('" + "1." * 5_000 + "')", "false")
    yield Case("an address of 10 KiB", "isIP('" + ":" * 10_000 + "')", "false")
    yield Case("a URL of 10 KiB", "isURL('/" + "%41" * 3_300 + "')", "true")
    yield Case("an index out of range", "[1][9223372036854775807] == 1", "error")
    yield Case(
        "a substring out of range", "taint.key.substring(-9223372036854775808) == ''", "error"
    )


def _messages() -> Iterator[Case]:
    pb = "google.protobuf."
    yield Case(
        "messages in messages", nested(f"{pb}Int64Value{{value: ", "1", "}", 200) + " == 1", "true"
    )
    fields = filled("seconds: 1,", around=(f"{pb}Duration{{", "} == null"))
    yield Case("thousands of fields", fields, "false")
    doubling = "[1]" + ".map(x, [x, x])" * 20
    yield Case(
        "a list that doubles, as JSON",
        f"{doubling}.exists(x, {pb}ListValue{{values: x}} == [])",
        "cancelled",
    )
    yield Case(
        "lists as JSON, in a loop",
        f"lists.range(6000).exists(i, [{pb}ListValue{{values: lists.range(20)}}] == [[i]])",
        "cancelled",
    )
    packed = filled(r"\x2a\x00", around=(f"{pb}Any{{type_url: '{pb}Value', value: b'", "'} == {}"))
    yield Case("thousands of parts in an Any", packed, "true")
    packed = rf"{pb}Any{{type_url: '{pb}Value', value: b'\x20\x01'}}"
    yield Case("an Any in a loop", f"lists.range(5000).all(i, {packed} == true)", "true")
    unreadable = filled(r"\xff", around=(f"{pb}Any{{value: b'", "'} == null"))
    yield Case("an unreadable Any", unreadable, "error")
