"""Which rule a call falls under, and that operands are counted once."""

import pytest

from extender.match.cel.cost.bounds import ONE, Bounds, Entries, exactly
from extender.match.cel.cost.estimate_calls import of_call
from extender.match.cel.cost.operands import Estimate, Operand, Site
from extender.match.cel.syntax.ast import Ident
from extender.match.cel.types import STRING, list_of

ENTRIES = Entries("list", ONE, exactly(5))
LIST = Operand(Ident(1, 0, "l"), list_of(STRING), exactly(100), exactly(4), ENTRIES)
TEXT = Operand(Ident(2, 0, "s"), STRING, exactly(1000), exactly(40), None)


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        pytest.param(
            Site("max", "list_reverse", (LIST,)),
            Estimate(exactly(115), exactly(4)),
            id="the overload of an extension comes before the function",
        ),
        pytest.param(
            Site("trim", "string_to_bytes", (TEXT,)),
            Estimate(exactly(1004), exactly(40)),
            id="the function comes before the overload",
        ),
        pytest.param(
            Site("bytes", "string_to_bytes", (TEXT,)),
            Estimate(exactly(1004), Bounds(40, 160)),
            id="the overload if the function has no rule",
        ),
        pytest.param(
            Site("size", "size_string", (TEXT,)),
            Estimate(exactly(1001)),
            id="1 if nothing has a rule",
        ),
        pytest.param(
            Site("_+_", "add_list", (LIST, LIST)),
            Estimate(exactly(201), exactly(8), ENTRIES),
            id="all operands are counted",
        ),
        pytest.param(
            Site("_||_", "logical_or", (LIST, TEXT)),
            Estimate(Bounds(100, 1100)),
            id="operands that may be skipped are at most counted",
        ),
    ],
)
def test_the_rule_of_a_call(site: Site, expected: Estimate) -> None:
    assert of_call(site) == expected
