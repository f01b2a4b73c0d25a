"""The errors of expressions, at compile time and at run time."""

from extender.errors import LeewayError


class CompileError(LeewayError):
    """An expression that is refused; the text is what upstream's admission would say."""


class TooComplexError(CompileError):
    """An expression that compiles, but whose estimated cost is over the limit."""


class EvaluationError(LeewayError):
    """An evaluation that ended in an error. `&&`, `||`, `all` and `exists` may absorb it."""


class CostLimitError(LeewayError):
    """An evaluation that did too much, or would have built too much. Nothing absorbs it."""


class PanicError(LeewayError):
    """A panic of upstream's engine: the evaluation ends in an error that nothing absorbs."""
