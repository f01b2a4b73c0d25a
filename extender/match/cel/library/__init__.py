"""The functions of the environment: overload id -> function of the arguments, receiver first.

Each module has the functions of one subject. They raise `EvaluationError` in upstream's words and
`CostLimitError` before they would build more than `values` allows, and nothing else.
"""

from collections.abc import Callable, Mapping
from typing import Final

from extender.match.cel.library import conversions, formatting, numbers, regex, strings, times
from extender.match.cel.values import Value

IMPLEMENTATIONS: Final[Mapping[str, Callable[..., Value]]] = {
    overload: implementation
    for module in (conversions, formatting, numbers, regex, strings, times)
    for overload, implementation in module.OVERLOADS.items()
}
