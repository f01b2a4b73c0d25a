from itertools import count

import pytest

from extender.match.cel.syntax.ast import Expr
from extender.match.cel.syntax.factory import MAX_COPIED, Copier, Factory
from extender.match.cel.syntax.source import HaltError
from tests.match.cel.outlines import complaints, ids_of, outline, outline_of, parsed


def factory(offset: int) -> Factory:
    ids = count(1)
    return Factory(lambda: next(ids), Copier(lambda: next(ids)), offset)


def test_everything_that_a_macro_makes_is_where_it_was_called() -> None:
    assert outline_of("a.map(x, t)", places=True) == (
        "(fold@5 list x,,@result a@0 ; []@5 ; True@5 ; (_+_@5 @result@5 [t@9]@5) ; @result@5)"
    )


def test_a_step_may_have_a_condition() -> None:
    make = factory(3)

    assert outline(make.when(None, make.constant(1, "int"))) == "1"
    assert outline(make.when(make.ident("p"), make.map())) == "(_?_:_ p {} @result)"


def test_a_copy_has_ids_of_its_own() -> None:
    make = factory(3)
    original = make.call("f", make.ident("a"), target=make.presence(make.ident("b"), "c"))

    copy = make.copy(original)

    assert outline(copy, places=True) == outline(original, places=True)
    assert copy.id > original.id


def copier() -> Copier:
    ids = count(10_000)
    return Copier(lambda: next(ids))


@pytest.mark.parametrize(
    "text",
    [
        "1u",
        "a",
        "a.b.c",
        "has(a.b)",
        "a + b",
        "f()",
        "a.f(b, c)",
        "[a, ?b]",
        "{a: b, ?c: d}",
        "T{a: b, ?c: d}",
        "a.map(x, x + b)",
    ],
)
def test_a_copy_is_the_same_but_for_its_ids(text: str) -> None:
    original = parsed(text)

    copy = copier().copy(original, 0)

    assert outline(copy) == outline(original)
    assert len(ids_of(copy)) == len(ids_of(original))
    assert not set(ids_of(copy)) & set(ids_of(original))


def test_nodes_keep_their_places_but_entries_do_not() -> None:
    copy = copier().copy(parsed("[{a: b}, T{a: b}]"), 77)

    assert outline(copy, places=True) == "[{a@2:@77 b@5}@1 T{a:@77 b@14}@10]@0"


def test_a_placeholder_can_be_copied() -> None:
    assert copier().copy(Expr(1, 5), 0) == Expr(10_000, 5)


def test_deep_expressions_are_copied() -> None:
    deep = parsed("f(a || b && !" * 240 + "a" + ")" * 240)

    copy = copier().copy(deep, 0)

    assert len(ids_of(copy)) == len(ids_of(deep))


def test_copies_are_limited_in_sum() -> None:
    copies = copier()
    original = parsed("a.b")
    for _ in range(MAX_COPIED // 2):
        copies.copy(original, 0)

    with pytest.raises(HaltError, match="macros copy more than 10000 nodes"):
        copies.copy(original, 0)


def test_chains_of_macros_that_double_their_operand_end_early() -> None:
    assert complaints("a" + ".optMap(x, x)" * 8) == []
    assert complaints("a" + ".optMap(x, x)" * 200) == ["-1:0: macros copy more than 10000 nodes"]
