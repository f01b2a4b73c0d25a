"""Each hard spread constraint of a pod: the counts of the domains, and the arithmetic."""

from typing import Final

import msgspec

from extender.framework.interface import SUCCESS, NodeFilter, Status
from extender.framework.snapshot import NodeInfo
from extender.match.label_selectors import Requirement, Selector
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.pod_topology_spread.filtering import (
    MISSING_LABEL,
    Account,
    HardConstraints,
    Skew,
)
from extender.review.explain.proposals import Case
from extender.review.explain.schema import Derivation, Domain, SpreadCheck
from extender.review.explain.words import quoted

_HONOR: Final = {True: "Honor", False: "Ignore"}
_SETS: Final = {"In": "in", "NotIn": "not in"}


def derive(plugin: PodTopologySpread, case: Case, limit: int, derived: Derivation) -> Derivation:
    """The derivation with the hard constraints of the pod in it."""
    found = checks(plugin.pre_filter(case.pod, case.snapshot), case.node, limit)
    return msgspec.structs.replace(derived, spread=tuple(found))


def checks(question: NodeFilter | Status, node: NodeInfo, limit: int) -> list[SpreadCheck]:
    """Every constraint that the plugin's question holds."""
    if not isinstance(question, HardConstraints):
        return []
    return [check(skew, node, limit) for skew in question.parts[:limit]]


def check(skew: Skew, node: NodeInfo, limit: int) -> SpreadCheck:
    """One constraint, with so many of its domains."""
    constraint, account = skew.constraint, skew.account(node)
    domains = sorted(account.counts.items(), key=lambda item: (-item[1], item[0]))
    return SpreadCheck(
        topology_key=constraint.key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains,
        node_affinity_policy=_HONOR[constraint.honors_affinity],
        node_taints_policy=_HONOR[constraint.honors_taints],
        selector=selector_text(constraint.selector),
        domain=account.domain,
        included=account.included,
        matching=account.matching,
        itself=account.itself,
        minimum=account.minimum,
        skew=account.skew,
        matches=account.verdict is SUCCESS,
        why=_why(skew, account),
        domains=tuple(Domain(name, account.sizes[name], count) for name, count in domains[:limit]),
        omitted=len(domains[limit:]),
    )


def _why(skew: Skew, account: Account) -> str:
    constraint = skew.constraint
    if account.verdict is MISSING_LABEL:
        return f"the node has no label {constraint.key}"
    if not account.sizes and constraint.min_domains <= 1:
        return "no node counts for it, so nothing is too many"
    relation = "more than" if account.skew > constraint.max_skew else "within"
    words = (
        f"{account.matching} in {quoted(account.domain or '')} + {account.itself} (the pod itself)"
        f" - {account.minimum} (the fewest of any domain) = {account.skew},"
        f" {relation} maxSkew {constraint.max_skew}"
    )
    if len(account.sizes) < constraint.min_domains:
        words += (
            f"; the fewest count as 0, because there are {len(account.sizes)} of"
            f" {constraint.min_domains} minDomains"
        )
    if not account.included:
        words += "; the node itself does not count: a policy leaves it out"
    if account.in_flight:
        words += f"; {account.in_flight} of them nominated or in flight"
    if account.maybe:
        words += f"; {account.maybe} more in flight may turn up there"
    return words


def selector_text(selector: Selector) -> str:
    """A label selector in kubectl's notation."""
    if selector.requirements is None:
        return "none: selects no pod"
    return ",".join(map(_requirement_text, selector.requirements)) or "empty: counts no pod"


def _requirement_text(each: Requirement) -> str:
    if each.operator == "In" and len(each.values) == 1:
        return f"{each.key}={each.values[0]}"
    if each.operator in _SETS:
        return f"{each.key} {_SETS[each.operator]} ({','.join(each.values)})"
    return each.key if each.operator == "Exists" else f"!{each.key}"
