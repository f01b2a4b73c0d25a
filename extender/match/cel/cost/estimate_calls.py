"""Which rule says what a call costs at most."""

from extender.match.cel.cost.estimate_kubernetes import KUBERNETES
from extender.match.cel.cost.estimate_standard import EXTENSIONS, LAZY, STANDARD
from extender.match.cel.cost.operands import Estimate, Site, nominal


def of_call(site: Site) -> Estimate:
    """The estimate of a call, operands included."""
    lazy = LAZY.get(site.overload)
    if lazy is not None:
        return lazy(site)
    rule = (
        EXTENSIONS.get(site.overload)
        or KUBERNETES.get(site.function)
        or STANDARD.get(site.overload)
        or nominal
    )
    found = rule(site)
    cost = found.cost
    for operand in site.operands:
        cost += operand.cost
    return Estimate(cost, found.size, found.entries)
