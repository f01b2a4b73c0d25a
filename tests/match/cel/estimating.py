"""Estimates for the tests, from the text of an expression."""

from extender.match.cel.check import checker
from extender.match.cel.cost.estimate import estimate
from extender.match.cel.syntax import parser
from extender.match.cel.syntax.source import Source


def estimated(expression: str) -> int:
    source = Source(expression)
    return estimate(checker.check(source, parser.parse(source)))
