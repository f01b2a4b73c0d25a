"""Regular expressions of Go are said in RE2's dialect, or refused in Go's words."""

import pytest
import re2  # type: ignore[import-untyped]

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import patterns
from extender.match.cel.library.pattern_sizes import class_size
from extender.match.cel.library.patterns import TooLargeError, translate


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("^a.b$|c", "^a.b$|c", id="the simple signs"),
        pytest.param("(a)(?:b)", "(?:a)(?:b)", id="groups do not capture"),
        pytest.param("(?P<n>a)(?<n>b)", "(?:a)(?:b)", id="a name can be used twice"),
        pytest.param("(?i)a(?s-i:b)c", "(?i)a(?s-i:b)c", id="flags"),
        pytest.param("(?)a", "(?)a", id="no flags"),
        pytest.param("a*b+?c??", "a*b+?c??", id="repetitions"),
        pytest.param("a{2}b{2,}c{2,3}?", "a{2}b{2,}c{2,3}?", id="counted repetitions"),
        pytest.param("a{,2}b{01}c{", r"a\{,2}b\{01}c\{", id="braces that count nothing"),
        pytest.param("(?:a{1000}b){0}c", "(?:)c", id="what is wanted no time"),
        pytest.param("a(?i){0}b", "(?:)(?i)b", id="the flag behind it stays"),
        pytest.param("ab{0,0}?", "a(?:)", id="only the last character is meant"),
        pytest.param(r"\A\bx\B\z", r"\A\bx\B\z", id="places"),
        pytest.param(r"\d\W\s\n\x41\.", r"\d\W\s\n\x41\.", id="escapes"),
        pytest.param(r"\pL\P{ascii}", r"\p{L}[^\x00-\x7f]", id="Unicode groups"),
        pytest.param(r"[^\p{letter}]", r"[^\p{L}]", id="Unicode groups in a class"),
        pytest.param("\\Qa.\u00e9\\E*", "a\\.\u00e9*", id="a quotation"),
        pytest.param(r"\Q(", r"\(", id="a quotation to the end"),
        pytest.param(r"a*\Q\E*", r"a*\Q\E*", id="an empty quotation parts two repetitions"),
        pytest.param("a*(?i)*", "a*(?i)*", id="and so does a flag"),
        pytest.param("^*", "^*", id="a place, repeated"),
        pytest.param("(a{10}){100}", "(?:a{10}){100}", id="a thousand copies"),
    ],
)
def test_patterns(pattern: str, said: str) -> None:
    assert translate(pattern).said == said


