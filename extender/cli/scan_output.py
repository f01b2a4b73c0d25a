"""What `leeway scan` prints: tables for a person, or data for a program."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from extender.cli import tables
from extender.cli.tables import Colour, Row, Screen
from extender.model.core_v1 import Toleration
from extender.model.documents import Plain
from extender.review.compilation import text_of
from extender.review.scan.compiled import CompiledPod
from extender.review.scan.objects import Ref
from extender.review.scan.report import Report, Use
from extender.review.scan.usage import GATES

_NAMES_SHOWN = 3
_REASONS_SHOWN = 5
NO_GATE = "(none: needs Leeway)"

# Lines of a report that is not asked for `--all`, and of a section beside its rows: title, header,
# an empty line and the number of rows that are left out.
MAX_LINES = 56
_BESIDE_ROWS = 4

# Title, colour of the title, header and rows.
Section = tuple[str, Colour, Sequence[str], Iterable[Row]]


def document(found: Report) -> Plain:
    """Everything, as data."""
    return {
        "scanned": {"Node": found.nodes, **found.seen},
        "notListed": [{"resource": name, "why": why} for name, why in found.missing.items()],
        "gates": {name: {**counts} for name, counts in _gates(found)},
        "rules": [
            {
                "gate": use.gate or None,
                "operator": use.operator,
                "carrier": "annotation" if use.annotated else "native",
                "path": use.path,
                "rule": use.rule,
                **_ref(use.workload),
                "objects": {**use.objects},
            }
            for use in found.uses
        ],
        "brokenAnnotations": [
            {**_ref(ref), "path": path, "why": why} for ref, path, why in found.broken
        ],
        "unreadableValues": [*_unreadable(found)],
        "pending": [
            {
                **_ref(each.ref),
                "workload": str(each.workload),
                "schedulerName": each.scheduler,
                "reasons": dict(each.reasons),
            }
            for each in found.pending
        ],
        "pendingForOtherReasons": found.passing,
        "pendingNotJudged": found.unjudged,
        "mistakes": [
            {**_ref(ref), "path": path, "message": text} for ref, path, text in found.mistakes
        ],
        **_effects(found),
    }


def _unreadable(found: Report) -> Iterator[Plain]:
    for each in found.unreadable:
        yield {
            "source": each.source,
            "type": each.kind,
            "key": each.key,
            "value": each.value,
            "why": each.why,
            "rule": each.rule,
            "usedBy": [_ref(ref) for ref in each.users],
            "nodes": [*each.nodes],
        }


def _effects(found: Report) -> dict[str, Plain]:
    return {
        "daemonSets": [
            {
                **_ref(each.ref),
                "withoutPod": [*each.missing],
                "podStaysPending": [*each.stuck],
                "plainTolerations": [*map(_toleration, each.tolerations)],
            }
            for each in found.daemons
        ],
        "noExecuteOnlyByAnnotation": [
            {
                **_ref(each.ref),
                "key": each.taint.key,
                "value": each.taint.value,
                "nodes": [*each.nodes],
            }
            for each in found.evicted
        ],
        "volumesBoundTooLate": [{**_ref(r), "storageClass": name} for r, name in found.volumes],
        "tolerationsReadByNobody": [{**_ref(r), "schedulerName": n} for r, n in found.unread],
        "notCompiled": [*map(_not_compiled, _lagging(found))],
        "toleratedWithoutRule": [
            {
                **_ref(each.ref),
                "workload": str(each.workload),
                "tolerations": [*map(_toleration, each.found.narrowed)],
            }
            for each in _narrowed(found)
        ],
    }


def _lagging(found: Report) -> Iterator[CompiledPod]:
    return (each for each in found.compiled if each.found.state != "current")


def _narrowed(found: Report) -> Iterator[CompiledPod]:
    return (each for each in found.compiled if each.found.narrowed)


def _not_compiled(each: CompiledPod) -> Plain:
    return {
        **_ref(each.ref),
        "workload": str(each.workload),
        "state": each.found.state,
        "missing": [*map(_toleration, each.found.missing)],
        "leftOut": [_toleration(one.toleration) for one in each.found.left_out],
        "notes": [note.message for note in each.found.plan.notes],
    }


def _toleration(toleration: Toleration) -> Plain:
    """A plain toleration, as a manifest has it."""
    written: Plain = msgspec.to_builtins(toleration)
    return written


def tables_of(found: Report, on: Screen, *, every: bool = False) -> Iterator[str]:
    """The sections that are not empty; without `every`, so short that they fit a screen or two."""
    sections = [
        (title, colour, header, list(rows))
        for title, colour, header, rows in chain(
            _uses(found, every=every),
            _rule_findings(found, every=every),
            _cluster_findings(found, every=every),
            _compile_findings(found, every=every),
        )
    ]
    notes = list(_notes(found))
    room = MAX_LINES - len(notes)
    counts = [len(rows) for *_, rows in sections]
    most = max(counts) if every else rows_that_fit(counts, room)
    for title, colour, header, rows in sections:
        yield from _section(title, colour, header, rows[:most], on, left_out=len(rows) - most)
    for note in notes:
        yield tables.paragraph(note, on)


def rows_that_fit(counts: Sequence[int], lines: int) -> int:
    """How many rows each section may have, so that all of them take so many lines; at least one."""
    shown = [count for count in counts if count]
    most = max(shown, default=1)
    while most > 1 and sum(min(count, most) + _BESIDE_ROWS for count in shown) > lines:
        most -= max(1, (most - lines) // 2)
    return most


def _notes(found: Report) -> Iterator[str]:
    for name, why in found.missing.items():
        yield f"not listed: {name}: {why}"
    seen = {"Node": found.nodes, **found.seen}
    counted = ", ".join(f"{count} {kind}" for kind, count in seen.items() if count)
    yield f"scanned: {counted or 'nothing'}"
    if not found.nodes and "nodes" not in found.missing:
        waiting = f" ({found.unjudged})" if found.unjudged else ""
        yield f"no nodes given: no rule is compared with nodes, no pending pod{waiting} is judged"
    if found.passing:
        yield f"{found.passing} pods are pending although nodes pass Leeway's rules"


def _grouped(
    rows: Iterable[tuple[Ref, tuple[str, ...]]], *, every: bool
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """The rows that are the same, with their workload and their number.

    Pods without an owner share a row, too, if theirs are the same: there may be thousands.
    """
    alike: dict[tuple[Ref | None, tuple[str, ...]], list[Ref]] = {}
    for ref, cells in rows:
        owner = None if ref.kind == "Pod" and not every else ref
        alike.setdefault((owner, cells), []).append(ref)
    for (_, cells), refs in alike.items():
        yield _named(refs[0], len(set(refs))), len(refs), cells


def _by_workload(rows: Iterable[tuple[Ref, tuple[str, ...]]], *, every: bool) -> Iterator[Row]:
    return ((name, *cells) for name, _, cells in _grouped(rows, every=every))


def _with_pods(rows: Iterable[tuple[Ref, tuple[str, ...]]], *, every: bool) -> Iterator[Row]:
    return ((name, str(pods), *cells) for name, pods, cells in _grouped(rows, every=every))


def _named(ref: Ref, count: int) -> str:
    """A workload, or the number of pods without an owner that stand for one."""
    return str(ref) if count == 1 else f"{count} Pods without owner"


_GATE_HEADER = ("GATE", "WORKLOADS", "PODS")
_RULE_HEADER = ("GATE", "OPERATOR", "CARRIER", "WORKLOAD", "CARRIED BY", "RULE")


def _gates(found: Report) -> Iterator[tuple[str, Counter[str]]]:
    """How many workloads and running pods depend on each gate."""
    for gate in GATES:
        workloads = {use.workload for use in found.uses if use.gate == gate}
        pods: Counter[Ref] = Counter()
        for use in found.uses:
            if use.gate == gate:
                pods[use.workload] = max(pods[use.workload], use.objects.get("Pod", 0))
        yield gate or "none", Counter(workloads=len(workloads), pods=pods.total())


def _gate_rows(found: Report) -> list[Row]:
    return [
        (NO_GATE if gate == "none" else gate, str(n["workloads"]), str(n["pods"]))
        for gate, n in _gates(found)
        if n["workloads"]
    ]


def _uses(found: Report, *, every: bool) -> Iterator[Section]:
    """Who uses which rule."""
    yield "RULES BY GATE", "", _GATE_HEADER, _gate_rows(found)
    yield "RULES", "", _RULE_HEADER, _rule_rows(found, every=every)


def _rule_rows(found: Report, *, every: bool) -> Iterator[Row]:
    alike: dict[tuple[Ref | None, str, str, bool, str, str], list[Use]] = {}
    for use in found.uses:
        is_bare = use.workload.kind == "Pod" and not every
        owner, path = (None, "") if is_bare else (use.workload, use.path)
        key = (owner, use.gate, use.operator, use.annotated, use.rule, path)
        alike.setdefault(key, []).append(use)
    for (_, gate, operator, annotated, rule, _), uses in alike.items():
        objects: Counter[str] = Counter()
        for use in uses:
            objects.update(use.objects)
        yield (
            gate or "-",
            operator,
            "annotation" if annotated else "native",
            _named(uses[0].workload, len({use.workload for use in uses})),
            ", ".join(f"{count} {kind}" for kind, count in objects.items()),
            rule,
        )


def _rule_findings(found: Report, *, every: bool) -> Iterator[Section]:
    """Rules and values that cannot be read."""
    yield (
        "ANNOTATIONS THAT CANNOT BE READ: the pod fits nowhere",
        "red",
        ("WORKLOAD", "PATH", "WHY"),
        _by_workload(((ref, (path, why)) for ref, path, why in found.broken), every=every),
    )
    yield (
        "MISSPELT OR MISPLACED RULES: nobody reads them as they are written",
        "yellow",
        ("WORKLOAD", "PATH", "WHY"),
        _by_workload(((ref, (path, text)) for ref, path, text in found.mistakes), every=every),
    )
    yield from _unreadable_values(found)


def _unreadable_values(found: Report) -> Iterator[Section]:
    yield (
        "RULES THAT CANNOT BE READ: they never match",
        "red",
        ("WORKLOADS", "RULE", "VALUE", "WHY"),
        (
            (_few(map(str, each.users)), each.rule, each.value, each.why)
            for each in found.unreadable
            if not each.nodes
        ),
    )
    yield (
        "VALUES OF NODES THAT A RULE MEETS AND CANNOT READ",
        "yellow",
        ("NODES", "WHERE", "KEY", "VALUE", "RULE", "WORKLOADS", "WHY"),
        (
            (
                _few(each.nodes),
                each.source,
                each.key,
                each.value,
                each.rule,
                _few(map(str, each.users)),
                each.why,
            )
            for each in found.unreadable
            if each.nodes
        ),
    )


def _cluster_findings(found: Report, *, every: bool) -> Iterator[Section]:
    """Rules that do not do in this cluster what their authors expect."""
    yield (
        f"PENDING BECAUSE NONE OF {found.nodes} NODES PASSES LEEWAY'S RULES",
        "yellow",
        ("WORKLOAD", "PODS", "SCHEDULER", "REASONS"),
        _with_pods(_pending_rows(found), every=every),
    )
    yield _daemon_section(found)
    yield (
        "NOEXECUTE TAINTS THAT ONLY AN ANNOTATION TOLERATES: refused there, or evicted (join)",
        "yellow",
        ("WORKLOAD", "TAINT", "NODES"),
        _by_workload(
            (
                (each.ref, (f"{each.taint.key}={each.taint.value}", _few(each.nodes)))
                for each in found.evicted
            ),
            every=every,
        ),
    )
    yield (
        "VOLUMES THAT ARE BOUND BEFORE THEIR ANNOTATION IS READ",
        "yellow",
        ("VOLUME", "STORAGE CLASS (WaitForFirstConsumer)"),
        ((str(ref), name) for ref, name in found.volumes),
    )
    yield (
        "TOLERATIONS THAT NOBODY READS: no profile of Leeway is for this scheduler",
        "yellow",
        ("WORKLOAD", "SCHEDULER"),
        _by_workload(((ref, (name,)) for ref, name in found.unread), every=every),
    )


def _daemon_section(found: Report) -> Section:
    return (
        "DAEMONSETS WITH RULES THAT THE DAEMONSET CONTROLLER CANNOT SEE, and compile mode leaves"
        " alone",
        "yellow",
        (
            "DAEMONSET",
            "FIT, BUT GET NO POD",
            "GET A POD THAT STAYS PENDING",
            "ADD TO spec.tolerations OF THE TEMPLATE",
        ),
        (
            (
                str(each.ref),
                _few(each.missing) or "-",
                _few(each.stuck) or "-",
                _few(map(text_of, each.tolerations)) or "-",
            )
            for each in found.daemons
        ),
    )


def _compile_findings(found: Report, *, every: bool) -> Iterator[Section]:
    """Pods that are not what compile mode would make of them."""
    yield (
        "PODS THAT ARE NOT COMPILED: 'leeway controller' adds what is missing, if it runs",
        "cyan",
        ("WORKLOAD", "PODS", "STATE", "MISSING", "LEFT OUT", "WHY"),
        _with_pods(_lagging_rows(found), every=every),
    )
    yield (
        "TOLERATIONS THAT NO RULE OF THE POD MATCHES ANY MORE: create the pod anew to narrow it",
        "cyan",
        ("WORKLOAD", "PODS", "TOLERATIONS"),
        _with_pods(
            (
                (each.workload, (_few(map(text_of, each.found.narrowed)),))
                for each in _narrowed(found)
            ),
            every=every,
        ),
    )


def _lagging_rows(found: Report) -> Iterator[tuple[Ref, tuple[str, ...]]]:
    for each in _lagging(found):
        yield (
            each.workload,
            (
                each.found.state,
                _few(map(text_of, each.found.missing)) or "-",
                _few(text_of(one.toleration) for one in each.found.left_out) or "-",
                ", ".join(note.message for note in each.found.plan.notes) or "-",
            ),
        )


def _pending_rows(found: Report) -> Iterator[tuple[Ref, tuple[str, ...]]]:
    for each in found.pending:
        said = [f"{count} {reason}" for reason, count in each.reasons[:_REASONS_SHOWN]]
        more = len(each.reasons) - len(said)
        text = ", ".join(said) + (f" and {more} more reasons" if more else "")
        yield each.workload, (each.scheduler, text)


def _section(
    title: str,
    colour: Colour,
    header: Sequence[str],
    rows: Sequence[Row],
    on: Screen,
    *,
    left_out: int = 0,
) -> Iterator[str]:
    if rows:
        yield on.paint(title, colour or "bold") + "\n"
        yield tables.render(header, rows, on, indent="  ")
        yield f"  and {left_out} more: --all lists them\n\n" if left_out > 0 else "\n"


def _few(names: Iterator[str] | Sequence[str]) -> str:
    """The first names, and the number of the others."""
    every = list(names)
    more = len(every) - _NAMES_SHOWN
    shown = ", ".join(every[:_NAMES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _ref(ref: Ref) -> dict[str, Plain]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
