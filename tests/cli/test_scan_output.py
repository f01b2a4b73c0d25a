"""The tables of a scan; whole reports are in test_scan."""

import re
from dataclasses import replace

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
    assert shown(EMPTY) == "scanned: nothing\n"


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
