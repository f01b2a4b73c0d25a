from itertools import count

from extender.match.cel.copies import Copier
from extender.match.cel.factory import Factory
from tests.match.cel.outlines import outline, outline_of


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
