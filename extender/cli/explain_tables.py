"""An explanation as text for a person: who passes, why not, and the nearest fix."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.cli import tables
from extender.cli.tables import Cell, Colour, Row, Screen
from extender.review.explain.edits import text_of
from extender.review.explain.judgement import nearness_of
from extender.review.explain.schema import PASSES, Explanation, Fix, Group, Verdict
from extender.review.explain.words import counted

_WORDS: Final[dict[str, tuple[str, Colour]]] = {
    PASSES: ("passes", "green"),
    "Skip": ("-", "dim"),
    "Error": ("error", "red"),
}
_REFUSED: Final[tuple[str, Colour]] = ("refused", "red")
MAX_NAMES: Final = 3
MAX_PASSING: Final = 10
MAX_FIXES: Final = 5
_INDENT: Final = "  "


def render(explanation: Explanation, on: Screen, *, every: bool = False) -> str:
    """The whole page; with `every`, a line for every node."""
    sections = [_head(explanation, on)]
    if explanation.verdicts:
        sections.append(_verdicts(explanation, on, every=every))
    sections.append(tables.paragraph(explanation.message, on))
    if every or not explanation.passing:
        sections += _helping(explanation, on)
    if explanation.fix is not None:
        sections.append(render_fix(explanation.fix, on, title="Nearest fix"))
    sections += render_notes(explanation.notes, on)
    return "\n".join(sections)


def verdict_cell(code: str) -> Cell:
    """A verdict in a word."""
    return Cell(*_WORDS.get(code, _REFUSED))


def pod_name(explanation: Explanation) -> str:
    """Who is asked about."""
    pod = explanation.pod
    name = f"{pod.namespace}/{pod.owner or pod.name}"
    return f"{pod.kind} {name}"


def _head(explanation: Explanation, on: Screen) -> str:
    colour: Colour = "green" if explanation.passing else "red"
    state = f"passes on {explanation.passing} of {counted(explanation.nodes, 'node')}"
    who = tables.escaped(f"{pod_name(explanation)} ({explanation.pod.scheduler_name})")
    return f"{on.paint(who, 'bold')} {on.paint(state, colour)}\n"


def _verdicts(explanation: Explanation, on: Screen, *, every: bool) -> str:
    passing = [each for each in explanation.verdicts if each.code == PASSES]
    scored = bool(passing)
    shown = explanation.verdicts if every else passing[:MAX_PASSING]
    rows = [_row(each, scored=scored) for each in shown]
    if not every:
        if len(passing) > MAX_PASSING:
            more = f"and {len(passing) - MAX_PASSING} more"
            rows.append([Cell(more, "dim"), verdict_cell(PASSES), "", "", ""])
        rows += [_group_row(group, scored=scored) for group in explanation.groups]
    header = ["NODE", "VERDICT", "SCORE", "PLUGIN", "REASON"]
    if not scored:
        del header[2]
    return tables.render(header, rows, on)


def _row(verdict: Verdict, *, scored: bool) -> Row:
    score = "-" if verdict.score is None else str(verdict.score)
    cells: list[Cell | str] = [verdict.node, verdict_cell(verdict.code), score]
    cells += [verdict.plugin or "-", verdict.reason or "-"]
    if not scored:
        del cells[2]
    return cells


def _group_row(group: Group, *, scored: bool) -> Row:
    names = ", ".join(group.nodes[:MAX_NAMES])
    if group.count > MAX_NAMES:
        names += f" and {group.count - MAX_NAMES} more"
    return _row(Verdict(names, group.code, group.plugin, group.reason), scored=scored)


def _helping(explanation: Explanation, on: Screen) -> Iterator[str]:
    """One line for each reason that something is known to cure."""
    fixes = [group.fix for group in explanation.groups if group.fix is not None]
    if len(fixes) == 1 and explanation.fix is not None:
        return  # it is told at length
    rows: list[Row] = []
    for fix in sorted(fixes, key=nearness_of)[:MAX_FIXES]:
        said = "; ".join([*(change.summary for change in fix.changes), *fix.advice])
        changes = counted(len(fix.changes), "change") if fix.complete else "-"
        rows.append([fix.node, Cell(changes, "dim"), said])
    if rows:
        title = "What would let it pass" + (" elsewhere" if explanation.passing else "")
        yield f"{on.paint(title, 'bold')}\n" + tables.render((), rows, on, indent=_INDENT)


def render_fix(fix: Fix, on: Screen, *, title: str) -> str:
    """A fix with the patch and the commands that make it."""
    if not fix.changes:
        said = "What to do"
    elif fix.complete:
        said = f"{title}: {counted(len(fix.changes), 'change')}, and it passes on {fix.node}"
        others = fix.passing - 1
        said += f" and on {counted(others, 'other')}" if others > 0 else ""
    else:
        said = f"{title}: cures a part of what refuses {fix.node}"
    text = f"{on.paint(tables.escaped(said), 'bold')}\n"
    for change in fix.changes:
        text += tables.paragraph(change.summary, on, indent=_INDENT)
    for advice in fix.advice:
        words = f"then: {advice}" if fix.changes else advice
        text += tables.paragraph(words, on, indent=_INDENT)
    commands = [f"$ {change.command}" for change in fix.changes if change.command]
    if commands:
        text += "\n" + "".join(_code(command, on) for command in commands)
    if fix.patch:
        text += "\n" + "".join(_code(line, on) for line in text_of(fix.patch).splitlines())
    return text


def _code(line: str, on: Screen) -> str:
    return f"{_INDENT * 2}{on.paint(tables.escaped(line), 'cyan')}\n"


def render_notes(notes: Sequence[str], on: Screen) -> Iterator[str]:
    """What else a person should know."""
    if notes:
        rows: list[Row] = [["-", note] for note in notes]
        yield f"{on.paint('Notes', 'bold')}\n" + tables.render((), rows, on, indent=_INDENT)
