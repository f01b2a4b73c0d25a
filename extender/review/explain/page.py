"""An explanation as one HTML page, for a ticket or a browser: no script, nothing to load."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.review import html
from extender.review.explain import telling
from extender.review.explain.edits import text_of
from extender.review.explain.schema import (
    PASSES,
    Derivation,
    Explanation,
    Fix,
    SpreadCheck,
    TaintCheck,
    TermCheck,
)
from extender.review.explain.words import cause, counted
from extender.review.html import Content, Markup, tag

MAX_VERDICTS: Final = 200

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2024;--dim:#5b6470;--paper:#fff;--line:#d5dae1;
--good:#16763d;--bad:#b3261e;--warn:#8a5a00;--code:#f3f5f8}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--dim:#a2abb7;--paper:#14171b;
--line:#39414b;--good:#5fd08c;--bad:#ff8a80;--warn:#ffc766;--code:#1f242b}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:70rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}
h1{font-size:1.35rem;margin:.2rem 0}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}
h3{font-size:1rem;margin:1.2rem 0 .3rem}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.dim{color:var(--dim)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;
border-bottom:1px solid var(--line)}
.bar{display:block;height:.7rem;min-width:2px;border-radius:2px;background:currentColor}
.track{display:block;width:8rem;background:var(--code);border-radius:2px}
pre{background:var(--code);padding:.8rem;overflow-x:auto;border-radius:4px}
td code{overflow-wrap:anywhere}
code,pre{font:0.9rem/1.45 ui-monospace,monospace}
@media (max-width:40rem){thead{position:absolute;left:-99rem}
tr{display:block;border-bottom:1px solid var(--line);padding:.4rem 0}
td{display:block;border:0;padding:.1rem 0;overflow-wrap:anywhere}
td[data-name]::before{content:attr(data-name) ": ";color:var(--dim)}
td:empty{display:none}}
@media print{body{max-width:none}}
"""


def render(explanation: Explanation) -> str:
    """The whole page."""
    title = f"{telling.pod_name(explanation)} {telling.passes_on(explanation)}"
    body = (tag("main", _sections(explanation)),)
    return html.document(title, [html.style(_STYLE)], body)


def _sections(explanation: Explanation) -> Iterator[Content]:
    for line in telling.gate_lines(explanation):
        yield tag("p", tag("strong", line), class_="warn", role="status")
    colour = "good" if explanation.passing else "bad"
    yield tag(
        "h1",
        f"{telling.pod_name(explanation)} ",
        tag("span", telling.passes_on(explanation), class_=colour),
    )
    yield tag("p", f"Scheduler {explanation.pod.scheduler_name}", class_="dim")
    for line in telling.context_lines(explanation):
        yield tag("p", line)
    if explanation.derivation is not None:
        yield _derivation(explanation.derivation)
    if explanation.verdicts:
        yield _section("Verdicts", _reasons(explanation), tag("p", explanation.message))
        yield _section("Nodes", _nodes(explanation))
    if explanation.thresholds:
        yield _section("Nodes that pass, by bound", _bounds(explanation))
    if explanation.compilation:
        rows = [
            [each.text, "no" if each.missing else "yes", each.why]
            for each in explanation.compilation.tolerations
        ]
        made = _table(("Toleration", "Written", "Where from"), rows) if rows else None
        yield _section("Compile mode", tag("p", explanation.compilation.why), made)
    if explanation.fix is not None:
        yield _fix(explanation.fix, "Nearest fix")
    if explanation.notes:
        items = (tag("li", note) for note in explanation.notes)
        yield _section("Notes", tag("ul", items))


def _section(title: str, *content: Content) -> Markup:
    return tag("section", tag("h2", title), content, aria_label=title)


def _table(header: Sequence[str], rows: Sequence[Sequence[Content]]) -> Markup:
    """A table whose cells know their column, for narrow screens."""
    heads = (tag("th", each, scope="col") for each in header)
    lines = (
        tag(
            "tr",
            (tag("td", cell, data_name=name) for name, cell in zip(header, row, strict=True)),
        )
        for row in rows
    )
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", lines))
    return tag("div", table, class_="scroll", tabindex="0", role="group")


def _bar(count: int, total: int, colour: str) -> Markup:
    """A count with its share as a bar; the number is what a screen reader says."""
    share = max(1, round(100 * count / max(total, 1)))
    bar = tag("span", class_=f"bar {colour}", style=f"width:{share}%")
    return tag("span", str(count), tag("span", bar, class_="track", aria_hidden="true"))


