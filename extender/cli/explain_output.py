"""What `leeway explain` prints: who passes, why not, the nearest fix, and all about one node."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.cli import escapes, tables
from extender.cli.tables import Cell, Colour, Row, Screen
from extender.review.explain import telling
from extender.review.explain.edits import text_of
from extender.review.explain.schema import (
    PASSES,
    ClaimCheck,
    Compilation,
    Derivation,
    Explanation,
    Fix,
    SpreadCheck,
    TaintCheck,
    TermCheck,
    TolerationCheck,
    Verdict,
)
from extender.review.explain.search import nearness_of
from extender.review.explain.words import cause, counted

_COLOURS: Final[dict[str, Colour]] = {PASSES: "green", "Skip": "dim", "Error": "red"}
_STATES: Final[dict[str, tuple[str, Colour]]] = {
    "current": ("compiled", "green"),
    "behind": ("behind", "yellow"),
    "cut": ("cut", "yellow"),
    "refused": ("refused", "red"),
}
MAX_FIXES: Final = 5
MAX_LEFT_OUT: Final = 5
_CELLS: Final = 20  # of a bar
_INDENT: Final = "  "


def render(explanation: Explanation, on: Screen, *, every: bool = False) -> str:
    """The page of a pod; with `every`, a line for every node."""
    sections = [*_gates(explanation, on), _head(explanation, on)]
    if explanation.verdicts:
        table = _verdicts if every else _reasons
        sections.append(table(explanation, on))
    sections.append(tables.paragraph(explanation.message, on))
    sections += _thresholds(explanation, on)
    if explanation.compilation:
        sections.append(_compilation(explanation.compilation, explanation.nodes, on))
    if every or not explanation.passing:
        sections += _helping(explanation, on)
    if explanation.fix is not None:
        sections.append(render_fix(explanation.fix, on, title="Nearest fix"))
    sections += render_notes(explanation.notes, on)
    return "\n".join(sections)


def verdict_cell(code: str) -> Cell:
    """A verdict in one word."""
    return Cell(telling.verdict(code), _COLOURS.get(code, "red"))


def _gates(explanation: Explanation, on: Screen) -> Iterator[str]:
    """What is off and decides, before everything else."""
    if explanation.gates:
        yield "".join(on.paint(line, "yellow") + "\n" for line in telling.gate_lines(explanation))


def _head(explanation: Explanation, on: Screen) -> str:
    colour: Colour = "green" if explanation.passing else "red"
    who = escapes.line(f"{telling.pod_name(explanation)} ({explanation.pod.scheduler_name})")
    head = f"{on.paint(who, 'bold')} {on.paint(telling.passes_on(explanation), colour)}\n"
    return head + "".join(tables.paragraph(line, on) for line in telling.context_lines(explanation))


def _reasons(explanation: Explanation, on: Screen) -> str:
    """A line with a count and a bar for what passes, and for each reason."""
    passing = [each for each in explanation.verdicts if each.code == PASSES]
    rows: list[Row] = []
    if explanation.passing:
        bar = Cell(bar_of(explanation.passing, explanation.nodes), "green")
        names = telling.passing_names(explanation, passing)
        rows.append([_count(explanation.passing), bar, verdict_cell(PASSES), "-", "-", names])
    for group in explanation.groups:
        bar = Cell(bar_of(group.count, explanation.nodes), "red")
        verdict = verdict_cell(group.code)
        names = telling.group_names(group)
        by = cause(group.plugin, group.reason)
        rows.append([_count(group.count), bar, verdict, by, group.reason, names])
    return tables.render(("COUNT", "", "VERDICT", "PLUGIN", "REASON", "NODES"), rows, on)


def _count(number: int) -> str:
    return str(number).rjust(len("COUNT"))


def bar_of(count: int, total: int) -> str:
    """A bar for a part of the nodes; a few of many are still seen."""
    return "#" * max(1, round(_CELLS * count / max(total, 1)))


def _verdicts(explanation: Explanation, on: Screen) -> str:
    """A line for every node."""
    scored = bool(explanation.passing)
    rows = [_row(each, scored=scored) for each in explanation.verdicts]
    header = ["NODE", "VERDICT", "SCORE", "PLUGIN", "REASON"]
    if not scored:
        del header[2]
    return tables.render(header, rows, on)


def _thresholds(explanation: Explanation, on: Screen) -> Iterator[str]:
    """For each rule with a bound, how many nodes pass at which bound."""
    if explanation.thresholds:
        rows: list[Row] = [
            [f"{each.key} {each.operator}".lstrip(), telling.steps_of(each)]
            for each in explanation.thresholds
        ]
        title = on.paint("Nodes that pass, by bound", "bold")
        yield f"{title}\n" + tables.render((), rows, on, indent=_INDENT)


def _row(verdict: Verdict, *, scored: bool) -> Row:
    score = "-" if verdict.score is None else str(verdict.score)
    cells: list[Cell | str] = [verdict.node, verdict_cell(verdict.code), score]
    cells += [cause(verdict.plugin, verdict.reason) or "-", verdict.reason or "-"]
    if not scored:
        del cells[2]
    return cells


def _compilation(compilation: Compilation, nodes: int, on: Screen) -> str:
    """What compile mode makes of the pod."""
    state, colour = _STATES[compilation.state]
    title = f"{on.paint('Compile mode', 'bold')}: {on.paint(state, colour)}\n"
    text = title + tables.paragraph(compilation.why, on, indent=_INDENT)
    plain, ruled = compilation.open_by_tolerations, compilation.open_by_rules
    if plain != ruled:
        only = ", ".join(compilation.only_by_rules[: telling.MAX_NAMES])
        more = (ruled or 0) - (plain or 0) - telling.MAX_NAMES
        only += f" and {more} more" if more > 0 else ""
        words = (
            f"by their taints, the plain tolerations open {plain} of {counted(nodes, 'node')} to"
            f" the scheduler, the rules {ruled}: {only}"
        )
        text += tables.paragraph(words, on, indent=_INDENT)
    rows: list[Row] = [
        [each.text, _holds(not each.missing), each.why]
        for each in (*compilation.tolerations, *compilation.left_out[:MAX_LEFT_OUT])
    ]
    more = len(compilation.left_out) - MAX_LEFT_OUT
    if more > 0:
        rows.append([f"and {more} more", _holds(False), "left out"])
    if rows:
        text += tables.render(("TOLERATION", "WRITTEN", "WHERE FROM"), rows, on, indent=_INDENT)
    return text


def _helping(explanation: Explanation, on: Screen) -> Iterator[str]:
    """One line for each reason with a known fix."""
    fixes = [group.fix for group in explanation.groups if group.fix is not None]
    if len(fixes) == 1 and explanation.fix is not None:
        return  # render_fix shows it in full
    rows: list[Row] = []
    for fix in sorted(fixes, key=nearness_of)[:MAX_FIXES]:
        said = "; ".join([*(change.summary for change in fix.changes), *fix.advice])
        changes = counted(len(fix.changes), "change") if fix.complete else "-"
        rows.append([fix.node, Cell(changes, "dim"), said])
    if rows:
        title = "What would let it pass" + (" elsewhere" if explanation.passing else "")
        yield f"{on.paint(title, 'bold')}\n" + tables.render((), rows, on, indent=_INDENT)


def render_fix(fix: Fix, on: Screen, *, title: str) -> str:
    """A fix with its patch and its commands."""
    text = f"{on.paint(escapes.line(telling.fix_title(fix, title)), 'bold')}\n"
    for change in fix.changes:
        text += tables.paragraph(change.summary, on, indent=_INDENT)
    for advice in fix.advice:
        words = f"then: {advice}" if fix.changes else advice
        text += tables.paragraph(words, on, indent=_INDENT)
    commands = [f"$ {change.command}" for change in fix.changes if change.command]
    if commands:
        text += "\n" + "".join(_code(command, on) for command in commands)
    if fix.patch:
        text += "\n" + tables.paragraph(telling.patch_title(fix), on, indent=_INDENT)
        text += "".join(_code(line, on) for line in text_of(fix.patch).splitlines())
    return text


def _code(line: str, on: Screen) -> str:
    return f"{_INDENT * 2}{on.paint(escapes.line(line), 'cyan')}\n"


def render_notes(notes: Sequence[str], on: Screen) -> Iterator[str]:
    """Notes beside the verdicts."""
    if notes:
        rows: list[Row] = [["-", note] for note in notes]
        yield f"{on.paint('Notes', 'bold')}\n" + tables.render((), rows, on, indent=_INDENT)


def render_node(explanation: Explanation, derived: Derivation, on: Screen) -> str:
    """The page of one node: how the verdict on it comes about."""
    sections = [*_gates(explanation, on), _node_head(explanation, derived, on)]
    sections.append(_plugins(derived, on))
    if derived.cordon is not None and derived.cordon not in derived.taints:
        words = "The node is cordoned, as by the taint"
        sections.append(_taint(derived.cordon, on, words))
    sections += [_taint(taint, on, "Taint") for taint in derived.taints]
    if derived.terms:
        sections.append(_terms("Node affinity", derived.terms, on))
    sections += [_claim(claim, on) for claim in derived.claims]
    sections += [_spread(each, on) for each in derived.spread]
    if derived.fix is not None:
        sections.append(render_fix(derived.fix, on, title="Fix"))
    sections += render_notes(explanation.notes, on)
    return "\n".join(sections)


def _node_head(explanation: Explanation, derived: Derivation, on: Screen) -> str:
    who = f"{telling.pod_name(explanation)} on node {derived.node}"
    cell = verdict_cell(derived.code)
    refusing = cause(derived.plugin, derived.reason)
    by = f" by {refusing}" if refusing else ""
    head = f"{on.paint(escapes.line(who), 'bold')}: {on.paint(cell.text + by, cell.colour)}\n"
    lines = [derived.reason] if derived.reason else []
    return head + "".join(
        tables.paragraph(line, on) for line in [*lines, *telling.context_lines(explanation)]
    )


def _plugins(derived: Derivation, on: Screen) -> str:
    rows: list[Row] = [[each.plugin, verdict_cell(each.code), each.why] for each in derived.plugins]
    return tables.render(("PLUGIN", "VERDICT", "WHY"), rows, on)


def _title(text: str, on: Screen, *, good: bool) -> str:
    return on.paint(escapes.line(text), "green" if good else "red") + "\n"


def _holds(good: bool) -> Cell:
    return Cell("yes", "green") if good else Cell("no", "red")


def _taint(taint: TaintCheck, on: Screen, words: str) -> str:
    text = _title(f"{words} {telling.taint(taint)}: {taint.why}", on, good=taint.tolerated)
    rows: list[Row] = [
        [
            f"{each.carrier}[{each.index}]",
            telling.toleration(each),
            _holds(each.matches),
            _why(each),
        ]
        for each in taint.tolerations
    ]
    if taint.omitted:
        rows.append(["...", f"{taint.omitted} more", "", ""])
    if not rows:
        return text + f"{_INDENT}the pod has no tolerations\n"
    header = ("FROM", "TOLERATION", "MATCHES", "WHY")
    return text + tables.render(header, rows, on, indent=_INDENT)


def _place(each: TolerationCheck) -> str:
    return f"{each.carrier}[{each.index}]"


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
    shown = telling.domains_of(check)
    for each in shown:
        here = each.name == check.domain
        name = Cell(each.name, "bold" if here else "")
        rows.append([name, str(each.nodes), str(each.pods), "this node's" if here else ""])
    more = len(check.domains) + check.omitted - len(shown)
    if more:
        rows.append([f"and {more} more", "", "", ""])
    if rows:
        text += tables.render(("DOMAIN", "NODES", "PODS", ""), rows, on, indent=_INDENT)
    return text + tables.paragraph(check.why, on, indent=_INDENT)


def passes(derived: Derivation) -> bool:
    """Whether the pod passes on the node."""
    return derived.code == PASSES
