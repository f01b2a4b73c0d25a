import pytest

from extender.review import fields
from extender.review.fields import FieldError


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (fields.invalid("a.b", 'x"\n', "is wrong"), 'a.b: Invalid value: "x\\"\\n": is wrong'),
        (
            fields.invalid_name("a", ">&<\u2028é", "no"),
            'a: Invalid value: "\\u003e\\u0026\\u003c\\u2028é": no',
        ),
        (fields.invalid_number("a", -7, "is wrong"), "a: Invalid value: -7: is wrong"),
        (fields.required("a", "give one"), "a: Required value: give one"),
        (fields.forbidden("a", "not here"), "a: Forbidden: not here"),
        (fields.too_long("a", 9), "a: Too long: may not be more than 9 bytes"),
        (
            fields.unsupported("a", "x>", ("y", "z")),
            'a: Unsupported value: "x\\u003e": supported values: "y", "z"',
        ),
    ],
)
def test_an_error_reads_as_in_go(error: FieldError, sentence: str) -> None:
    assert str(error) == sentence
    assert sentence == f"{error.field}: {error.message}"


def test_one_error_is_its_own_summary() -> None:
    assert fields.summary([fields.forbidden("a", "x")]) == "a: Forbidden: x"


def test_several_errors_are_a_list_that_says_each_once() -> None:
    errors = [fields.forbidden("b", "x"), fields.forbidden("a", "x"), fields.forbidden("b", "x")]

    assert fields.summary(errors) == "[b: Forbidden: x, a: Forbidden: x]"
