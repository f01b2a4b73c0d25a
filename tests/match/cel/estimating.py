"""Estimates for the tests, from the text of an expression."""

from extender.match.cel import checker, parser
from extender.match.cel.estimate import estimate
from extender.match.cel.source import Source


def estimated(expression: str) -> int:
    source = Source(expression)
    return estimate(checker.check(source, parser.parse(source)))
