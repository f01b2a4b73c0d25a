"""Validates tolerations: upstream's rules plus the operators and expressions of the KEPs.

The order and the paths of the errors are upstream's: a bad value of `Equal` or `Exists` is
reported under `operator`.
"""

from collections.abc import Callable, Iterator
from typing import Final

from extender.match import operators
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.program import MAX_BYTES
from extender.match.gates import COMPARISON_GATE, FeatureGates
from extender.match.integers import parse_int_problem
from extender.match.taints import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE
from extender.match.versions import version_problem
from extender.model.core_v1 import Toleration
from extender.review import fields, names
from extender.review.fields import FieldError

# Compiles an expression: the error, or None.
Compiled = Callable[[str], CompileError | None]

_EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
# Of device taints, in the order in which upstream lists them.
DEVICE_EFFECTS: Final = (NO_EXECUTE, NO_SCHEDULE, "None")
_UNGATED: Final = tuple(each.name for each in operators.TOLERATION.values() if not each.gate)
_COMPARING: Final = tuple(
    each.name for each in operators.TOLERATION.values() if each.gate == COMPARISON_GATE
)
_NOT_CANONICAL: Final = "must be a valid decimal integer in canonical form"


def check(
    toleration: Toleration,
    path: str,
    allowed: FeatureGates,
    compiled: Compiled,
    effects: tuple[str, ...] | None = None,
) -> Iterator[FieldError]:
    """Errors of one toleration; `effects` are those that its taints can have, if not of nodes."""
    if toleration.expression:
        yield from _check_expression(toleration, f"{path}.expression", allowed, compiled)
        return
    if toleration.key:
        for problem in names.label_key_problems(toleration.key):
            yield fields.invalid(f"{path}.key", toleration.key, problem)
    elif toleration.operator != "Exists":
        yield fields.invalid_name(
            f"{path}.operator",
            toleration.operator,
            'operator must be Exists when `key` is empty, which means "match all values and all'
            ' keys"',
        )
    if toleration.toleration_seconds is not None and toleration.effect != NO_EXECUTE:
        yield fields.invalid_name(
            f"{path}.effect",
            toleration.effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        )
    yield from _check_value(toleration, path, allowed)
    known = effects or _EFFECTS
    if toleration.effect and toleration.effect not in known:
        yield fields.unsupported(f"{path}.effect", toleration.effect, known)


def needs_compiling(toleration: Toleration, allowed: FeatureGates) -> bool:
    """Whether the expression of a toleration must be compiled."""
    return bool(toleration.expression) and allowed.cel and _stands_alone(toleration)


def _check_value(toleration: Toleration, path: str, allowed: FeatureGates) -> Iterator[FieldError]:
    name, value = toleration.operator, toleration.value
    operator = operators.toleration(name)
    if operator is None or not operator.is_on(allowed):
        # Upstream names Lt and Gt only to somebody who has used one of them.
        known = (*_UNGATED, *(_COMPARING if name in _COMPARING else ()))
        yield fields.unknown_operator(fields.unsupported(f"{path}.operator", name, known), name)
        return
    match operator.kind:
        case "integer":
            for problem in _integer_problems(value):
                yield fields.invalid(f"{path}.value", value, problem)
        case "semver":
            wrong = version_problem(value)
            if wrong is not None:
                yield fields.invalid(f"{path}.value", value, wrong)
        case "string" if operator.arity == operators.NONE:
            if value:
                yield fields.invalid(
                    f"{path}.operator", value, f"value must be empty when `operator` is '{name}'"
                )
        case "string":
            problems = list(names.label_value_problems(value))
            if problems:
                yield fields.invalid(f"{path}.operator", value, ";".join(problems))


def _integer_problems(text: str) -> Iterator[str]:
    if not text:
        yield "must be non-empty"
    elif not _is_canonical(text):
        yield _NOT_CANONICAL
    wrong = parse_int_problem(text)
    if wrong is not None:
        yield wrong


def _is_canonical(text: str) -> bool:
    """Checks the form only, not the range."""
    digits = text.removeprefix("-")
    return text == "0" or (digits.isascii() and digits.isdigit() and digits[0] != "0")


def _check_expression(
    toleration: Toleration, path: str, allowed: FeatureGates, compiled: Compiled
) -> Iterator[FieldError]:
    expression = toleration.expression
    if not allowed.cel:
        yield fields.forbidden(path, "feature gate TaintTolerationCEL is disabled")
    elif not _stands_alone(toleration):
        yield fields.invalid(
            path,
            expression,
            "expression cannot be used with key, value, operator, or effect fields",
        )
    elif len(expression.encode(errors="surrogatepass")) > MAX_BYTES:
        yield fields.too_long(path, MAX_BYTES)
    else:
        failure = compiled(expression)
        if isinstance(failure, TooComplexError):
            yield fields.forbidden(path, str(failure))
        elif failure is not None:
            yield fields.invalid(path, expression, str(failure))


def _stands_alone(toleration: Toleration) -> bool:
    return not (toleration.key or toleration.operator or toleration.value or toleration.effect)
