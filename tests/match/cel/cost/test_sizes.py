"""What is known of a node depends on the first rule that knows."""

from extender.match.cel.cost.bounds import (
    COMPUTED,
    DECLARED,
    ELSEWHERE,
    ONE,
    UNKNOWN,
    Bounds,
    Entries,
    exactly,
)
from extender.match.cel.cost.sizes import KnownSizes, Variable
from extender.match.cel.syntax.ast import Call, Constant, Ident
from extender.match.cel.types import INT, STRING

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
