import pytest

from tests.match.cel.expressions import checked, refusals, type_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "list(dyn)"),
        ("[1, 2]", "list(int)"),
        ("[[], ['a']]", "list(list(string))"),
        ("[1, dyn(2)]", "list(dyn)"),
        ("[1, 'a', 2.0]", "list(dyn)"),
        ("[?optional.of(1), 2]", "list(int)"),
        ("[?dyn(1)]", "list(dyn)"),
        ("{}", "map(dyn, dyn)"),
        ("{'a': 1}", "map(string, int)"),
        ("{'a': 1, 2: 'b'}", "map(dyn, dyn)"),
        ("{?'a': optional.of(1)}", "map(string, int)"),
        ("kubernetes.Taint{}", "kubernetes.Taint"),
        (".kubernetes.Taint{key: 'a'}", "kubernetes.Taint"),
        ("kubernetes.Taint{?key: optional.of('x'), value: dyn(1)}", "kubernetes.Taint"),
    ],
)
def test_a_literal_has_a_type(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "[?1]", ["3: expected type 'optional_type(int)' but found 'int'"], id="an element"
        ),
        pytest.param(
            "{?'a': 1}", ["8: expected type 'optional_type(int)' but found 'int'"], id="a value"
        ),
        pytest.param(
            "kubernetes.Taint{?key: 1}",
            [
                "24: expected type 'optional_type(int)' but found 'int'",
                "22: expected type of field 'key' is 'string' but provided type is 'int'",
            ],
            id="a field",
        ),
    ],
)
def test_what_is_marked_optional_must_be_so(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "foo.Bar{a: b}",
            ["8: undeclared reference to 'foo.Bar' (in container '')"],
            id="an unknown name, and its fields are left alone",
        ),
        pytest.param("taint{}", ["6: 'kubernetes.Taint' is not a type"], id="the taint"),
        pytest.param("int{}", ["4: 'int' is not a message type"], id="a simple type"),
        pytest.param(
            "[foo].all(x, x{})",
            ["2: undeclared reference to 'foo' (in container '')"],
            id="a mistake is reported once",
        ),
        pytest.param(
            "kubernetes.Taint{no: 1, value: null}",
            [
                "20: undefined field 'no'",
                "30: expected type of field 'value' is 'string' but provided type is 'null'",
            ],
            id="fields that it does not have",
        ),
        pytest.param(
            "net.IP{a: foo}",
            [
                "7: 'net.IP' is not a message type",
                "11: undeclared reference to 'foo' (in container '')",
                "9: unexpected failed resolution of 'net.IP'",
            ],
            id="fields are looked at all the same",
        ),
    ],
)
def test_no_other_object_can_be_made(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_an_object_is_named_by_its_type() -> None:
    result = checked(".kubernetes.Taint{}")

    assert result.names == {result.root.id: "kubernetes.Taint"}
