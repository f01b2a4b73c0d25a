import pytest

from tests.match.cel.outlines import complaints, outline_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("has(a.b.c)", "(has (get a b) c)"),
        (
            "a.all(x, p)",
            "(fold all x,,@result a ; True ; (@not_strictly_false @result)"
            " ; (_&&_ @result p) ; @result)",
        ),
        (
            "a.exists(x, p)",
            "(fold exists x,,@result a ; False ; (@not_strictly_false (!_ @result))"
            " ; (_||_ @result p) ; @result)",
        ),
        (
            "a.exists_one(x, p)",
            "(fold exists_one x,,@result a ; 0 ; True"
            " ; (_?_:_ p (_+_ @result 1) @result) ; (_==_ @result 1))",
        ),
        ("a.map(x, t)", "(fold list x,,@result a ; [] ; True ; (_+_ @result [t]) ; @result)"),
        (
            "a.map(x, p, t)",
            "(fold list x,,@result a ; [] ; True ; (_?_:_ p (_+_ @result [t]) @result) ; @result)",
        ),
        (
            "a.filter(x, p)",
            "(fold list x,,@result a ; [] ; True ; (_?_:_ p (_+_ @result [x]) @result) ; @result)",
        ),
        (
            "a.optMap(x, t)",
            "(_?_:_ (.hasValue a) (optional.of (fold bind #unused,,x [] ; (.value a) ; False"
            " ; x ; t)) (optional.none))",
        ),
        (
            "a.optFlatMap(x, t)",
            "(_?_:_ (.hasValue a) (fold bind #unused,,x [] ; (.value a) ; False ; x ; t)"
            " (optional.none))",
        ),
        (
            "a.sortBy(x, k)",
            "(fold bind #unused,,@__sortBy_input__ [] ; a ; False ; @__sortBy_input__"
            " ; (.@sortByAssociatedKeys @__sortBy_input__ (fold list x,,@result @__sortBy_input__"
            " ; [] ; True ; (_+_ @result [k]) ; @result)))",
        ),
    ],
)
def test_a_macro_with_one_variable_is_expanded(text: str, expected: str) -> None:
    assert outline_of(text) == expected


ONE = "0 ; True ; (_?_:_ p (_+_ @result 1) @result) ; (_==_ @result 1)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a.all(k, v, p)",
            "all k,v,@result a ; True ; (@not_strictly_false @result) ; (_&&_ @result p) ; @result",
        ),
        (
            "a.exists(k, v, p)",
            "exists k,v,@result a ; False ; (@not_strictly_false (!_ @result))"
            " ; (_||_ @result p) ; @result",
        ),
        ("a.exists_one(k, v, p)", f"exists_one k,v,@result a ; {ONE}"),
        ("a.existsOne(k, v, p)", f"exists_one k,v,@result a ; {ONE}"),
        (
            "a.transformList(k, v, t)",
            "list k,v,@result a ; [] ; True ; (_+_ @result [t]) ; @result",
        ),
        (
            "a.transformList(k, v, p, t)",
            "list k,v,@result a ; [] ; True ; (_?_:_ p (_+_ @result [t]) @result) ; @result",
        ),
        (
            "a.transformMap(k, v, t)",
            "map k,v,@result a ; {} ; True ; (cel.@mapInsert @result k t) ; @result",
        ),
        (
            "a.transformMap(k, v, p, t)",
            "map k,v,@result a ; {} ; True"
            " ; (_?_:_ p (cel.@mapInsert @result k t) @result) ; @result",
        ),
        (
            "a.transformMapEntry(k, v, t)",
            "map k,v,@result a ; {} ; True ; (cel.@mapInsert @result t) ; @result",
        ),
        (
            "a.transformMapEntry(k, v, p, t)",
            "map k,v,@result a ; {} ; True"
            " ; (_?_:_ p (cel.@mapInsert @result t) @result) ; @result",
        ),
    ],
)
def test_a_macro_with_two_variables_is_expanded(text: str, expected: str) -> None:
    assert outline_of(text) == f"(fold {expected})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("has()", "(has)"),
        ("has(a.b, c)", "(has a.b c)"),
        ("a.has(b)", "(.has a b)"),
        ("all(x, p)", "(all x p)"),
        ("a.all(x)", "(.all a x)"),
        ("a.existsOne(x, p)", "(.existsOne a x p)"),
        ("a.map(x, p, q, r)", "(.map a x p q r)"),
        ("a.filter(x, y, p)", "(.filter a x y p)"),
        ("cel.bind(x, 1, x)", "(.bind cel x 1 x)"),
    ],
)
def test_other_calls_stay_as_they_are(text: str, expected: str) -> None:
    assert outline_of(text).replace("(get a b)", "a.b") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("has(a)", "1:5: invalid argument to has() macro"),
        ("has(a['b'])", "1:6: invalid argument to has() macro"),
        ("a.all(1, p)", "1:7: argument must be a simple name"),
        ("a.exists(x.y, p)", "1:11: argument must be a simple name"),
        ("a.map(1, t)", "1:7: argument is not an identifier"),
        ("a.filter(1, t)", "1:10: argument is not an identifier"),
        ("a.all(__result__, p)", "1:7: iteration variable overwrites accumulator variable"),
        ("a.map(__result__, p)", "1:7: iteration variable overwrites accumulator variable"),
        ("a.all(1, y, p)", "1:7: argument must be a simple name"),
        ("a.all(x, 1, p)", "1:10: argument must be a simple name"),
        ("a.all(x, x, p)", "1:10: duplicate variable name: x"),
        ("a.all(__result__, y, p)", "1:7: iteration variable overwrites accumulator variable"),
        ("a.all(x, __result__, p)", "1:10: iteration variable overwrites accumulator variable"),
        ("a.optMap(1, t)", "1:10: optMap() variable name must be a simple identifier"),
        ("a.optFlatMap(1, t)", "1:14: optFlatMap() variable name must be a simple identifier"),
        ("a.sortBy(1, k)", "1:10: argument is not an identifier"),
        (
            "'a'.sortBy(x, k)",
            "1:1: sortBy can only be applied to a list, identifier, comprehension, call or select"
            " expression",
        ),
    ],
)
def test_a_macro_is_particular_about_its_arguments(text: str, expected: str) -> None:
    assert complaints(text) == [expected]


def test_arguments_are_expanded_first() -> None:
    assert complaints("[has(a)].all(1, has(b))") == [
        "1:6: invalid argument to has() macro",
        "1:14: argument must be a simple name",
        "1:21: invalid argument to has() macro",
    ]
