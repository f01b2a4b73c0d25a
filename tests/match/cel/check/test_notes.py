import pytest

from extender.match.cel.check.notes import Notes
from extender.match.cel.check.unification import MAX_DEPTH, TypeTooLargeError
from extender.match.cel.syntax.ast import Ident
from extender.match.cel.syntax.source import Issue
from extender.match.cel.types import DYN, ERROR, INT, STRING, TAINT, Type, list_of, type_of

X = Ident(7, 3, "x")


def test_a_refused_node_goes_on_with_the_error_type() -> None:
    notes = Notes()
    notes.undeclared(X, "x")

    assert notes.issues == [Issue(3, "undeclared reference to 'x' (in container '')")]
    assert notes.types == {7: ERROR}


def test_a_mismatch_prints_types_as_they_are_known_so_far() -> None:
    notes = Notes()
    notes.mismatch(X, INT, list_of(notes.unifier.fresh()))

    assert notes.issues == [Issue(3, "expected type 'int' but found 'list(_var0)'")]


def test_a_local_variable_hides_what_is_global_until_its_scope_ends() -> None:
    notes = Notes()

    assert notes.look_up("taint") == TAINT
    notes.enter({"taint": INT})
    notes.enter({"taint": STRING})
    assert notes.look_up("taint") == STRING
    notes.leave({"taint"})
    assert notes.look_up("taint") == INT
    notes.leave(("taint",))
    assert notes.look_up("taint") == TAINT


@pytest.mark.parametrize(
    ("name", "type_", "names"),
    [
        pytest.param("taint", TAINT, {7: "taint"}, id="the taint"),
        pytest.param(".taint", TAINT, {7: "taint"}, id="with a leading dot"),
        pytest.param("int", type_of(INT), {7: "int"}, id="a type"),
        pytest.param("local", DYN, {}, id="a local variable"),
        pytest.param(".local", DYN, {}, id="a local variable with a leading dot"),
    ],
)
def test_a_declared_name_is_resolved(name: str, type_: Type, names: dict[int, str]) -> None:
    notes = Notes()
    notes.enter({"local": DYN})

    assert notes.resolve_name(X, name)
    assert notes.types == {7: type_}
    assert notes.names == names


def test_an_unknown_name_is_left_to_the_caller() -> None:
    notes = Notes()

    assert not notes.resolve_name(X, "x")
    assert (notes.types, notes.issues) == ({}, [])


@pytest.mark.parametrize(
    ("type_name", "field", "type_", "messages"),
    [
        pytest.param("kubernetes.Taint", "key", STRING, [], id="a field"),
        pytest.param("kubernetes.Taint", "no", ERROR, ["undefined field 'no'"], id="no field"),
        pytest.param("int", "key", ERROR, ["undefined field 'key'"], id="a type without any"),
        pytest.param("map", "key", DYN, [], id="anything of a map"),
        pytest.param(
            "net.IP",
            "key",
            ERROR,
            ["unexpected failed resolution of 'net.IP'"],
            id="a type that upstream does not know as an object",
        ),
    ],
)
def test_an_object_has_fields(type_name: str, field: str, type_: Type, messages: list[str]) -> None:
    notes = Notes()

    assert notes.field_type(3, type_name, field) == type_
    assert [issue.message for issue in notes.issues] == messages


def test_the_result_holds_no_variables() -> None:
    notes = Notes()
    known, unknown = notes.unifier.fresh(), notes.unifier.fresh()
    notes.set(X, list_of(known))
    notes.set(Ident(8, 0, "y"), unknown)
    notes.unifier.assignable(known, INT)

    assert notes.checked(X).types == {7: list_of(INT), 8: DYN}


def test_no_node_has_a_type_that_is_too_large() -> None:
    notes = Notes()
    type_ = INT
    for _ in range(MAX_DEPTH):
        type_ = list_of(type_)

    with pytest.raises(TypeTooLargeError):
        notes.set(X, type_)
