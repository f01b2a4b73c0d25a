"""The functions of the environment: overload id -> function of the arguments, receiver first.

Each module has the functions of one subject. They raise `EvaluationError` in upstream's words and
`CostLimitError` before they would build more than `values` allows, and nothing else.
"""

from collections.abc import Callable, Mapping
from typing import Final

from extender.match.cel.library import (
    conversions,
    formats,
    formatting,
    lists,
    network,
    numbers,
    optionals,
    quantity,
    regex,
    semver,
    sets,
    strings,
    times,
    url,
)
from extender.match.cel.values import Value

_MODULES: Final = (
    *(numbers, conversions, times, strings, formatting, regex),
    *(lists, sets, optionals, semver, quantity, network, url, formats),
)

IMPLEMENTATIONS: Final[Mapping[str, Callable[..., Value]]] = {
    overload: implementation
    for module in _MODULES
    for overload, implementation in module.OVERLOADS.items()
}
