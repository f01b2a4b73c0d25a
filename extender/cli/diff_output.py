"""What `leeway diff` prints: tables for a person, or data for a program."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.cli import tables
from extender.cli.tables import Cell, Row, Screen
from extender.config import printing
from extender.model.documents import Plain
from extender.review.diff.comparing import Difference, WorkloadChange
from extender.review.explain.words import counted
from extender.review.scan.objects import Ref

# Together with titles and sentences less than 60 lines, however large the cluster is.
MAX_NODES: Final = 10
MAX_WORKLOADS: Final = 30
MAX_WHAT: Final = 4
MAX_NAMES: Final = 100


def document(found: Difference) -> Plain:
    """Everything, as data; of long lists of nodes the first names."""
    return {
        "changes": bool(found.workloads),
        "nodes": {
            "before": found.nodes_before,
            "after": found.nodes_after,
            "changed": [{"name": each.name, "what": [*each.what]} for each in found.nodes],
        },
        "compared": found.compared,
        "onlyBefore": found.only_before,
        "onlyAfter": found.only_after,
        "cannotStay": found.stranded,
        "evicted": found.evicted,
        "workloads": [_workload(each) for each in found.workloads],
    }


def _workload(change: WorkloadChange) -> Plain:
    return {
        **_ref(change.workload),
        "pods": change.pods,
        "passesBefore": change.before,
        "passesAfter": change.after,
        "opens": len(change.opened),
        "opened": [*change.opened[:MAX_NAMES]],
        "closes": len(change.closed),
        "closed": [*change.closed[:MAX_NAMES]],
        "reasons": dict(change.reasons),
        "cannotStay": [
            {"pod": each.ref.name, "node": each.node, "reason": each.reason}
            for each in change.stranded
        ],
        "evicted": [
            {
                "pod": each.ref.name,
                "node": each.node,
                "taint": printing.taint_text(each.eviction.taint),
                "afterSeconds": each.eviction.seconds,
            }
            for each in change.evicted
        ],
    }


def _ref(ref: Ref) -> dict[str, Plain]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def render(found: Difference, on: Screen) -> str:
    """The nodes that differ, the workloads whose verdicts do, and a summary."""
    return "".join(_parts(found, on))


def _parts(found: Difference, on: Screen) -> Iterator[str]:
    if found.nodes:
        rows = [(each.name, _few(each.what)) for each in found.nodes[:MAX_NODES]]
        yield tables.render(("NODE", "CHANGE"), rows, on)
        yield _more(len(found.nodes) - len(rows), "node", on)
        yield "\n"
    if found.workloads:
        shown = found.workloads[:MAX_WORKLOADS]
        yield tables.render(_HEADER, [_row(each) for each in shown], on)
        yield _more(len(found.workloads) - len(shown), "workload", on)
        yield "\n"
    for sentence in _summary(found):
        yield tables.paragraph(sentence, on)


_HEADER: Final = (
    "WORKLOAD",
    "PODS",
    "PASSES ON",
    "OPENS",
    "CLOSES",
    "CANNOT STAY",
    "EVICTED",
    "WHY",
)


def _row(change: WorkloadChange) -> Row:
    evicted, stranded = len(change.evicted), len(change.stranded)
    return (
        str(change.workload),
        str(change.pods),
        f"{change.before} -> {change.after}",
        Cell(f"+{len(change.opened)}", "green") if change.opened else "-",
        Cell(f"-{len(change.closed)}", "red") if change.closed else "-",
        Cell(str(stranded), "red") if stranded else "-",
        Cell(_evictions(change), "red") if evicted else "-",
        _why(change) or "-",
    )


def _evictions(change: WorkloadChange) -> str:
    """How many pods are evicted, and when the first of them is."""
    first = min(each.eviction.seconds for each in change.evicted)
    return f"{len(change.evicted)} {'at once' if first == 0 else f'after {first} s'}"


def _why(change: WorkloadChange) -> str:
    """The most frequent reason."""
    if not change.reasons:
        taints = [printing.taint_text(each.eviction.taint) for each in change.evicted]
        return f"taint {taints[0]}" if taints else ""
    reason, _ = change.reasons[0]
    more = len(change.reasons) - 1
    return f"{reason} and {counted(more, 'more reason')}" if more else reason


def _summary(found: Difference) -> Iterator[str]:
    nodes = f"{found.nodes_before} nodes"
    if found.nodes_after != found.nodes_before:
        nodes = f"{found.nodes_before} nodes before and {found.nodes_after} after"
    yield f"compared: {found.compared} pods and templates, on {nodes}"
    if found.only_before or found.only_after:
        yield (
            f"not compared: {found.only_before} that are only in the first cluster,"
            f" {found.only_after} that are only in the second"
        )
    if not found.workloads:
        yield "nothing changes"
        return
    yield f"workloads that change: {len(found.workloads)}"
    yield f"running pods that could not be placed where they run: {found.stranded}"
    yield f"running pods that would be evicted: {found.evicted}"


def _more(count: int, noun: str, on: Screen) -> str:
    if count <= 0:
        return ""
    return tables.paragraph(f"and {counted(count, noun)} more; -o json lists all", on)


def _few(what: Sequence[str]) -> str:
    more = len(what) - MAX_WHAT
    shown = ", ".join(what[:MAX_WHAT])
    return f"{shown} and {more} more" if more > 0 else shown
