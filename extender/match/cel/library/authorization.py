"""Functions of the API server's authorizer.

Upstream declares them for every expression, and a dyn passes for their receiver, so the checker
and the estimate must know them. No value here has such a type: none has a `run`.
"""

from typing import Final

from extender.match.cel.library.estimates import (
    LIST_BASE,
    STRUCT_BASE,
    TRAVERSAL,
    Estimate,
    Operand,
    exactly,
)
from extender.match.cel.library.functions import Function, function, overload

_REQUIREMENTS: Final = 0.5  # of a selector, per character
_REQUIREMENT: Final = float((LIST_BASE + STRUCT_BASE).most)
_CHECK: Final = exactly(350_000)


def _estimate_selector(_: Operand, text: Operand) -> Estimate:
    requirements = text.size.scaled(_REQUIREMENTS).scaled(_REQUIREMENT)
    return Estimate(LIST_BASE + text.size.scaled(TRAVERSAL) + requirements)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function("path", overload("authorizer_path", "Authorizer.(string) -> PathCheck")),
    function("group", overload("authorizer_group", "Authorizer.(string) -> GroupCheck")),
    function(
        "serviceAccount",
        overload("authorizer_serviceaccount", "Authorizer.(string, string) -> Authorizer"),
    ),
    function("resource", overload("groupcheck_resource", "GroupCheck.(string) -> ResourceCheck")),
    function(
        "subresource",
        overload("resourcecheck_subresource", "ResourceCheck.(string) -> ResourceCheck"),
    ),
    function(
        "namespace", overload("resourcecheck_namespace", "ResourceCheck.(string) -> ResourceCheck")
    ),
    function("name", overload("resourcecheck_name", "ResourceCheck.(string) -> ResourceCheck")),
    function(
        "fieldSelector",
        overload("authorizer_fieldselector", "ResourceCheck.(string) -> ResourceCheck"),
        estimate=_estimate_selector,
    ),
    function(
        "labelSelector",
        overload("authorizer_labelselector", "ResourceCheck.(string) -> ResourceCheck"),
        estimate=_estimate_selector,
    ),
    function(
        "check",
        overload("pathcheck_check", "PathCheck.(string) -> Decision"),
        overload("resourcecheck_check", "ResourceCheck.(string) -> Decision"),
        estimate=lambda *_: Estimate(_CHECK),
    ),
    function("allowed", overload("decision_allowed", "Decision.() -> bool")),
    function("reason", overload("decision_reason", "Decision.() -> string")),
    function("errored", overload("decision_errored", "Decision.() -> bool")),
    function("error", overload("decision_error", "Decision.() -> string")),
)
