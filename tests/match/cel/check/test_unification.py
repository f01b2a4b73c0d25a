from collections.abc import Callable

import pytest

from extender.match.cel.check.unification import (
    MAX_DEPTH,
    MAX_WEIGHT,
    TypeTooLargeError,
    Unifier,
    checked_size,
    most_general,
)
from extender.match.cel.library import OVERLOADS
from extender.match.cel.types import (
    BOOL,
    BYTES,
    CIDR,
    DURATION,
    DYN,
    ERROR,
    INT,
    IP,
    NULL,
    SEMVER,
    STRING,
    TAINT,
    TIMESTAMP,
    Type,
    describe,
    list_of,
    map_of,
    optional_of,
    type_of,
    variable,
)

A, B, C = variable("A"), variable("B"), variable("C")


def nested(levels: int, inner: Type = INT) -> Type:
    for _ in range(levels):
        inner = list_of(inner)
    return inner


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        pytest.param(INT, INT, True, id="the same"),
        pytest.param(INT, STRING, False, id="another simple type"),
        pytest.param(DURATION, TIMESTAMP, False, id="another well-known type"),
        pytest.param(TAINT, SEMVER, False, id="another object"),
        pytest.param(IP, CIDR, False, id="another opaque type"),
        pytest.param(INT, list_of(INT), False, id="another kind"),
        pytest.param(DYN, INT, True, id="dyn is given"),
        pytest.param(BYTES, DYN, True, id="dyn is wanted"),
        pytest.param(ERROR, BOOL, True, id="a mistake is reported once"),
        pytest.param(NULL, NULL, True, id="null and null"),
        pytest.param(NULL, TAINT, True, id="null for an object"),
        pytest.param(DURATION, NULL, True, id="a duration for null"),
        pytest.param(NULL, optional_of(INT), True, id="null for an opaque type"),
        pytest.param(NULL, STRING, False, id="null for a simple type"),
        pytest.param(list_of(INT), NULL, False, id="a list for null"),
        pytest.param(NULL, type_of(INT), False, id="null for a type"),
        pytest.param(list_of(INT), list_of(DYN), True, id="lists by element"),
        pytest.param(list_of(INT), list_of(STRING), False, id="lists of other elements"),
        pytest.param(map_of(INT, DYN), map_of(DYN, BOOL), True, id="maps by key and value"),
        pytest.param(map_of(INT, INT), map_of(INT, BOOL), False, id="maps of other values"),
        pytest.param(type_of(INT), type_of(BOOL), True, id="any two types of types"),
        pytest.param(optional_of(INT), optional_of(BOOL), False, id="optionals by value"),
        pytest.param(Type("opaque", "optional_type"), optional_of(INT), False, id="no parameters"),
        pytest.param(A, INT, True, id="a variable is given"),
        pytest.param(INT, A, True, id="a variable is wanted"),
        pytest.param(A, B, True, id="two variables"),
        pytest.param(A, list_of(A), False, id="a list of itself is wanted"),
        pytest.param(list_of(map_of(INT, A)), A, False, id="a list of itself is given"),
    ],
)
def test_types_fit(given: Type, wanted: Type, expected: bool) -> None:
    assert Unifier().assignable(given, wanted) is expected


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        pytest.param([(A, INT)], INT, id="what it meets"),
        pytest.param([(list_of(A), list_of(list_of(BOOL)))], list_of(BOOL), id="inside of lists"),
        pytest.param([(A, B), (B, INT)], INT, id="by way of another variable"),
        pytest.param([(A, INT), (A, DYN)], DYN, id="the more general type"),
        pytest.param([(A, DYN), (A, INT)], DYN, id="the more general type came first"),
        pytest.param([(A, INT), (A, INT)], INT, id="the same type again"),
        pytest.param([(A, INT), (A, STRING)], INT, id="not a type that does not fit"),
        pytest.param([(A, list_of(B)), (B, A)], list_of(B), id="not a list of itself"),
        pytest.param([(A, list_of(DYN)), (list_of(A), A)], DYN, id="nor where dyn would allow it"),
        pytest.param([(A, B), (B, C), (A, C), (C, A)], A, id="not a circle"),
        pytest.param([(A, TAINT), (NULL, A)], TAINT, id="an object, if null comes later"),
        pytest.param([(NULL, A), (TAINT, A)], NULL, id="null, if an object comes later"),
        pytest.param([(A, list_of(B)), (A, list_of(INT))], list_of(INT), id="parts of a type"),
        pytest.param([], A, id="nothing"),
    ],
)
def test_a_variable_becomes(pairs: list[tuple[Type, Type]], found: Type) -> None:
    unifier = Unifier()
    for given, wanted in pairs:
        unifier.assignable(given, wanted)

    assert unifier.resolve(A) == found


