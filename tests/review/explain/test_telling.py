"""The sentences of an explanation."""

import pytest
from msgspec.structs import replace

from extender.review.explain import telling
from extender.review.explain.schema import Fix, ObjectReference, Pin, SchedulerAttempt
from tests.builders import a_pod, node_json, preferred, requirement, taint
from tests.review.explain.asking import derived, explained
from tests.review.explain.spread.test_derivation import PODS, spreading


def test_scores_are_told_if_they_differ() -> None:
    pod = a_pod(affinity=preferred((5, [requirement("disk", "In", "ssd")])))
    made = explained(pod, node_json("slow"), node_json("fast", labels={"disk": "ssd"}))
    equal = explained(a_pod(), node_json("a"), node_json("b"))

    assert telling.passing_names(made, made.verdicts) == "fast (10), slow (0)"
    assert telling.passing_names(equal, equal.verdicts) == "a, b"


def test_the_scheduler_and_what_pins_a_pod() -> None:
    made = explained(a_pod(), node_json("n"))
    attempt = SchedulerAttempt("", "3 Insufficient cpu", "")
    told = replace(made, attempt=attempt, pin=Pin(("a", "b"), ()))

    assert list(telling.context_lines(made)) == []
    assert list(telling.context_lines(told)) == [
        "kube-scheduler's last attempt (no reason): 3 Insufficient cpu",
        "pinned to no node of this cluster by a and b",
    ]


@pytest.mark.parametrize(
    ("target", "how", "title"),
    [
        (None, "", "Patch"),
        (ObjectReference("Pod", "", "p"), "", "Patch for Pod p"),
        (ObjectReference("Pod", "n", "p"), "so", "Patch for Pod n/p: so"),
    ],
)
def test_whose_patch_it_is(target: ObjectReference | None, how: str, title: str) -> None:
    assert telling.patch_title(Fix("n", True, (), (), 0, target=target, how=how)) == title


def test_of_many_domains_a_few_are_shown() -> None:
    """The node's own, those with the most pods and those with the fewest."""
    cluster = [node_json(f"n{i:03}", labels={"zone": f"z{i:03}"}) for i in range(200)]
    (check,) = derived(spreading(), *cluster[100:], *cluster[:100], pods=PODS).spread
    names = [each.name for each in telling.domains_of(check)]

    assert len(names) == telling.MAX_DOMAINS + 1
    assert "z100" in names
    assert telling.taint(derived(a_pod(), node_json("n", taint("x"))).taints[0]) == "x:NoSchedule"
