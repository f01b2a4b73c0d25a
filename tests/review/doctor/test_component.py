"""The command line of a component."""

import pytest

from extender.review.doctor.component import Component


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--v=2",), None),
        (("--feature-gates=A=true,B=false",), False),
        (("--feature-gates", "A=true, B=True"), True),
        (("--feature-gates=B=true", "--feature-gates=B=false"), False),
        (("--feature-gates",), None),
    ],
)
def test_a_gate(arguments: tuple[str, ...], expected: bool | None) -> None:
    assert Component("here", arguments).gate("B") is expected