def test_what_does_not_fit_teaches_nothing() -> None:
    unifier = Unifier()
    unifier.assignable(A, INT)

    assert not unifier.all_assignable((DYN, B, STRING), (A, BOOL, INT))
    assert unifier.resolve(map_of(A, B)) == map_of(INT, B)


def test_lists_of_types_have_one_length() -> None:
    assert not Unifier().all_assignable((INT,), (INT, INT))
    assert Unifier().all_assignable((), ())


def test_what_nobody_knows_is_dyn_in_the_end() -> None:
    unifier = Unifier()
    unifier.assignable(A, list_of(B))

    assert unifier.settle(map_of(STRING, A)) == map_of(STRING, list_of(DYN))


def test_every_call_has_variables_of_its_own() -> None:
    unifier = Unifier()
    first, result = unifier.instantiate(OVERLOADS["index_list"])
    second, _ = unifier.instantiate(OVERLOADS["index_list"])

    assert first == (list_of(variable("_var0")), INT)
    assert result == variable("_var0")
    assert second == (list_of(variable("_var1")), INT)
    assert unifier.fresh() == variable("_var2")


def test_a_call_without_variables_is_itself() -> None:
    overload = OVERLOADS["contains_string"]

    assert Unifier().instantiate(overload) == (overload.parameters, overload.result)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(INT, INT, INT, id="equal types"),
        pytest.param(DYN, INT, DYN, id="dyn first"),
        pytest.param(INT, DYN, DYN, id="dyn second"),
        pytest.param(A, INT, A, id="a variable first"),
        pytest.param(INT, A, A, id="a variable second"),
        pytest.param(NULL, TAINT, TAINT, id="kinds that differ"),
        pytest.param(type_of(INT), type_of(DYN), type_of(INT), id="types of types"),
        pytest.param(list_of(INT), list_of(DYN), list_of(DYN), id="by parameters"),
        pytest.param(list_of(DYN), list_of(INT), list_of(DYN), id="by parameters, turned round"),
        pytest.param(SEMVER, TAINT, TAINT, id="names that differ"),
        pytest.param(
            Type("opaque", "optional_type"), optional_of(INT), optional_of(INT), id="no parameters"
        ),
    ],
)
def test_the_most_general_type(one: Type, other: Type, expected: Type) -> None:
    assert most_general(one, other) == expected


def from_deep_below(levels: int, question: Callable[[], object]) -> object:
    return from_deep_below(levels - 1, question) if levels else question()


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(lambda: Unifier().assignable(nested(255), nested(254, A)), id="unify"),
        pytest.param(lambda: Unifier().resolve(nested(255, A)), id="resolve"),
        pytest.param(lambda: nested(255) == nested(255), id="compare"),
        pytest.param(lambda: {nested(255): 1}, id="look up"),
        pytest.param(lambda: most_general(nested(255), nested(255, DYN)), id="generalize"),
        pytest.param(lambda: describe(nested(255)), id="describe"),
        pytest.param(lambda: str(nested(255)), id="print"),
    ],
)
def test_types_as_deep_as_literals_are_fine(question: Callable[[], object]) -> None:
    assert from_deep_below(150, question)


@pytest.mark.parametrize(
    "type_",
    [
        pytest.param(nested(MAX_DEPTH), id="too deep"),
        pytest.param(
            map_of(*[map_of(nested(250), nested(250))] * 2), id=f"more than {MAX_WEIGHT} parts"
        ),
    ],
)
def test_a_type_can_be_too_large(type_: Type) -> None:
    with pytest.raises(TypeTooLargeError):
        checked_size(type_)


def test_a_type_can_become_too_large() -> None:
    unifier = Unifier()
    unifier.assignable(A, nested(200, B))
    unifier.assignable(B, nested(200))

    with pytest.raises(TypeTooLargeError):
        unifier.resolve(A)


def test_a_chain_of_variables_can_be_too_long() -> None:
    unifier = Unifier()
    for index in range(MAX_DEPTH + 1):
        unifier.assignable(variable(f"v{index}"), variable(f"v{index + 1}"))

    with pytest.raises(TypeTooLargeError):
        unifier.resolve(variable(f"v{MAX_DEPTH + 1}"))


def test_work_that_doubles_with_every_level_ends() -> None:
    unifier = Unifier()

    def double(levels: int) -> None:
        for level in range(levels):
            inner = variable(f"v{level}")
            unifier.assignable(variable(f"v{level + 1}"), map_of(inner, inner))

    with pytest.raises(TypeTooLargeError):
        double(40)
