import pytest

from extender.match.cel.library.quoting import quoted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", '""', id="nothing"),
        pytest.param("é x", '"é x"', id="what prints"),
        pytest.param('"\\', r'"\"\\"', id="quotes and backslashes"),
        pytest.param("\n\x00\x7f", r'"\n\x00\x7f"', id="control characters"),
        pytest.param("é\u2028\U000e0001", '"é\\u2028\\U000e0001"', id="what does not print"),
        pytest.param("%a\udcc3", r'"%a\xc3"', id="a byte that is no UTF-8"),
    ],
)
def test_quoted(text: str, expected: str) -> None:
    assert quoted(text) == expected
