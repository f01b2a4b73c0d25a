"""What `leeway scan` prints: tables for a person, or data for a program."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from extender.cli import tables
from extender.cli.tables import Colour, Row, Screen
from extender.model.documents import Plain
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
            {**_ref(each.ref), "withoutPod": [*each.missing], "podStaysPending": [*each.stuck]}
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
    }


def tables_of(found: Report, on: Screen) -> Iterator[str]:
    """The sections that are not empty."""
    yield from _section("RULES BY GATE", "", _GATE_HEADER, _gate_rows(found), on)
    yield from _section("RULES", "", _RULE_HEADER, _rule_rows(found), on)
    for title, colour, header, rows in chain(_rule_findings(found), _cluster_findings(found)):
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
    yield (
        "DAEMONSETS WITH RULES THAT THE DAEMONSET CONTROLLER CANNOT SEE",
        "yellow",
        ("DAEMONSET", "FIT, BUT GET NO POD", "GET A POD THAT STAYS PENDING"),
        ((str(d.ref), _few(d.missing) or "-", _few(d.stuck) or "-") for d in found.daemons),
    )
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