PERL = "invalid or unsupported Perl syntax"
REPEATED = "invalid nested repetition operator"
MISSING = "missing argument to repetition operator"


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        pytest.param("^zone-(", "missing closing ): `^zone-(`", id="an open group"),
        pytest.param("a)b", "unexpected ): `a)b`", id="a closing parenthesis"),
        pytest.param("*a", f"{MISSING}: `*`", id="a repetition of nothing"),
        pytest.param("a|+?", f"{MISSING}: `+?`", id="a repetition behind a bar"),
        pytest.param("({2})", f"{MISSING}: `{{2}}`", id="a repetition in an empty group"),
        pytest.param("a**", f"{REPEATED}: `**`", id="two repetitions"),
        pytest.param("ba{2}?+?c", f"{REPEATED}: `{{2}}?+?`", id="two repetitions, longer"),
        pytest.param("a{1001}", "invalid repeat count: `{1001}`", id="too many"),
        pytest.param("a{2,1}", "invalid repeat count: `{2,1}`", id="most below least"),
        pytest.param("a{99999999999}", "invalid repeat count: `{99999999999}`", id="far too many"),
        pytest.param("(a{100}){11}?", "invalid repeat count: `{11}?`", id="too many together"),
        pytest.param("(a{2,}){501}", "invalid repeat count: `{501}`", id="at least too many"),
        pytest.param(r"\C", r"invalid escape sequence: `\C`", id="any byte"),
        pytest.param("\\", "trailing backslash at end of expression: ``", id="a backslash"),
        pytest.param("(?=a)", f"{PERL}: `(?=`", id="a look ahead"),
        pytest.param("(?i", f"{PERL}: `(?i`", id="open flags"),
        pytest.param("(?i-)", f"{PERL}: `(?i-)`", id="no flag behind a minus"),
        pytest.param("(?i-s-m)", f"{PERL}: `(?i-s-`", id="two minus signs"),
        pytest.param("(?P<", f"{PERL}: `(?P`", id="the beginning of a name"),
        pytest.param("(?<", f"{PERL}: `(?<`", id="the beginning of a name without P"),
        pytest.param("(?P=n)", f"{PERL}: `(?P`", id="a name without an angle"),
        pytest.param("x(?<=a)", "invalid named capture: `(?<=a)`", id="a look behind"),
        pytest.param("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`", id="a bad name"),
        pytest.param("(?<>c)", "invalid named capture: `(?<>`", id="no name"),
    ],
)
def test_patterns_that_make_no_sense(pattern: str, fault: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        translate(pattern)

    assert str(raised.value) == f"error parsing regexp: {fault}"


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(" * 999 + ")" * 999, id="999 groups"),
        pytest.param("(?:" * 3000 + "a" + ")" * 3000, id="3,000 groups that are none"),
        pytest.param("(?:" * 999 + "a" + ")*" * 999, id="999 repetitions"),
        pytest.param("(?:ab|bc" * 500 + ")" * 500, id="500 alternatives"),
        pytest.param("(?:a*(?:" * 1000 + "b*" + "))" * 1000, id="parts of one concatenation"),
        pytest.param("ab|(?:cd|(?:" * 500 + "e" + "))" * 500, id="parts of one alternation"),
    ],
)
def test_what_is_not_too_deep(pattern: str) -> None:
    assert translate(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(" * 1000 + ")" * 1000, id="1,000 groups"),
        pytest.param("(?:" * 1000 + "a" + ")*" * 1000, id="1,000 repetitions"),
        pytest.param("(?:ab|bc" * 501 + ")" * 501, id="501 alternatives"),
    ],
)
def test_what_is_too_deep(pattern: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        translate(pattern)

    fault = f"error parsing regexp: expression nests too deeply: `{pattern}`"
    assert str(raised.value) == fault


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(?:" + "ab" * 600 + "){1000}", id="characters"),
        pytest.param("(?:" + "a*" * 600 + "){1000}", id="repetitions"),
        pytest.param(r"\pL" * 3000, id="Unicode groups"),
        pytest.param(r"(?:\pL{0})" * 3000, id="Unicode groups that are left out"),
        pytest.param("(a?){0,1000}" * 800, id="what may be left out"),
        pytest.param(r"\pL{200}0", id="a Unicode group, counted"),
        pytest.param(r"\pL{17}", id="by little"),
        pytest.param(r"(?:\pL{4}){5}", id="by counts in counts"),
    ],
)
def test_what_would_be_too_large_is_refused_at_once(pattern: str) -> None:
    with pytest.raises(TooLargeError) as raised:
        translate(pattern)

    fault = "expression too large, it takes more than 20000 instructions"
    assert str(raised.value) == f"error parsing regexp: {fault}: `{pattern}`"


def test_classes_are_measured_only_until_they_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To measure a class is to compile it."""
    measured: list[str] = []

    def measure(said: str, *, fold: bool) -> int:
        measured.append(said)
        return class_size(said, fold=fold)

    monkeypatch.setattr(patterns, "class_size", measure)
    with pytest.raises(TooLargeError):
        translate("".join(rf"[\pL{digit}]" for digit in range(1_000)))

    assert len(measured) == 17


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("", id="nothing"),
        pytest.param("^(([a-z0-9]([-a-z0-9]*[a-z0-9])?[.])*[a-z0-9]+/)?[A-Z]+$", id="a name"),
        pytest.param("a{1000}", id="characters"),
        pytest.param("(?:a?b*c+|de|f){0,300}", id="what may be left out"),
        pytest.param("a{3,}(?:b{2}){5}", id="counts without an end"),
        pytest.param(r".{1000}\d{500}\D{500}\w\W\s\S", id="classes"),
        pytest.param(r"\pL{16}", id="letters"),
        pytest.param(r"\PL\p{Han}{20}(?:\pL|\pN)", id="groups"),
        pytest.param(r"[\p{Cn}\p{C}][^\pL\pN]{5}[^\x{10000}]{90}", id="groups in classes"),
        pytest.param("(?i)(?:kiss θωт){50}", id="folded characters"),
        pytest.param(r"(?i)[\x{100}-\x{24f}]{9}\p{Lu}{9}\W{20}", id="folded classes"),
        pytest.param("é中😀{100}", id="characters of several bytes"),
    ],
)
def test_the_estimate_is_what_re2_makes_of_it(pattern: str) -> None:
    """A few instructions more, where RE2 finds parts that are alike."""
    said, size = translate(pattern)

    made = re2.compile(said).programsize
    assert made <= size <= 1.4 * made + 10


def test_a_group_that_is_long_to_say_is_said_once_in_a_class() -> None:
    once, twice = (translate(f"[{text}]").said for text in (r"\p{Cn}-b", r"\p{Cn}\p{Cn}-b"))

    assert len(once) > 10_000
    assert len(twice) < len(once) + 30
    assert re2.compile(twice).programsize == re2.compile(once).programsize
