"""Every function is described once, and all tables put together make upstream's environment."""

import pytest

from extender.match.cel.library import FUNCTIONS, OVERLOADS
from extender.match.cel.library.charges import NOTHING, ONE, Charge, Work
from extender.match.cel.library.estimates import ZERO, Estimate, nominal
from extender.match.cel.library.functions import (
    Overload,
    by_name,
    function,
    overload,
    read_signature,
)


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
    assert overload in FUNCTIONS[function].overloads
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
    assert [overload.id for overload in FUNCTIONS[function].overloads] == overloads.split()


def test_everything_that_upstream_can_resolve_is_declared() -> None:
    assert len(FUNCTIONS) == 154
    assert len(OVERLOADS) == sum(len(each.overloads) for each in FUNCTIONS.values()) == 340


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
        read_signature("(int)")


def test_what_an_overload_leaves_out_is_as_its_function_says() -> None:
    charge, work = Charge(fixed=7), Work(3)
    described = function(
        "f",
        overload("f_int", "(int) -> int", abs),
        overload("f_any", "(A) -> A", estimate=free, charge=ONE, work=work),
        charge=charge,
    )
    plain, own = described.overloads

    assert (plain.run, plain.estimate, plain.charge, plain.work) == (abs, nominal, charge, NOTHING)
    assert (own.run, own.estimate, own.charge, own.work) == (None, free, ONE, work)
    assert described.charge is charge


def free(*_: object) -> Estimate:
    return Estimate(ZERO)


def test_overloads_of_one_name_are_put_together_in_order() -> None:
    first = function("f", overload("f_int", "(int) -> int"))
    second = function("f", overload("f_string", "(string) -> int"))

    assert by_name([[first], [second]])["f"].overloads == first.overloads + second.overloads


def test_two_descriptions_of_a_function_must_agree() -> None:
    first = function("f", overload("f_int", "(int) -> int"))
    second = function("f", overload("f_string", "(string) -> int"), singleton=True)

    with pytest.raises(ValueError, match="two descriptions of f disagree"):
        by_name([[first], [second]])


# The planner handles these itself; of the authorizer's types there is no value.
NOTHING_RUNS = {
    *("conditional", "logical_and", "logical_or", "not_strictly_false", "select_optional_field"),
    *("index_list", "index_map", "optional_list_index_int", "optional_map_index_value"),
    *("list_optindex_optional_int", "optional_list_optindex_optional_int"),
    *("map_optindex_optional_value", "optional_map_optindex_optional_value"),
}


def test_all_but_a_few_overloads_have_something_to_run() -> None:
    idle = {each.id for each in OVERLOADS.values() if each.run is None}
    authorizer = {each.id for each in OVERLOADS.values() if "authorization" in str(each.parameters)}

    assert idle == NOTHING_RUNS | authorizer
