"""The cases that the fuzzer starts from and those that it found, on both implementations."""

import pytest

from extender.rows import plain
from tests.fuzz.rows import CORPUS, Mutator, corpus
from tests.rows.transcript import Case, transcript

_native = pytest.importorskip("extender.rows._native")
CASES = [
    pytest.param(case, id=path.stem)
    for case, path in zip(corpus(), sorted(CORPUS.glob("*.json")), strict=True)
]


@pytest.mark.parametrize("case", CASES)
def test_both_implementations_say_the_same(case: Case) -> None:
    assert transcript(_native, case) == transcript(plain, case)


def test_both_say_the_same_to_what_the_fuzzer_makes_of_the_cases() -> None:
    mutator, cases = Mutator(1), corpus()

    for _ in range(200):
        case = mutator.case(cases)
        assert transcript(_native, case) == transcript(plain, case)
