r"""What stands behind `\p`, in the spelling of RE2."""

import pytest
import re2  # type: ignore[import-untyped]

from extender.match.cel.library.unicode_groups import alone, member


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("L", r"\p{L}", id="a category"),
        pytest.param("lu", r"\p{Lu}", id="in lower case"),
        pytest.param("Uppercase_Letter", r"\p{Lu}", id="by its long name"),
        pytest.param(" upper-case LETTER", r"\p{Lu}", id="the long name, written oddly"),
        pytest.param("GREEK", r"\p{Greek}", id="a script"),
        pytest.param("Any", r"\p{Any}", id="everything"),
        pytest.param("Old_Italic", None, id="a script of two words, which upstream misses"),
        pytest.param("Foo", None, id="no such name"),
        pytest.param("", None, id="no name"),
        pytest.param("\u212a", None, id="a name beyond ASCII"),
    ],
)
def test_names(name: str, expected: str | None) -> None:
    opposite = expected.replace(r"\p", r"\P") if expected else None

    assert alone(name, negative=False) == expected
    assert alone(name, negative=True) == opposite
    assert member(name, negative=False, fold=False) == expected
    assert member(name, negative=True, fold=False) == opposite


UNASSIGNED = "\u0378"
LONG_S = "\u017f"


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        pytest.param("ASCII", "a\x00\x7f", "\u00e9" + LONG_S, id="ASCII"),
        pytest.param("LC", "aA\u01c5", "1\u65e5\u02b0", id="letters that have a case"),
        pytest.param("Cn", UNASSIGNED, "a\x00", id="not assigned"),
        pytest.param("Assigned", "a\x00", UNASSIGNED, id="assigned"),
        pytest.param("C", "\x00\u00ad" + UNASSIGNED, "a1 ", id="neither seen nor assigned"),
    ],
)
@pytest.mark.parametrize("negative", [False, True], ids=["itself", "its opposite"])
def test_groups_that_re2_does_not_name(
    name: str, inside: str, outside: str, *, negative: bool
) -> None:
    on_its_own = re2.compile(alone(name, negative=negative))
    in_a_class = re2.compile(f"[{member(name, negative=negative, fold=False)}]")

    for expression in (on_its_own, in_a_class):
        assert [char for char in inside + outside if expression.search(char)] == list(
            outside if negative else inside
        )


def test_letters_of_ascii_where_case_does_not_matter() -> None:
    expression = re2.compile(f"(?i)[{member('ASCII', negative=True, fold=True)}]")

    assert expression.search("\u00e9")
    assert not expression.search("ask" + LONG_S)
