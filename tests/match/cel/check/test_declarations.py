import pytest

from extender.match.cel.check.declarations import (
    FIELDS,
    FUNCTIONS,
    OVERLOADS,
    TYPE_NAMES,
    UNDEFINED_TYPES,
    VARIABLES,
    Overload,
    overload_of,
)
from extender.match.cel.types import TAINT


def shown(overload: Overload) -> str:
    parameters = ", ".join(map(str, overload.parameters))
    return f"{'member' if overload.member else 'global'} ({parameters}) -> {overload.result}"


@pytest.mark.parametrize(
    ("overload_id", "function", "signature"),
    [
        ("equals", "_==_", "global (A, A) -> bool"),
        ("conditional", "_?_:_", "global (bool, A, A) -> A"),
        ("contains_string", "contains", "member (string, string) -> bool"),
        ("list_reverse", "reverse", "member (list(T)) -> list(T)"),
        ("index_map", "_[_]", "global (map(A, B), A) -> B"),
        ("optional_none", "optional.none", "global () -> optional_type(V)"),
        ("type", "type", "global (A) -> type(A)"),
        ("url_get_query", "getQuery", "member (kubernetes.URL) -> map(string, list(string))"),
        ("less_int64_double", "_<_", "global (int, double) -> bool"),
        ("greater_equals_bytes", "_>=_", "global (bytes, bytes) -> bool"),
        ("list_duration_max_duration", "max", "member (list({0})) -> {0}"),
        ("list_{0}_sort", "sort", "member (list({0})) -> list({0})"),
        (
            "list_string_sortByAssociatedKeys",
            "@sortByAssociatedKeys",
            "member (list(T), list(string)) -> list(T)",
        ),
        ("list_uint_is_sorted_bool", "isSorted", "member (list(uint)) -> bool"),
        ("list_double_sum_double", "sum", "member (list(double)) -> double"),
        ("format.uuid", "format.uuid", "global () -> kubernetes.NamedFormat"),
        ("duration_to_hours", "getHours", "member ({0}) -> int"),
        (
            "resourcecheck_check",
            "check",
            "member (kubernetes.authorization.ResourceCheck, string)"
            " -> kubernetes.authorization.Decision",
        ),
    ],
)
def test_an_overload_is_declared(overload_id: str, function: str, signature: str) -> None:
    overload = OVERLOADS[overload_id.format("google.protobuf.Duration")]

    assert overload.function == function
    assert overload in FUNCTIONS[function]
    assert shown(overload) == signature.format("google.protobuf.Duration")


@pytest.mark.parametrize(
    ("function", "overloads"),
    [
        ("indexOf", "list_a_index_of_int string_index_of_string string_index_of_string_int"),
        ("getSeconds", "timestamp_to_seconds timestamp_to_seconds_tz duration_to_seconds"),
        ("getMonth", "timestamp_to_month timestamp_to_month_with_tz"),
        ("bool", "bool_to_bool string_to_bool"),
    ],
)
def test_overloads_keep_upstreams_order(function: str, overloads: str) -> None:
    assert [overload.id for overload in FUNCTIONS[function]] == overloads.split()


def test_everything_that_upstream_can_resolve_is_declared() -> None:
    assert len(FUNCTIONS) == 154
    assert len(OVERLOADS) == sum(map(len, FUNCTIONS.values())) == 340


@pytest.mark.parametrize(
    ("overload_id", "variables"),
    [
        ("contains_string", ()),
        ("in_map", ("A", "B")),
        ("index_map", ("B", "A")),
        ("list_flatten", ("T",)),
    ],
)
def test_an_overload_knows_its_variables(overload_id: str, variables: tuple[str, ...]) -> None:
    assert OVERLOADS[overload_id].variables == variables


def test_a_signature_must_have_a_result() -> None:
    with pytest.raises(ValueError, match="no signature"):
        overload_of("f", "f", "(int)")


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
    ],
)
def test_a_type_has_a_name(name: str, type_: str) -> None:
    assert str(TYPE_NAMES[name]) == type_


@pytest.mark.parametrize("name", ["dyn", "error", "kubernetes.Semver", "google.protobuf.Any"])
def test_other_types_have_none(name: str) -> None:
    assert name not in TYPE_NAMES


def test_some_names_have_no_value() -> None:
    assert set(UNDEFINED_TYPES) == {"kubernetes.Taint", "timestamp", "duration"}
    assert UNDEFINED_TYPES.items() <= TYPE_NAMES.items()
