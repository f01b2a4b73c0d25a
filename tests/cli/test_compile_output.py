"""What `leeway compile` prints of an outcome."""

import pytest

from extender.cli.compile_output import Outcome, render
from extender.errors import DocumentError
from extender.framework.interface import Settings
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.review.compiling import texts
from extender.review.compiling.workloads import Facts

POD = """\
kind: Pod
apiVersion: v1
metadata:
  name: "p\\e[31m"
  annotations:
    scheduling.leeway/tolerations: '[{"key": "sla", "operator": "Gt", "value": "900"}]'
spec: {}
"""


def outcome_of(**files: str) -> Outcome:
    outcome = Outcome()
    facts = Facts({Taint("sla", "950", "NoSchedule"): 1})
    for name, text in files.items():
        outcome.add(name, texts.compile_text(text, facts, Settings(), CompileSettings()))
    return outcome


def test_nothing_stale_is_nothing_printed() -> None:
    outcome = outcome_of(a="kind: ConfigMap\n")

    assert {render(outcome, output, True) for output in ("patch", "json", "github")} == {""}
    assert render(outcome, "json", False) == "[]\n"
    assert outcome.rewritten() == {}
    assert outcome.summary() == "0 object(s), 0 stale, 0 new value(s)"


def test_what_a_file_says_cannot_control_the_terminal() -> None:
    outcome = outcome_of(a=POD)

    printed = "".join(render(outcome, output, False) for output in ("patch", "json", "github"))

    assert "\x1b" not in printed
    assert "p\\x1b[31m" in render(outcome, "github", False)


def test_files_that_cannot_be_rewritten_are_all_named() -> None:
    shared = POD.replace("spec: {}", "spec: &x {}")
    outcome = outcome_of(a=shared, b=shared)

    with pytest.raises(DocumentError) as caught:
        outcome.texts()

    assert str(caught.value).splitlines() == [
        f"{name}: cannot be rewritten: line 7: an anchor or alias is in the way of a change;"
        " use -o patch or -o json"
        for name in "ab"
    ]


def test_a_problem_without_a_line_names_the_file() -> None:
    outcome = outcome_of(a=POD)
    outcome.unreadable.append("b: cannot be read")

    assert outcome.is_bad
    assert [*outcome.problems()] == ["b: cannot be read"]
