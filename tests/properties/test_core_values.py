import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.errors import VersionError
from extender.match import integers, versions

EXAMPLES = settings(max_examples=200)

# --- versions

NUMBERS = st.integers(0, 12).map(str) | st.sampled_from(["007", "18446744073709551615"])
IDENTIFIERS = st.lists(
    st.integers(0, 12).map(str) | st.text("09aZ-", min_size=1, max_size=3), min_size=1, max_size=3
).map(".".join)
TEXTS = st.builds(
    "{}{}.{}.{}{}{}".format,
    st.sampled_from(["", "v", " "]),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.just("") | IDENTIFIERS.map("-{}".format),
    st.just("") | IDENTIFIERS.map("+{}".format),
)
ODD_TEXTS = st.text("0123456789.v-+aR \x1c\u00a0_é", max_size=16) | st.text(max_size=12)


def precedence(text: str) -> tuple[object, ...]:
    """Where a version stands, spelled out: what is ordered is numbers, then pre-releases."""
    core, _, prerelease = text.partition("+")[0].partition("-")
    numbers = tuple(map(int, core.split(".")))
    identifiers = tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in (prerelease.split(".") if prerelease else ())
    )
    return numbers, not prerelease, identifiers


@EXAMPLES
@given(one=TEXTS, two=TEXTS)
def test_versions_are_ordered_by_their_precedence(one: str, two: str) -> None:
    a, b = versions.parse(one), versions.parse(two)
    if a is None or b is None:
        return
    first, second = precedence(str(a)), precedence(str(b))

    assert (a < b, a == b, a > b) == (first < second, first == second, first > second)
    assert [a < b, a == b, a > b].count(True) == 1
    assert (b > a, b == a, b < a) == (a < b, a == b, a > b)


@settings(max_examples=80)
@given(texts=st.lists(TEXTS, min_size=3, max_size=6))
def test_the_order_of_versions_is_total(texts: list[str]) -> None:
    parsed = [version for version in map(versions.parse, texts) if version is not None]
    ordered = sorted(parsed)

    for index, lower in enumerate(ordered):
        assert all(lower < higher or lower == higher for higher in ordered[index:])


@EXAMPLES
@given(text=TEXTS | ODD_TEXTS)
def test_a_version_says_of_itself_what_parses_to_it(text: str) -> None:
    version = versions.parse(text)
    if version is None:
        with pytest.raises(VersionError, match=r"."):
            versions.parse_tolerant(text)
        return

    assert versions.parse_tolerant(text) == version
    again = versions.parse_tolerant(str(version))
    assert (str(again), again) == (str(version), version)


# --- integers

INTEGERS = st.integers(-(2**64), 2**64).map(str) | st.sampled_from(
    [str(limit + step) for limit in (2**63, -(2**63)) for step in (-1, 0, 1)]
)
ODD_INTEGERS = st.text("0123456789+-_. \n٩x", max_size=24) | st.text(max_size=6)
PADDED = st.builds("{}{}{}".format, st.sampled_from(["", "+", "-"]), st.just("0" * 70), INTEGERS)


@EXAMPLES
@given(text=INTEGERS | ODD_INTEGERS | PADDED)
def test_canonical_integers_are_those_that_python_would_print(text: str) -> None:
    try:
        number = int(text)
    except ValueError:
        expected = None
    else:
        expected = number if str(number) == text and -(2**63) <= number < 2**63 else None

    assert integers.canonical(text) == expected


@EXAMPLES
@given(text=INTEGERS | ODD_INTEGERS | PADDED)
def test_signed_integers_are_a_sign_and_ascii_digits(text: str) -> None:
    digits = text[1:] if text[:1] in ("+", "-") else text
    value: int | None = None
    if digits and set(digits) <= set("0123456789"):
        value = functools.reduce(lambda total, digit: 10 * total + int(digit), digits, 0)
        value = -value if text[0] == "-" else value

    expected = value if value is not None and -(2**63) <= value < 2**63 else None
    assert integers.signed(text) == expected
    if integers.canonical(text) is not None:
        assert integers.signed(text) == integers.canonical(text)
