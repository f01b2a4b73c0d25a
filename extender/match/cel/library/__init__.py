"""Step 5: the functions of Kubernetes' environment, each described once (see `functions`).

A topic module describes its functions: signatures, estimate, charge, work and what runs. These
raise `EvaluationError` in upstream's words, `CostLimitError` before they would build more than
`values` allows, and nothing else. They never see the expression, and never open a file but those
of the `tzdata` package.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from extender.match.cel.library import (
    authorization,
    conversions,
    formats,
    formatting,
    lists,
    network,
    operators,
    optionals,
    ordering,
    quantity,
    regex,
    semver,
    sets,
    strings,
    times,
    url,
)
from extender.match.cel.library.functions import Function, Overload, by_name

# `indexOf` of lists comes before that of strings, a comparison of quantities before that of
# versions, as upstream has it.
_TOPICS: Final = (
    *(operators, conversions, times, lists, ordering, sets, strings, formatting, regex),
    *(optionals, quantity, semver, network, url, formats, authorization),
)

FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    by_name(topic.FUNCTIONS for topic in _TOPICS)
)
OVERLOADS: Final[Mapping[str, Overload]] = MappingProxyType(
    {overload.id: overload for function in FUNCTIONS.values() for overload in function.overloads}
)
