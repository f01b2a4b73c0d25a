"""The authorizer's functions are declared and estimated, but nothing can call them."""

import pytest

from tests.match.cel.estimating import estimated
from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        pytest.param("dyn(1).path('a') == dyn(1)", "path(int, string)", id="one overload"),
        pytest.param("dyn(1).check('get').allowed()", "check(int, string)", id="two overloads"),
        pytest.param("dyn(taint).allowed()", "allowed(map)", id="no argument"),
        pytest.param(
            "dyn('a').serviceAccount('b', 'c') == dyn(1)",
            "serviceAccount(string, string, string)",
            id="three arguments",
        ),
        pytest.param("null.reason() == 'a'", "reason(null_type)", id="null passes the checker"),
    ],
)
def test_a_call_finds_no_overload(expression: str, error: str) -> None:
    assert answered(expression)[0] == f"no such overload: {error}"


def test_a_check_is_dear() -> None:
    assert estimated("dyn(1).check('get').allowed()") == 350_002