def _reasons(explanation: Explanation) -> Markup:
    total = explanation.nodes
    rows: list[list[Content]] = []
    if explanation.passing:
        passing = [each for each in explanation.verdicts if each.code == PASSES]
        names = telling.passing_names(explanation, passing)
        verdict = tag("span", "passes", class_="good")
        rows.append([_bar(explanation.passing, total, "good"), verdict, "", "", names])
    for group in explanation.groups:
        verdict = tag("span", telling.verdict(group.code), class_="bad")
        names = telling.group_names(group)
        by = cause(group.plugin, group.reason)
        rows.append([_bar(group.count, total, "bad"), verdict, by, group.reason, names])
    return _table(("Count", "Verdict", "Plugin", "Reason", "Nodes"), rows)


def _nodes(explanation: Explanation) -> Markup:
    """Every node, folded up."""
    shown = explanation.verdicts[:MAX_VERDICTS]
    rows = [
        [
            each.node,
            telling.verdict(each.code),
            "" if each.score is None else str(each.score),
            cause(each.plugin, each.reason),
            each.reason,
        ]
        for each in shown
    ]
    more = explanation.nodes - len(shown)
    table = _table(("Node", "Verdict", "Score", "Plugin", "Reason"), rows)
    left_out = tag("p", f"and {counted(more, 'more node')}") if more else None
    return tag("details", tag("summary", counted(explanation.nodes, "node")), table, left_out)


def _bounds(explanation: Explanation) -> Markup:
    rows: list[list[Content]] = [
        [f"{each.key} {each.operator}", telling.steps_of(each), tag("code", each.path)]
        for each in explanation.thresholds
    ]
    return _table(("Rule", "Nodes that pass", "Path"), rows)


def _fix(fix: Fix, title: str) -> Markup:
    items = [tag("li", change.summary) for change in fix.changes]
    items += [tag("li", advice) for advice in fix.advice]
    commands = "\n".join(change.command for change in fix.changes if change.command)
    parts: list[Content] = [tag("ul", items)]
    if commands:
        parts.append(tag("pre", tag("code", commands), tabindex="0"))
    if fix.patch:
        parts += [
            tag("p", telling.patch_title(fix)),
            tag("pre", tag("code", text_of(fix.patch)), tabindex="0"),
        ]
    return _section(telling.fix_title(fix, title), *parts)


def _derivation(derived: Derivation) -> Markup:
    """How the verdict on one node comes about."""
    plugins = [[each.plugin, telling.verdict(each.code), each.why] for each in derived.plugins]
    parts: list[Content] = [_table(("Plugin", "Verdict", "Why"), plugins)]
    parts += map(_taint, derived.taints)
    parts += map(_term, derived.terms)
    parts += [tag("p", f"Claim {each.claim}: {each.why}") for each in derived.claims]
    parts += map(_spread, derived.spread)
    if derived.fix is not None:
        parts.append(_fix(derived.fix, "Fix"))
    return _section(f"Node {derived.node}", *parts)


def _taint(taint: TaintCheck) -> Markup:
    rows = [
        [telling.toleration(each), "yes" if each.matches else "no", each.why]
        for each in taint.tolerations
    ]
    title = tag("h3", f"Taint {telling.taint(taint)}: {taint.why}")
    return tag("div", title, _table(("Toleration", "Matches", "Why"), rows) if rows else None)


def _term(term: TermCheck) -> Markup:
    rows = [
        [
            f"{each.key} {each.operator} {', '.join(each.values)}".rstrip(),
            each.actual or "",
            "yes" if each.matches else "no",
            each.why,
        ]
        for each in term.requirements
    ]
    title = tag("h3", f"Node affinity, {term.carrier}: {term.why}")
    header = ("Requirement", "Node has", "Holds", "Why")
    return tag("div", title, _table(header, rows) if rows else None)


def _spread(check: SpreadCheck) -> Markup:
    rows = [[each.name, str(each.nodes), str(each.pods)] for each in telling.domains_of(check)]
    title = tag("h3", f"Spread over {check.topology_key}, maxSkew {check.max_skew}")
    table = _table(("Domain", "Nodes", "Pods"), rows) if rows else None
    return tag("div", title, table, tag("p", check.why))
