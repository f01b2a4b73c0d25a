"""What is known while an expression is planned."""

import pytest

from extender.match.cel.plan.code import FIRST_LOCAL, Code, constant
from extender.match.cel.plan.scope import Scope, Variable, plan_each
from extender.match.cel.syntax.ast import Ident
from tests.match.cel.expressions import checked


def scope(text: str, *, exact: bool = False) -> Scope:
    return Scope(checked(text), exact=exact)


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        pytest.param("taint.key == 'a'", True, id="plain types"),
        pytest.param("[] == [taint.key]", True, id="an empty list"),
        pytest.param("{} == {taint.key: 1}", True, id="an empty map"),
        pytest.param("[].size() == 0", True, id="an empty list of anything"),
        pytest.param("{}.size() == 0", True, id="an empty map of anything"),
        pytest.param("[[]].size() == 1", False, id="a list of lists of anything"),
        pytest.param("{'a': dyn(1)}.size() == 1", False, id="a map of dyn"),
        pytest.param("optional.of(taint.key).hasValue()", True, id="an optional"),
        pytest.param("dyn(taint.key) == 'a'", False, id="dyn"),
        pytest.param("[dyn(1)].size() == 1", False, id="a list of dyn"),
        pytest.param("null == taint", False, id="null stands for objects"),
        pytest.param("optional.of(taint.?key).hasValue()", False, id="an optional in an optional"),
        pytest.param("optional.of(type(1)).hasValue()", False, id="a type in an optional"),
        pytest.param("optional.of([dyn(1)]).hasValue()", False, id="dyn in an optional"),
    ],
)
def test_whether_values_have_their_static_types(text: str, sound: bool) -> None:
    assert scope(text).sound is sound


def test_the_innermost_variable_of_a_name_is_meant() -> None:
    state = scope("true")
    outer, inner = Variable(state.new_slot()), Variable(state.new_slot())
    state.enter("x", outer)
    state.enter("x", inner)

    assert state.variable("x") is inner
    state.leave("x")
    assert state.variable("x") is outer
    assert (outer.slot, inner.slot, state.slots) == (FIRST_LOCAL, FIRST_LOCAL + 1, FIRST_LOCAL + 2)


def test_only_an_exact_plan_meters_its_nodes_and_never_its_constants() -> None:
    code = Code(lambda _: 1, 5)

    assert scope("true").settle(code) is code
    assert scope("true", exact=True).settle(code).charges_itself
    assert not scope("true", exact=True).settle(constant(1)).charges_itself


def test_nodes_are_planned_in_their_order() -> None:
    a, b = Ident(1, 0, "a"), Ident(2, 0, "b")
    first, second = constant(1), constant(2)
    planned = plan_each([a, b])

    assert next(planned) is a
    assert planned.send(first) is b
    with pytest.raises(StopIteration) as stop:
        planned.send(second)
    assert stop.value.value == [first, second]
