"""What `leeway scan` prints: tables for a person, or data for a program."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from extender.cli import tables
from extender.cli.tables import Colour, Row, Screen
from extender.model.core_v1 import Toleration
from extender.model.documents import Plain
from extender.review.compilation import text_of
from extender.review.scan.compiled import CompiledPod
from extender.review.scan.objects import Ref
from extender.review.scan.report import Report
from extender.review.scan.usage import GATES

_NAMES_SHOWN = 3
_REASONS_SHOWN = 5
NO_GATE = "(none: needs Leeway)"

# Title, colour of the title, header and rows.
Section = tuple[str, Colour, Sequence[str], Iterator[Row]]


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


def tables_of(found: Report, on: Screen) -> Iterator[str]:
    """The sections that are not empty."""
    yield from _section("RULES BY GATE", "", _GATE_HEADER, _gate_rows(found), on)
    yield from _section("RULES", "", _RULE_HEADER, _rule_rows(found), on)
    for title, colour, header, rows in chain(
        _rule_findings(found), _cluster_findings(found), _compile_findings(found)
    ):
        yield from _section(title, colour, header, list(rows), on)
    for name, why in found.missing.items():
        yield tables.paragraph(f"not listed: {name}: {why}", on)
    seen = {"Node": found.nodes, **found.seen}
    counted = ", ".join(f"{count} {kind}" for kind, count in seen.items() if count)
    yield tables.paragraph(f"scanned: {counted or 'nothing'}", on)
    if found.passing:
        yield tables.paragraph(
            f"{found.passing} pods are pending although nodes pass Leeway's rules", on
        )


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


def _rule_rows(found: Report) -> list[Row]:
    return [
        (
            use.gate or "-",
            use.operator,
            "annotation" if use.annotated else "native",
            str(use.workload),
            ", ".join(f"{count} {kind}" for kind, count in use.objects.items()),
            use.rule,
        )
        for use in found.uses
    ]


def _rule_findings(found: Report) -> Iterator[Section]:
    """Rules and values that cannot be read."""
    yield (
        "ANNOTATIONS THAT CANNOT BE READ: the pod fits nowhere",
        "red",
        ("WORKLOAD", "PATH", "WHY"),
        ((str(ref), path, why) for ref, path, why in found.broken),
    )
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


def _cluster_findings(found: Report) -> Iterator[Section]:
    """Rules that do not do in this cluster what their authors expect."""
    yield (
        f"PENDING BECAUSE NONE OF {found.nodes} NODES PASSES LEEWAY'S RULES",
        "yellow",
        ("WORKLOAD", "PODS", "SCHEDULER", "REASONS"),
        _pending_rows(found),
    )
    yield _daemon_section(found)
    yield (
        "NOEXECUTE TAINTS THAT ONLY AN ANNOTATION TOLERATES: refused there, or evicted (join)",
        "yellow",
        ("WORKLOAD", "TAINT", "NODES"),
        (
            (str(each.ref), f"{each.taint.key}={each.taint.value}", _few(each.nodes))
            for each in found.evicted
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
        ((str(ref), name) for ref, name in found.unread),
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


def _compile_findings(found: Report) -> Iterator[Section]:
    """Pods that are not what compile mode would make of them."""
    yield (
        "PODS THAT ARE NOT COMPILED: 'leeway controller' adds what is missing, if it runs",
        "cyan",
        ("WORKLOAD", "PODS", "STATE", "MISSING", "LEFT OUT", "WHY"),
        _lagging_rows(found),
    )
    alike = Counter(
        (each.workload, _few(map(text_of, each.found.narrowed))) for each in _narrowed(found)
    )
    yield (
        "TOLERATIONS THAT NO RULE OF THE POD MATCHES ANY MORE: create the pod anew to narrow it",
        "cyan",
        ("WORKLOAD", "PODS", "TOLERATIONS"),
        ((str(workload), str(pods), text) for (workload, text), pods in alike.items()),
    )


def _lagging_rows(found: Report) -> Iterator[Row]:
    """One row for all pods of a workload that lack the same."""
    alike = Counter(
        (
            each.workload,
            each.found.state,
            _few(map(text_of, each.found.missing)) or "-",
            _few(text_of(one.toleration) for one in each.found.left_out) or "-",
            ", ".join(note.message for note in each.found.plan.notes) or "-",
        )
        for each in _lagging(found)
    )
    for (workload, *rest), pods in alike.items():
        state, missing, left_out, why = map(str, rest)
        yield str(workload), str(pods), state, missing, left_out, why


def _pending_rows(found: Report) -> Iterator[Row]:
    """One row for all pods of a workload that are pending for the same reasons."""
    alike = Counter((each.workload, each.scheduler, each.reasons) for each in found.pending)
    for (workload, scheduler, reasons), pods in alike.items():
        said = [f"{count} {reason}" for reason, count in reasons[:_REASONS_SHOWN]]
        more = len(reasons) - len(said)
        text = ", ".join(said) + (f" and {more} more reasons" if more else "")
        yield str(workload), str(pods), scheduler, text


def _section(
    title: str, colour: Colour, header: Sequence[str], rows: Sequence[Row], on: Screen
) -> Iterator[str]:
    if rows:
        yield on.paint(title, colour or "bold") + "\n"
        yield tables.render(header, rows, on, indent="  ") + "\n"


def _few(names: Iterator[str] | Sequence[str]) -> str:
    """The first names, and the number of the others."""
    every = list(names)
    more = len(every) - _NAMES_SHOWN
    shown = ", ".join(every[:_NAMES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _ref(ref: Ref) -> dict[str, Plain]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
