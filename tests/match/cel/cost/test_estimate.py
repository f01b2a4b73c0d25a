"""Costs of nodes, as the real cel-go estimated them, and how the walk bears large expressions."""

from itertools import pairwise

import pytest

from extender.match.cel.cost.estimate import estimate_call
from extender.match.cel.library import OVERLOADS
from extender.match.cel.library.estimates import ONE, Bounds, Entries, Estimate, Operand, exactly
from extender.match.cel.syntax.ast import Ident
from extender.match.cel.types import STRING, list_of
from tests.match.cel.estimating import estimated


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("true", 0, id="a constant is free"),
        pytest.param("taint == taint", 2, id="a name costs 1"),
        pytest.param("taint.effect == 'a'", 3, id="a field costs 1"),
        pytest.param("has(taint.value)", 1, id="a question for a field is free"),
        pytest.param("dyn(taint).key == 'a'", 3, id="a field of a dyn is free"),
        pytest.param("{'a': 1}.a == 1", 32, id="a field of a map costs 1"),
        pytest.param("taint.?value.orValue('none') == 'gpu'", 4, id="an optional field"),
        pytest.param(
            "type(1) == google.protobuf.Timestamp", 1_844_674_407_370_955_266, id="a type is a name"
        ),
        pytest.param(".taint.key == .taint.value", 11, id="a leading dot changes nothing"),
        pytest.param(
            "optional.of(taint.key).hasValue()", 4, id="a namespaced function has no receiver"
        ),
        pytest.param("[taint.key] == ['a']", 23, id="a list costs 10"),
        pytest.param("[] == [1]", 20, id="an empty list is of no size"),
        pytest.param("{'a': taint.key, taint.value: 'b'} == {'a': 'b'}", 65, id="a map costs 30"),
        pytest.param("{} == {'a': 1}", 60, id="an empty map is of no size"),
        pytest.param("kubernetes.Taint{key: taint.value} == taint", 43, id="an object costs 40"),
        pytest.param("kubernetes.Taint{} == taint", 41, id="an object of nothing"),
        pytest.param("dyn(taint.key).contains('abcdefghijk')", 67, id="dyn keeps the size"),
        pytest.param("dyn(['abc'])[0] == taint.key", 15, id="dyn keeps what is in a list"),
        pytest.param(
            "['a', 'abcdefghijkl'][0] == taint.key", 15, id="an element has the size of the largest"
        ),
        pytest.param(
            "[string(1)][0] == taint.key", 46, id="an element of a size that nobody knows"
        ),
        pytest.param("{'a': 'abcdefghijkl'}['a'] == taint.key", 35, id="a value of a map"),
        pytest.param(
            "taint.key.split('/')[0] == 'env.example.com'", 69, id="an element of a computed list"
        ),
        pytest.param("lists.range(3)[0] == 1", 16, id="an element of a computed list of numbers"),
        pytest.param(
            "taint.key.charAt(0).contains('a')",
            1_844_674_407_370_955_267,
            id="the result of a call of no known size",
        ),
        pytest.param("dyn(1) + dyn(2) == 3", 4, id="overloads that fit are united"),
        pytest.param(
            "(dyn(taint.key) + dyn('a')).contains('a')", 68, id="sizes of overloads are united"
        ),
        pytest.param("[1, 2, 3].all(x, x > 1)", 26, id="all stops early, but not for the estimate"),
        pytest.param("[1, 2, 3].exists(x, x == 2)", 29, id="exists"),
        pytest.param("[1, 2, 3].exists_one(x, x == 2)", 24, id="exists_one"),
        pytest.param("[1, 2, 3].map(x, x * 2) == [2, 4, 6]", 74, id="map"),
        pytest.param("[1, 2, 3].filter(x, x > 1) == [2, 3]", 77, id="filter"),
        pytest.param(
            "string(1).split('').all(x, true)",
            18_446_744_073_709_551_615,
            id="a fold over what nobody can count",
        ),
        pytest.param(
            "['abcdefghijkl'].all(x, x == taint.key)",
            19,
            id="the variable has the size of an element",
        ),
        pytest.param(
            "{'abcdefghijkl': 1}.all(k, k == taint.key)", 39, id="the variable is the key of a map"
        ),
        pytest.param(
            "['abcdefghijkl'].all(i, v, i == 0 && v == taint.key)", 21, id="two variables of a list"
        ),
        pytest.param(
            "{'abcdefghijkl': taint.value}.all(k, v, k == v)", 40, id="two variables of a map"
        ),
        pytest.param(
            "taint.key.split('').all(i, v, i == 0 && v == '')",
            1_969,
            id="two variables of a computed list",
        ),
        pytest.param("dyn(taint).all(k, k == 'key')", 3, id="one variable of a computed map"),
        pytest.param(
            "optional.of({'a': 'b'}).value().all(k, v, k == v)",
            18_446_744_073_709_551_615,
            id="two variables of a computed map",
        ),
        pytest.param(
            "[1, 2, 3].map(x, 'abcdefghijkl').map(y, y == taint.key) == [true]",
            130,
            id="a folded list is as long as its range",
        ),
        pytest.param(
            "{'a': 1}.transformMap(k, v, 'b')['a'] == taint.key",
            99,
            id="a transformed map does not know its values",
        ),
        pytest.param(
            "[1].all(x, true) == [2].all(x, true)", 29, id="the result of all is a scalar"
        ),
        pytest.param(
            "['a'].all(x, ['abcdefghijkl'].all(x, x == taint.key))",
            33,
            id="the inner variable hides the outer one",
        ),
        pytest.param(
            "['a'].all(x, ['bcdefghijklmn'].all(x, true) && x == taint.key)",
            32,
            id="behind a fold the outer variable is back",
        ),
        pytest.param(
            "['abcdefghijkl'].all(taint, taint.matches('a'))", 17, id="a variable hides the taint"
        ),
        pytest.param(
            "['abcdefghijkl'].all(taint, .taint.matches('a'))",
            17,
            id="a dot does not bring the taint back",
        ),
        pytest.param(
            "taint.?value.optMap(x, x + 'a').hasValue()",
            1_844_674_407_370_955_283,
            id="what an optional holds has no known size",
        ),
        pytest.param(
            "optional.of(1).optMap(x, ['abcdefghijkl']).value()[0] == taint.key",
            61,
            id="a bound result has the size of what it is",
        ),
        pytest.param(
            "optional.of('a').optFlatMap(x, optional.of(x)).hasValue()",
            17,
            id="optFlatMap binds as optMap does",
        ),
        pytest.param(
            "taint.?key.optMap(x, x).optMap(y, y).hasValue()",
            51,
            id="the target of optMap is counted twice",
        ),
        pytest.param(
            "{'taint': 'abcdef'}.taint.matches('x')",
            32,
            id="a field called as the taint has its size",
        ),
        pytest.param(
            "{'taint': {'key': 'abcdef'}}.taint.key.matches('x')", 94, id="so has a field of that"
        ),
        pytest.param(
            "[{'taint': 'abcdef'}][0].taint.matches('x')",
            1_844_674_407_370_955_306,
            id="an element called as the taint has not",
        ),
    ],
)
def test_a_node(expression: str, expected: int) -> None:
    assert estimated(expression) == expected


