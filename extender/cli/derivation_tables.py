"""How the verdict on one node comes about, as text for a person."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.cli import explain_tables, tables
from extender.cli.tables import Cell, Row, Screen
from extender.match import operators
from extender.review.explain.schema import (
    PASSES,
    ClaimCheck,
    Derivation,
    Explanation,
    SpreadCheck,
    TaintCheck,
    TermCheck,
    TolerationCheck,
)

_INDENT: Final = "  "


def render(explanation: Explanation, derived: Derivation, on: Screen) -> str:
    """The whole page of one node."""
    sections = [_head(explanation, derived, on), _plugins(derived, on)]
    if derived.cordon is not None and derived.cordon not in derived.taints:
        words = "The node is cordoned, as by the taint"
        sections.append(_taint(derived.cordon, on, words))
    sections += [_taint(taint, on, "Taint") for taint in derived.taints]
    if derived.terms:
        sections.append(_terms("Node affinity", derived.terms, on))
    sections += [_claim(claim, on) for claim in derived.claims]
    sections += [_spread(each, on) for each in derived.spread]
    if derived.fix is not None:
        sections.append(explain_tables.render_fix(derived.fix, on, title="Fix"))
    sections += explain_tables.render_notes(explanation.notes, on)
    return "\n".join(sections)


def _head(explanation: Explanation, derived: Derivation, on: Screen) -> str:
    who = f"{explain_tables.pod_name(explanation)} on node {derived.node}"
    cell = explain_tables.verdict_cell(derived.code)
    by = f" by {derived.plugin}" if derived.plugin else ""
    head = f"{on.paint(tables.escaped(who), 'bold')}: {on.paint(cell.text + by, cell.colour)}\n"
    return head + (tables.paragraph(derived.reason, on) if derived.reason else "")


def _plugins(derived: Derivation, on: Screen) -> str:
    rows: list[Row] = [
        [each.plugin, explain_tables.verdict_cell(each.code), each.why] for each in derived.plugins
    ]
    return tables.render(("PLUGIN", "VERDICT", "WHY"), rows, on)


def _title(text: str, on: Screen, *, good: bool) -> str:
    return on.paint(tables.escaped(text), "green" if good else "red") + "\n"


def _holds(good: bool) -> Cell:
    return Cell("yes", "green") if good else Cell("no", "red")


def _taint(taint: TaintCheck, on: Screen, words: str) -> str:
    name = f"{taint.key}={taint.value}" if taint.value else taint.key
    text = _title(f"{words} {name}:{taint.effect}: {taint.why}", on, good=taint.tolerated)
    rows: list[Row] = [
        [f"{each.carrier}[{each.index}]", _toleration(each), _holds(each.matches), _why(each)]
        for each in taint.tolerations
    ]
    if taint.omitted:
        rows.append(["...", f"{taint.omitted} more", "", ""])
    if not rows:
        return text + f"{_INDENT}the pod has no tolerations\n"
    header = ("FROM", "TOLERATION", "MATCHES", "WHY")
    return text + tables.render(header, rows, on, indent=_INDENT)


def _toleration(each: TolerationCheck) -> str:
    if each.expression:
        return each.expression
    known = operators.toleration(each.operator)
    operator = known.name if known is not None else each.operator
    valueless = known is not None and known.arity == operators.NONE
    value = "" if valueless else each.value or '""'
    words = (each.key or "any key", operator, value, each.effect and f"({each.effect})")
    return " ".join(filter(None, words))


def _why(each: TolerationCheck) -> str:
    return each.why if each.cost is None else f"{each.why} (cost {each.cost})"


def _terms(title: str, terms: Sequence[TermCheck], on: Screen) -> str:
    by_carrier: dict[str, list[TermCheck]] = {}
    for term in terms:
        by_carrier.setdefault(term.carrier, []).append(term)
    text = ""
    for carrier, alternatives in by_carrier.items():
        good = any(term.matches for term in alternatives)
        words = "one of these terms must match" if len(alternatives) > 1 else alternatives[0].why
        text += _title(f"{title}, {carrier}: {words}", on, good=good)
        rows = [row for term in alternatives for row in _term_rows(term)]
        if rows:
            header = ("FROM", "REQUIREMENT", "NODE HAS", "HOLDS", "WHY")
            text += tables.render(header, rows, on, indent=_INDENT)
    return text


def _term_rows(term: TermCheck) -> Iterator[Row]:
    origin = term.carrier if term.carrier == "nodeSelector" else f"{term.carrier}[{term.index}]"
    if not term.requirements:
        yield [origin, "-", "-", _holds(term.matches), term.why]
    for each in term.requirements:
        words = f"{each.key} {each.operator} {', '.join(each.values)}".rstrip()
        has = "-" if each.actual is None else each.actual or '""'
        yield [origin, words, has, _holds(each.matches), each.why]
        origin = ""


def _claim(claim: ClaimCheck, on: Screen) -> str:
    volume = f", volume {claim.volume}" if claim.volume else ""
    kind = "Ephemeral claim" if claim.ephemeral else "Claim"
    text = _title(f"{kind} {claim.claim}{volume}: {claim.why}", on, good=claim.matches)
    return text + (_terms("Volume", claim.terms, on) if claim.terms else "")


def _spread(check: SpreadCheck, on: Screen) -> str:
    facts = (
        f"Spread over {check.topology_key}, maxSkew {check.max_skew}, pods {check.selector},"
        f" nodeAffinityPolicy {check.node_affinity_policy}, nodeTaintsPolicy"
        f" {check.node_taints_policy}"
    )
    facts += f", minDomains {check.min_domains}" if check.min_domains > 1 else ""
    text = _title(facts, on, good=check.matches)
    rows: list[Row] = []
    for each in check.domains:
        here = each.name == check.domain
        name = Cell(each.name, "bold" if here else "")
        rows.append([name, str(each.nodes), str(each.pods), "this node's" if here else ""])
    if check.omitted:
        rows.append([f"and {check.omitted} more", "", "", ""])
    if rows:
        text += tables.render(("DOMAIN", "NODES", "PODS", ""), rows, on, indent=_INDENT)
    return text + tables.paragraph(check.why, on, indent=_INDENT)


def passes(derived: Derivation) -> bool:
    """Whether the pod may run on the node."""
    return derived.code == PASSES
