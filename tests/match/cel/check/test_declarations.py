import pytest

from extender.match.cel.check.declarations import FIELDS, TYPE_NAMES, UNDEFINED_TYPES, VARIABLES
from extender.match.cel.types import TAINT


def test_the_taint_has_three_fields() -> None:
    assert VARIABLES == {"taint": TAINT}
    assert {name: str(type_) for name, type_ in FIELDS.items()} == {
        "key": "string",
        "value": "string",
        "effect": "string",
    }


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("int", "int"),
        ("list", "list(A)"),
        ("map", "map(A, B)"),
        ("timestamp", "google.protobuf.Timestamp"),
        ("google.protobuf.Timestamp", "google.protobuf.Timestamp"),
        ("optional_type", "optional_type"),
        ("net.CIDR", "net.CIDR"),
        ("kubernetes.Taint", "kubernetes.Taint"),
        ("google.protobuf.Int32Value", "wrapper(int)"),
        ("google.protobuf.Value", "dyn"),
        ("google.protobuf.Struct", "map(string, dyn)"),
        ("google.protobuf.Any", "google.protobuf.Any"),
        ("google.protobuf.Empty", "google.protobuf.Empty"),
    ],
)
def test_a_type_has_a_name(name: str, type_: str) -> None:
    assert str(TYPE_NAMES[name]) == type_


@pytest.mark.parametrize("name", ["dyn", "error", "kubernetes.Semver", "google.protobuf.NullValue"])
def test_other_types_have_none(name: str) -> None:
    assert name not in TYPE_NAMES


def test_some_names_have_no_value() -> None:
    assert {"kubernetes.Taint", "timestamp", "duration", "google.protobuf.Any"} <= set(
        UNDEFINED_TYPES
    )
    assert not {"google.protobuf.Duration", "google.protobuf.Empty"} & set(UNDEFINED_TYPES)
    assert UNDEFINED_TYPES.items() <= TYPE_NAMES.items()
