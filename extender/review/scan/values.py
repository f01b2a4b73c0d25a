"""Values of nodes that a rule cannot parse, and values of rules that do not parse at all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from extender.errors import VersionError
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo
from extender.match import selectors, taints, versions
from extender.match.findings import Finding, Noticed
from extender.match.taints import Tolerations
from extender.model.core_v1 import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Taint,
    Toleration,
)
from extender.review.scan.objects import Ref
from extender.review.scan.usage import Rule, rule_text


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that does not parse; without nodes if it is the rule's own value."""

    source: str
    kind: str
    key: str
    value: str
    why: str
    rule: str
    users: tuple[Ref, ...]
    nodes: tuple[str, ...]


class Met:
    """The taints and labels of all nodes, each value once."""

    def __init__(self, nodes: Iterable[NodeInfo]) -> None:
        self.taints: dict[Taint, list[str]] = {}
        self.labels: dict[tuple[str, str], list[str]] = {}
        for node in nodes:
            for taint in (*node.taints.hard, *node.taints.soft):
                self.taints.setdefault(taint, []).append(node.name)
            for pair in node.labels.items():
                self.labels.setdefault(pair, []).append(node.name)
        self._by_key: dict[str, list[str]] = {}
        for key, value in self.labels:
            self._by_key.setdefault(key, []).append(value)

    def values(self, key: str) -> Sequence[str]:
        """The values of a label on all nodes."""
        return self._by_key.get(key, ())


def unreadable(
    rules: Mapping[Rule, Sequence[Ref]], met: Met, settings: Settings
) -> Iterator[Unreadable]:
    """All values that the rules cannot parse, and all rules that do not parse."""
    for rule, users in rules.items():
        on_nodes: dict[Finding, dict[str, None]] = {}
        for finding, nodes in _findings(rule, met, settings):
            on_nodes.setdefault(finding, {}).update(dict.fromkeys(nodes))
        for finding, names in on_nodes.items():
            yield Unreadable(
                finding.source,
                finding.kind,
                finding.key,
                finding.value,
                _why(finding),
                rule_text(rule),
                tuple(users),
                tuple(names),
            )


def _findings(rule: Rule, met: Met, settings: Settings) -> Iterable[tuple[Finding, Sequence[str]]]:
    if isinstance(rule, Toleration):
        return _of_toleration(rule, met, settings)
    if isinstance(rule, NodeSelectorRequirement):
        return _of_requirement(rule, met, settings)
    return ()


def _of_toleration(
    rule: Toleration, met: Met, settings: Settings
) -> Iterator[tuple[Finding, Sequence[str]]]:
    noticed: Noticed = set()
    compiled: Tolerations = taints.compile_tolerations(
        [rule], settings.gates, settings.programs, noticed
    )
    for finding in noticed:
        yield finding, ()
    for taint, nodes in met.taints.items():
        noticed = set()
        compiled.tolerates(taint, noticed)
        for finding in noticed:
            yield finding, nodes


def _of_requirement(
    rule: NodeSelectorRequirement, met: Met, settings: Settings
) -> Iterator[tuple[Finding, Sequence[str]]]:
    noticed: Noticed = set()
    term = selectors.compile_term(
        NodeSelectorTerm(match_expressions=(rule,)), settings.gates, noticed
    )
    for finding in noticed:
        yield finding, ()
    if term is None:
        return
    for value in met.values(rule.key):
        noticed = set()
        term.matches("", {rule.key: value}, noticed)
        for finding in noticed:
            yield finding, met.labels[(rule.key, value)]


def _why(finding: Finding) -> str:
    match finding.kind:
        case "cel":
            return finding.problem
        case "integer":
            return "not an integer in canonical form"
        case "semver":
            try:
                versions.parse_tolerant(finding.value)
            except VersionError as exc:
                return str(exc)
            return "not a version"
