"""What is known of a node depends on the first rule that knows."""

import pytest

from extender.match.cel.cost.sizes import (
    COMPUTED,
    DECLARED,
    ELSEWHERE,
    KnownSizes,
    Path,
    Variable,
    below,
    of_literal,
    of_type,
)
from extender.match.cel.library.estimates import ONE, UNKNOWN, Bounds, Entries, exactly
from extender.match.cel.syntax.ast import (
    Call,
    Constant,
    ConstantValue,
    Expr,
    Ident,
    Kind,
    ListExpr,
    MapEntry,
    MapExpr,
)
from extender.match.cel.types import (
    BOOL,
    BYTES,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TAINT,
    TIMESTAMP,
    Type,
    list_of,
    optional_of,
)

TEXT = Call(1, 0, "f", ())
NUMBER = Call(2, 0, "f", ())
NAME = Ident(3, 0, ".x")
WRITTEN = Constant(4, 0, "four", "string")
ENTRIES = Entries("list", ONE, exactly(9))
KEY = ("taint", "key")


def known_sizes() -> KnownSizes:
    return KnownSizes({1: STRING, 2: INT, 3: STRING, 4: STRING})


def test_nothing_is_known_of_a_text() -> None:
    known = known_sizes()

    assert known.size(TEXT) is None
    assert known.size_or_unknown(TEXT) == UNKNOWN
    assert known.entries(TEXT) is None
    assert known.path(TEXT) == COMPUTED


def test_what_was_learned_comes_before_what_is_written() -> None:
    known = known_sizes()

    assert known.size_or_unknown(WRITTEN) == exactly(4)

    known.learn(WRITTEN, exactly(7), ENTRIES)

    assert known.size(WRITTEN) == exactly(7)
    assert known.entries(WRITTEN) == ENTRIES


def test_what_was_learned_is_not_forgotten() -> None:
    known = known_sizes()
    known.learn(TEXT, exactly(7), ENTRIES)
    known.learn(TEXT, None, None)

    assert known.size(TEXT) == exactly(7)
    assert known.entries(TEXT) == ENTRIES


def test_the_path_comes_before_the_type() -> None:
    known = known_sizes()

    assert known.size(NUMBER) == ONE

    known.learn_path(NUMBER, KEY)

    assert known.size(NUMBER) == DECLARED[KEY]


def test_a_variable_gives_its_path_and_then_its_size() -> None:
    known = known_sizes()
    known.enter("x", Variable(ELSEWHERE, Bounds(1, 2), ENTRIES))

    assert known.size(NAME) == Bounds(1, 2)
    assert known.entries(NAME) == ENTRIES

    known.enter("x", Variable(KEY, None))

    assert known.size(NAME) == DECLARED[KEY]
    assert known.entries(NAME) is None
    assert known.variable("x") == Variable(KEY, None)


def test_behind_its_fold_a_variable_stands_for_what_it_did_before() -> None:
    known = known_sizes()
    known.enter("x", Variable(ELSEWHERE, Bounds(1, 2)))
    known.enter("x", Variable(ELSEWHERE, Bounds(3, 4)))
    known.leave("x")

    assert known.size(NAME) == Bounds(1, 2)

    known.leave("x")

    assert known.size(NAME) is None
    assert known.variable("x") is None


def test_a_copy_has_the_same_sizes() -> None:
    known = known_sizes()
    known.learn(TEXT, exactly(7), ENTRIES)
    known.copy(TEXT, NUMBER)

    assert known.size(NUMBER) == exactly(7)
    assert known.entries(NUMBER) == ENTRIES


X = Ident(1, 0, "x")


def constant(value: ConstantValue, kind: Kind) -> Constant:
    return Constant(1, 0, value, kind)


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        pytest.param(COMPUTED, "taint", ("taint",), id="the taint"),
        pytest.param(("taint",), "key", ("taint", "key"), id="a field of the taint"),
        pytest.param(("taint",), "other", ELSEWHERE, id="no field of the taint"),
        pytest.param(("taint", "key"), "key", ELSEWHERE, id="below a field"),
        pytest.param(COMPUTED, "x", ELSEWHERE, id="another name"),
        pytest.param(ELSEWHERE, "taint", ELSEWHERE, id="a field of another name"),
    ],
)
def test_only_what_is_declared_has_a_path(path: Path, name: str, expected: Path) -> None:
    assert below(path, name) == expected


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        pytest.param(constant("é世", "string"), exactly(2), id="characters, not bytes"),
        pytest.param(constant(b"abc", "bytes"), exactly(3), id="bytes"),
        pytest.param(constant(7, "uint"), ONE, id="a number"),
        pytest.param(constant(None, "null"), ONE, id="null"),
        pytest.param(ListExpr(1, 0, (X, X)), exactly(2), id="a list"),
        pytest.param(MapExpr(1, 0, (MapEntry(2, 0, X, X, optional=False),)), ONE, id="a map"),
        pytest.param(X, None, id="a name"),
    ],
)
def test_what_is_written_has_a_size(expr: Expr, expected: Bounds | None) -> None:
    assert of_literal(expr) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        pytest.param(BOOL, ONE, id="bool"),
        pytest.param(TIMESTAMP, ONE, id="timestamp"),
        pytest.param(optional_of(optional_of(DURATION)), ONE, id="optional of optional duration"),
        pytest.param(NULL, None, id="null"),
        pytest.param(STRING, None, id="string"),
        pytest.param(optional_of(BYTES), None, id="optional of bytes"),
        pytest.param(list_of(INT), None, id="list of int"),
        pytest.param(TAINT, None, id="object"),
        pytest.param(DYN, None, id="dyn"),
    ],
)
def test_scalars_have_a_size(type_: Type, expected: Bounds | None) -> None:
    assert of_type(type_) == expected
