import pytest

from extender.match.cel.ast import Expr
from extender.match.cel.check_fields import qualified_name
from extender.match.cel.parser import parse
from extender.match.cel.source import Source
from tests.match.cel.expressions import checked, refusals, type_of


def parsed(text: str) -> Expr:
    return parse(Source(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a", "a", id="a name"),
        pytest.param("a.b.c", "a.b.c", id="a dotted name"),
        pytest.param(".a.b", ".a.b", id="with a leading dot"),
        pytest.param("a().b", None, id="a field of a call"),
        pytest.param("has(a.b)", None, id="a question"),
        pytest.param("1", None, id="a constant"),
    ],
)
def test_an_expression_may_be_a_dotted_name(text: str, expected: str | None) -> None:
    assert qualified_name(parsed(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("taint.key", "string"),
        (".taint.key", "string"),
        ("has(taint.key)", "bool"),
        ("taint.?key", "optional_type(string)"),
        ("google.protobuf.Duration", "type(google.protobuf.Duration)"),
        ("{'a': 1}.a", "int"),
        ("{}.a.b", "dyn"),
        ("dyn(1).a.b", "dyn"),
        ("optional.of({'a': 1}).a", "optional_type(int)"),
        ("optional.of({'a': 1}).?a", "optional_type(int)"),
        ("optional.none().a", "optional_type(dyn)"),
    ],
)
def test_a_field_has_a_type(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("taint.no.no", ["6: undefined field 'no'"], id="a field that is not there"),
        pytest.param("taint.?no", ["6: undefined field 'no'"], id="the same, optional"),
        pytest.param("has(taint.no)", ["4: undefined field 'no'"], id="a question about it"),
        pytest.param(
            "taint.key.a",
            ["10: type 'string' does not support field selection"],
            id="a field of a text",
        ),
        pytest.param(
            "optional.of(1).a",
            ["15: type 'int' does not support field selection"],
            id="a field of an optional number",
        ),
        pytest.param(
            "[].a",
            ["3: type 'list(_var0)' does not support field selection"],
            id="a field of an empty list",
        ),
        pytest.param(
            "semver('1.0.0').major",
            ["16: unexpected failed resolution of 'kubernetes.Semver'"],
            id="a field of a version",
        ),
        pytest.param(
            "foo.bar", ["1: undeclared reference to 'foo' (in container '')"], id="no such name"
        ),
    ],
)
def test_what_has_no_such_field_is_refused(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_an_optional_field_is_a_call_of_one_overload() -> None:
    result = checked("taint.?key")

    assert result.overloads == {result.root.id: ("select_optional_field",)}


def test_a_dotted_type_is_a_name() -> None:
    result = checked("net.IP")

    assert result.names == {result.root.id: "net.IP"}
