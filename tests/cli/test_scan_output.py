"""The tables of a scan; whole reports are in test_scan."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from extender.cli import scan_output
from extender.cli.tables import Screen
from extender.match.gates import CEL_GATE, COMPARISON_GATE
from extender.model.core_v1 import Toleration
from extender.native.notes import CUT, Note
from extender.native.planning import Plan
from extender.review.compilation import Compilation, PlainToleration
from extender.review.scan.compiled import CompiledPod
from extender.review.scan.objects import Ref
from extender.review.scan.pending import Pending
from extender.review.scan.report import Report, Use

EMPTY = Report({}, 0, (), (), (), (), 0, (), (), (), ())
FIRST = "sla=950:NoSchedule"
WEB = Ref("Deployment", "default", "web")
BAD = Ref("Job", "default", "bad\x1b[2J")


def shown(report: Report) -> str:
    return "".join(scan_output.tables_of(report, Screen()))


def test_an_empty_report_is_one_line() -> None:
    assert shown(replace(EMPTY, nodes=1)) == "scanned: 1 Node\n"


def test_without_nodes_the_report_says_so() -> None:
    lines = shown(replace(EMPTY, unjudged=3)).splitlines()

    assert lines == [
        "scanned: nothing",
        "no nodes given: no rule is compared with nodes, no pending pod (3) is judged",
    ]
    assert "no nodes given" not in shown(replace(EMPTY, missing={"nodes": "forbidden"}))


def test_pods_without_an_owner_share_a_row() -> None:
    pods = [Ref("Pod", "d", str(number)) for number in range(20_000)]
    uses = [Use("", "Gt", True, "p", "sla Gt 900", pod, {"Pod": 1}) for pod in pods]
    waiting = [Pending(pod, pod, "s", 0, (("why", 7),)) for pod in pods]
    broken = [(pod, "path", "why") for pod in pods]
    found = replace(EMPTY, nodes=7, uses=uses, pending=waiting, broken=broken, mistakes=broken)
    text, everything = shown(found), "".join(scan_output.tables_of(found, Screen(), every=True))

    assert text.count("20000 Pods without owner") == 4
    assert re.search(r"annotation +20000 Pods without owner +20000 Pod +sla Gt 900", text)
    assert "20000 Pods without owner  20000  s          7 why" in text
    assert len(text.splitlines()) < 25
    assert everything.count("Pod d/19999 ") == 4


def test_a_report_of_many_workloads_is_cut() -> None:
    refs = [Ref("Deployment", "d", f"w{number}") for number in range(5_000)]
    uses = [Use("", "Gt", True, "p", f"sla Gt {n}", ref, {}) for n, ref in enumerate(refs)]
    rows = [(ref, "path", "why") for ref in refs]
    unread = [(ref, "why") for ref in refs]
    found = replace(EMPTY, uses=uses, broken=rows, mistakes=rows, unread=unread, volumes=unread)
    text, everything = shown(found), "".join(scan_output.tables_of(found, Screen(), every=True))

    assert len(text.splitlines()) < 60
    assert text.count("more: --all lists them") == 5
    assert "more: --all" not in everything
    assert len(everything.splitlines()) > 25_000


@given(st.lists(st.integers(0, 30_000), max_size=12))
def test_the_rows_that_are_shown_fit(counts: list[int]) -> None:
    most = scan_output.rows_that_fit(counts, scan_output.MAX_LINES)
    lines = sum(min(count, most) + 4 for count in counts if count)

    assert most >= 1
    assert most == 1 or lines <= scan_output.MAX_LINES


def test_pods_that_wait_for_the_same_are_one_row() -> None:
    reasons = tuple((f"reason {number}", 1) for number in range(7))
    pods = [Pending(Ref("Pod", "d", str(i)), WEB, "s", 0, reasons) for i in range(3)]
    text = shown(replace(EMPTY, nodes=7, pending=pods, passing=2))

    rows = [line.split() for line in text.splitlines() if "default/web" in line]
    assert [row[:4] for row in rows] == [["Deployment", "default/web", "3", "s"]]
    assert "1 reason 4 and 2 more reasons" in text
    assert "2 pods are pending although nodes pass" in text


def test_pods_that_lack_the_same_are_one_row() -> None:
    added = tuple(Toleration("sla", "Equal", f"{950 + n}", "NoSchedule") for n in range(5))
    left_out = tuple(PlainToleration(each, "rule", missing=True) for each in added[:1])
    stale = tuple(PlainToleration(each, "narrowed") for each in added[:1])
    cut = Note(CUT, "so many")
    behind = Compilation(Plan(added=added), tolerations=stale)
    limited = Compilation(Plan(cut=True, notes=(cut,)), left_out=left_out)
    current = Compilation(Plan())
    pods = [
        CompiledPod(Ref("Pod", "d", str(n)), WEB, found)
        for n, found in enumerate((behind, behind, limited, current))
    ]
    lines = shown(replace(EMPTY, compiled=pods)).splitlines()
    page = scan_output.document(replace(EMPTY, compiled=pods))

    rows = [re.split("  +", line.strip()) for line in lines if "default/web" in line]
    missing = f"{FIRST}, sla=951:NoSchedule, sla=952:NoSchedule and 2 more"
    assert rows == [
        [str(WEB), "2", "behind", missing, "-", "-"],
        [str(WEB), "1", "cut", "-", FIRST, "so many"],
        [str(WEB), "2", FIRST],
    ]
    assert isinstance(page, dict)
    assert [len(page[key]) for key in ("notCompiled", "toleratedWithoutRule")] == [3, 2]  # type: ignore[arg-type]


def test_a_long_list_of_names_is_cut_for_a_person_only() -> None:
    names = [f"n{number}" for number in range(9)]

    assert scan_output._few(names) == "n0, n1, n2 and 6 more"
    assert scan_output._few(names[:3]) == "n0, n1, n2"


def test_the_pods_of_a_workload_with_two_rules_are_counted_once() -> None:
    use = Use(COMPARISON_GATE, "Gt", True, "p", "r", WEB, {"Pod": 3, "Deployment": 1})
    uses = [use, replace(use, rule="other"), replace(use, gate=CEL_GATE, objects={"Job": 1})]
    page = scan_output.document(replace(EMPTY, uses=uses))

    assert isinstance(page, dict)
    gates = page["gates"]
    assert isinstance(gates, dict)
    assert gates[COMPARISON_GATE] == {"workloads": 1, "pods": 3}
    assert gates[CEL_GATE] == {"workloads": 1, "pods": 0}
    assert gates["none"] == {"workloads": 0, "pods": 0}


def test_foreign_text_cannot_command_a_terminal() -> None:
    text = shown(replace(EMPTY, broken=[(BAD, "path\n", "why\x07")], missing={"pods": "\x1b[1m"}))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "bad\\x1b[2J" in text
