"""Pods in compile mode, as a scan meets them."""

import msgspec
import pytest

from extender.framework.interface import Settings
from extender.model.core_v1 import Pod
from extender.native.settings import CompileSettings
from extender.review import compilation
from extender.review.scan import compiled
from extender.review.scan.objects import Ref
from tests.builders import JSON, node_json, pod_json, some_nodes, taint, toleration
from tests.review.scan.scanning import a_pod, an_inventory, owned_by

RULE = toleration("sla", "Gt", "900")
CHOSEN = CompileSettings()
VIEW = compilation.view_of(
    some_nodes(node_json("a", taint("sla", "950")), node_json("b", taint("sla", "800"))), CHOSEN
)


def states(*pods: JSON) -> dict[str, str]:
    inventory = an_inventory(*pods)
    found = compiled.judge(inventory.live, VIEW, Settings(), CHOSEN, inventory.root)
    return {each.ref.name: each.found.state for each in found}


def test_every_pod_that_compile_mode_is_for() -> None:
    assert states(
        a_pod("behind", annotated_tolerations=[RULE]),
        a_pod("native", RULE, node="a", phase="Running"),
        a_pod("current", toleration("sla", "Exists"), annotated_tolerations=[RULE]),
        a_pod("refused", annotated_tolerations="["),
        a_pod("daemon", annotated_tolerations=[RULE], owner=owned_by("DaemonSet", "d")),
        a_pod("ended", annotated_tolerations=[RULE], phase="Failed"),
        a_pod("theirs", annotated_tolerations=[RULE], scheduler="theirs"),
        a_pod("affine", annotated_affinity={}),
    ) == {"behind": "behind", "native": "behind", "current": "current", "refused": "refused"}


def test_a_pod_counts_for_its_workload() -> None:
    inventory = an_inventory(
        a_pod("web-a", annotated_tolerations=[RULE], owner=owned_by("Deployment", "web"))
    )
    (found,) = compiled.judge(inventory.live, VIEW, Settings(), CHOSEN, inventory.root)

    assert found.workload == Ref("Deployment", "default", "web")


@pytest.mark.parametrize(
    ("names", "scheduler", "chosen"),
    [
        ({"default-scheduler"}, "", True),
        ({"default-scheduler"}, "theirs", False),
        ({"theirs"}, "theirs", True),
        (set(), "theirs", True),
    ],
)
def test_whose_pods_are_compiled(names: set[str], scheduler: str, chosen: bool) -> None:
    pod = msgspec.convert(pod_json(scheduler=scheduler), Pod)
    settings = CompileSettings(scheduler_names=frozenset(names))

    assert compiled.is_chosen(pod, settings) is chosen


@pytest.mark.parametrize(
    ("pod", "texts"),
    [
        (pod_json(annotated_tolerations=[RULE]), ["sla=950:NoSchedule"]),
        (pod_json(toleration("sla", "Exists"), annotated_tolerations=[RULE]), []),
        (pod_json(annotated_tolerations="["), []),
        ({}, []),
    ],
    ids=["a rule", "tolerated by itself", "nobody can read it", "nothing"],
)
def test_what_a_template_should_have(pod: JSON, texts: list[str]) -> None:
    template = msgspec.convert(pod, Pod)
    found = compiled.plain_tolerations(template, VIEW, Settings(), CHOSEN)

    assert [compilation.text_of(each) for each in found] == texts
