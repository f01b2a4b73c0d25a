"""`format` knows eight clauses; numbers print for people, precisions as upstream counts them."""

import math

import pytest

from extender.match.cel.faults import CostLimitError
from extender.match.cel.library.formatting import format_text
from extender.match.cel.values import INT_MIN, MAX_TEXT, NONE, UINT_MAX, Uint, Value
from tests.match.cel.library.calls import Refused, call, typed


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        pytest.param("", [], "", id="nothing"),
        pytest.param("100%% \u00e9", [], "100% \u00e9", id="a percent sign"),
        pytest.param("%s-%s", ["a", 1], "a-1", id="two texts"),
        pytest.param("%s", ["a", "b"], "a", id="more arguments than clauses"),
        pytest.param("%s", [[1.5, "a"]], '[1.500000, "a"]', id="a list"),
        pytest.param("%.3s", ["abcdef"], "abcdef", id="a precision that does not matter"),
        pytest.param("%d %d", [INT_MIN, Uint(UINT_MAX)], f"{INT_MIN} {UINT_MAX}", id="decimal"),
        pytest.param("%b %b %b", [-5, Uint(6), True], "-101 110 1", id="binary"),
        pytest.param("%b", [False], "0", id="binary, false"),
        pytest.param("%o %o", [-8, Uint(9)], "-10 11", id="octal"),
        pytest.param("%x %X", [-255, Uint(255)], "-ff FF", id="hexadecimal"),
        pytest.param("%x %X", ["\u00e9", b"\xff\n"], "c3a9 FF0A", id="hexadecimal texts"),
    ],
)
def test_clauses(template: str, arguments: list[Value], expected: str) -> None:
    assert call("string_format", template, arguments) == typed(expected)


@pytest.mark.parametrize(
    ("template", "number", "expected"),
    [
        pytest.param("%f", 1234567.5, "1,234,567.500000", id="thousands"),
        pytest.param("%f", -0.0, "0.000000", id="minus zero"),
        pytest.param("%f", -1e-9, "-0.000000", id="almost zero"),
        pytest.param("%.0f", 2.5, "2", id="half to even"),
        pytest.param("%.3f", 1e21, "1,000,000,000,000,000,000,000.000", id="a large number"),
        pytest.param("%f", math.inf, "\u221e", id="infinity"),
        pytest.param("%.2f", -math.inf, "-\u221e", id="infinity below zero"),
        pytest.param("%f", math.nan, "NaN", id="NaN"),
        pytest.param("%f", "-Infinity", "-\u221e", id="infinity as a text"),
        pytest.param("%.255f", 0.5, "0.5" + "0" * 254, id="255 digits"),
        pytest.param("%.256f", 0.5, "0.5", id="of 256 digits none must be there"),
        pytest.param("%.258f", 0.5, "0.50", id="of 258 digits two must be there"),
        pytest.param("%.32768f", 0.1, "0.1", id="32,768 digits are no limit"),
        pytest.param("%.65536f", 0.75, "1", id="65,536 digits are none"),
        pytest.param("%.10000009f", 0.5, "0.5" + "0" * 136, id="the largest precision"),
        pytest.param("%.10000010f", 0.5, "%!(NOVERB)", id="one above"),
        pytest.param("%e", 12345.678, "1.234568\u00d710\u2070\u2074", id="scientific"),
        pytest.param("%e", -1e-5, "-1.000000\u00d710\u207b\u2070\u2075", id="a small number"),
        pytest.param("%e", 1e100, "1.000000\u00d710\u00b9\u2070\u2070", id="three digits"),
        pytest.param("%e", 0.0, "0.000000\u00d710\u2070\u2070", id="zero"),
        pytest.param("%.2e", 1.5, "1.500000\u00d710\u2070\u2070", id="precision is width"),
        pytest.param("%.16e", 1.5, "   1.500000\u00d710\u2070\u2070", id="a larger width"),
        pytest.param("%.65536e", 1.5, "1.500000\u00d710\u2070\u2070", id="65,536 is no width"),
        pytest.param("%e", "NaN", "   NaN", id="NaN has a width, too"),
        pytest.param("%e", math.inf, "     \u221e", id="and so has infinity"),
        pytest.param("%.9223372036854775807e", 1.5, "%!(NOVERB)", id="the largest width"),
    ],
)
def test_doubles(template: str, number: Value, expected: str) -> None:
    assert call("string_format", template, [number]) == typed(expected)


PRECISION = "could not parse formatting clause: error while parsing precision: "
ATOI = PRECISION + "error while converting precision to integer: strconv.Atoi: parsing "


@pytest.mark.parametrize(
    ("template", "arguments", "fault"),
    [
        pytest.param("%s%s", [1], "index 1 out of range", id="an argument is missing"),
        pytest.param("%", [], "index 0 out of range", id="an argument and the clause"),
        pytest.param("%", [1], "unexpected end of string", id="the clause"),
        pytest.param(
            "%q",
            [1],
            'could not parse formatting clause: unrecognized formatting clause "q"',
            id="no such clause",
        ),
        pytest.param(
            "%\u00e9",
            [1],
            'could not parse formatting clause: unrecognized formatting clause "\u00c3"',
            id="no such clause beyond ASCII",
        ),
        pytest.param(
            "%.5", [1.0], PRECISION + "could not find end of precision specifier", id="no end"
        ),
        pytest.param("%.f", [1.0], ATOI + '"": invalid syntax', id="an empty precision"),
        pytest.param(
            "%.9223372036854775808f",
            [1.0],
            ATOI + '"9223372036854775808": value out of range',
            id="a precision beyond 64 bits",
        ),
    ],
)
def test_templates_that_make_no_sense(template: str, arguments: list[Value], fault: str) -> None:
    assert call("string_format", template, arguments) == typed(Refused(fault))


@pytest.mark.parametrize(
    ("clause", "fault"),
    [
        pytest.param("s", "no formatting function for optional_type", id="text"),
        pytest.param("d", "decimal clause can only be used on integers", id="decimal"),
        pytest.param("f", "fixed-point clause can only be used on doubles", id="fixed-point"),
        pytest.param("e", "scientific clause can only be used on doubles", id="scientific"),
        pytest.param("b", "only integers and bools can be formatted as binary", id="binary"),
        pytest.param("o", "octal clause can only be used on integers", id="octal"),
        pytest.param(
            "x",
            "only integers, byte buffers, and strings can be formatted as hex",
            id="hexadecimal",
        ),
        pytest.param(
            "X",
            "only integers, byte buffers, and strings can be formatted as hex",
            id="upper-case hexadecimal",
        ),
    ],
)
def test_arguments_that_do_not_fit(clause: str, fault: str) -> None:
    whole = f"error during formatting: {fault}"
    if clause != "s":
        whole += ", was given list"

    assert call("string_format", f"%{clause}", [[NONE]]) == typed(Refused(whole))


@pytest.mark.parametrize(
    ("template", "arguments"),
    [
        pytest.param("%s%s", ["a" * (MAX_TEXT // 2 + 1)] * 2, id="two texts"),
        pytest.param("%x", ["a" * (MAX_TEXT // 2 + 1)], id="hexadecimal"),
        pytest.param("%.65535e" * 200, [1.5] * 200, id="widths"),
    ],
)
def test_what_would_be_too_long_is_not_built(template: str, arguments: list[Value]) -> None:
    with pytest.raises(CostLimitError):
        format_text(template, arguments)
