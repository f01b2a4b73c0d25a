import pytest

from extender.match.cel.check.format_calls import format_issue
from extender.match.cel.syntax.ast import Call, Constant, ListExpr
from tests.match.cel.expressions import checked

STRINGS = (
    "error during formatting: string clause can only be used on strings, bools, bytes, ints,"
    " doubles, maps, lists, types, durations, and timestamps, was given"
)
PRECISION = "could not parse formatting clause: error while parsing precision:"


def issue_of(text: str) -> str | None:
    """The column, counted from one, and the message."""
    result = checked(text)
    call = result.root
    assert isinstance(call, Call)
    assert isinstance(call.target, Constant)
    (arguments,) = call.args
    assert isinstance(arguments, ListExpr)
    issue = format_issue(result, call, str(call.target.value), arguments.elements)
    return None if issue is None else f"{issue.offset + 1}: {issue.message}"


@pytest.mark.parametrize(
    "text",
    [
        "''.format([])",
        "'100%%'.format([])",
        "'%s %s'.format([[1, 'a'], {'b': [null, type(1)]}])",
        "'%s'.format([dyn(semver('1.0.0'))])",
        "'%d %d %d'.format([1, 1u, dyn('a')])",
        "'%f %.3f %e %.0e'.format([1.0, 'NaN', 1.5, 'Infinity'])",
        "'%b %b'.format([1u, true])",
        "'%x %X %x %X'.format([1, 1u, 'a', b'a'])",
        "'%o'.format([1])",
        "'%.09223372036854775807f'.format([1.0])",
        "'%s\\n%%%s'.format([1, 2])",
    ],
)
def test_a_format_that_can_be_filled_in_passes(text: str) -> None:
    assert issue_of(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("'%'.format([1])", "11: unexpected end of string", id="no clause"),
        pytest.param("'%s %s'.format([1])", "15: index 1 out of range", id="too few arguments"),
        pytest.param("'%z %s'.format([])", "15: index 0 out of range", id="before a bad clause"),
        pytest.param(
            "'%s'.format([1, 2])",
            "12: too many arguments supplied to string.format (expected 1, got 2)",
            id="too many arguments",
        ),
        pytest.param(
            "'%z'.format([1])",
            '12: could not parse formatting clause: unrecognized formatting clause "z"',
            id="no such clause",
        ),
        pytest.param(
            "'%\u00e9'.format([1])",
            '12: could not parse formatting clause: unrecognized formatting clause "\u00c3"',
            id="the first byte of a clause",
        ),
        pytest.param(
            "'%.2%'.format([1])",
            '14: could not parse formatting clause: unrecognized formatting clause "%"',
            id="a percent sign has no precision",
        ),
        pytest.param(
            "'%.5'.format([1.0])",
            f"13: {PRECISION} could not find end of precision specifier",
            id="an endless precision",
        ),
        pytest.param(
            "'%.f'.format([1.0])",
            f"13: {PRECISION} error while converting precision to integer:"
            ' strconv.Atoi: parsing "": invalid syntax',
            id="no precision",
        ),
        pytest.param(
            "'%.9223372036854775808f'.format([1.0])",
            f"32: {PRECISION} error while converting precision to integer:"
            ' strconv.Atoi: parsing "9223372036854775808": value out of range',
            id="an infinite precision",
        ),
    ],
)
def test_a_format_must_be_well_formed(text: str, expected: str) -> None:
    assert issue_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "'%s'.format([semver('1.0.0')])", f"20: {STRINGS} kubernetes.Semver", id="an object"
        ),
        pytest.param(
            "'%s'.format([[1, [ip('1.1.1.1')]]])", f"21: {STRINGS} net.IP", id="in a list"
        ),
        pytest.param(
            "'%s'.format([{1: 2, 'a': [optional.of(1)]}])",
            f"38: {STRINGS} optional_type",
            id="in a map",
        ),
        pytest.param(
            "'%d'.format([[1]])",
            "14: error during formatting: decimal clause can only be used on integers,"
            " was given list",
            id="decimal",
        ),
        pytest.param(
            "'%f'.format([1])",
            "14: error during formatting: fixed-point clause can only be used on doubles,"
            " was given int",
            id="fixed-point",
        ),
        pytest.param(
            "'%e'.format([duration('1s')])",
            "22: error during formatting: scientific clause can only be used on doubles,"
            " was given google.protobuf.Duration",
            id="scientific",
        ),
        pytest.param(
            "'%b'.format(['a'])",
            "14: error during formatting: only integers and bools can be formatted as binary,"
            " was given string",
            id="binary",
        ),
        pytest.param(
            "'%s%X'.format([1, null])",
            "19: error during formatting: only integers, byte buffers, and strings can be"
            " formatted as hex, was given null_type",
            id="hexadecimal",
        ),
        pytest.param(
            "'%o'.format([1.0])",
            "14: error during formatting: octal clause can only be used on integers,"
            " was given double",
            id="octal",
        ),
    ],
)
def test_a_clause_must_fit_its_argument(text: str, expected: str) -> None:
    assert issue_of(text) == expected