def test_each_opt_map_doubles_what_it_maps() -> None:
    chains = ["taint.?value" + ".optMap(x, x)" * times + ".hasValue()" for times in range(10)]
    costs = [estimated(chain) for chain in chains]

    assert costs[:4] == [3, 19, 51, 115]
    assert all(second == 2 * first + 13 for first, second in pairwise(costs))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("(" * 240 + "true" + ")" * 240, 0, id="parentheses"),
        pytest.param("!(" * 120 + "true" + ")" * 120, 120, id="operators"),
        pytest.param("[" * 120 + "]" * 120 + " == []", 1210, id="lists"),
        pytest.param("taint.key" + ".trim()" * 200 + " == ''", 6402, id="a chain of calls"),
        pytest.param("dyn(taint)" + ".a" * 200 + " == ''", 2, id="a chain of fields"),
        pytest.param(" || ".join(["true"] * 1200), 0, id="a long disjunction"),
        pytest.param("[1].all(x, " * 60 + "true" + ")" * 60, 840, id="folds inside of folds"),
    ],
)
def test_what_is_deep_or_long_is_walked(expression: str, expected: int) -> None:
    assert estimated(expression) == expected


ENTRIES = Entries("list", ONE, exactly(5))
LIST = Operand(Ident(1, 0, "l"), list_of(STRING), exactly(100), exactly(4), ENTRIES)
TEXT = Operand(Ident(2, 0, "s"), STRING, exactly(1000), exactly(40), None)


@pytest.mark.parametrize(
    ("overload", "operands", "expected"),
    [
        pytest.param(
            "list_reverse",
            (LIST,),
            Estimate(exactly(115), exactly(4)),
            id="a new list",
        ),
        pytest.param(
            "string_trim",
            (TEXT,),
            Estimate(exactly(1004), exactly(40)),
            id="a text of the same size",
        ),
        pytest.param(
            "string_to_bytes",
            (TEXT,),
            Estimate(exactly(1004), Bounds(40, 160)),
            id="a text that may grow",
        ),
        pytest.param(
            "size_string",
            (TEXT,),
            Estimate(exactly(1001)),
            id="1 where nothing else is said",
        ),
        pytest.param(
            "add_list",
            (LIST, LIST),
            Estimate(exactly(201), exactly(8), ENTRIES),
            id="all operands are counted",
        ),
        pytest.param(
            "logical_or",
            (LIST, TEXT),
            Estimate(Bounds(100, 1100)),
            id="operands that may be skipped are at most counted",
        ),
    ],
)
def test_a_call_costs_its_rule_and_its_operands(
    overload: str, operands: tuple[Operand, ...], expected: Estimate
) -> None:
    found = estimate_call(OVERLOADS[overload], operands)

    assert (found.cost, found.size, found.entries) == (
        expected.cost,
        expected.size,
        expected.entries,
    )
