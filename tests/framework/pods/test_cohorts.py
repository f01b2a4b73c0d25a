from collections import Counter

from extender.framework.pods.cohorts import Cohort, Selection, pod_id
from extender.match.label_selectors import Selector
from tests.builders import pod_info

EVERYONE = Selector(())


def test_who_a_pod_is() -> None:
    assert pod_info("p").id == "uid-p"
    assert pod_id("shop", "p", "") == "shop/p"


def test_what_nobody_who_counts_could_tell_apart() -> None:
    before = pod_info("p", "a")
    same = pod_info("p", "a")

    assert not before.counts_as(same)  # labels are compared by identity: they are interned
    assert before.counts_as(before)


def test_a_selection_counts_the_pods_of_its_cohorts_by_node() -> None:
    selection = Selection("default", EVERYONE)
    cohort = Cohort({}, placed={"p": "a", "q": "a", "r": "b"})
    selection.link(cohort)

    assert selection.on_node == Counter(a=2, b=1)
    assert cohort.selections == [selection]

    selection.add("b", -1)
    selection.add("c", 1)

    assert dict(selection.on_node) == {"a": 2, "c": 1}


def test_victims_are_those_that_are_meant_and_on_the_node() -> None:
    selection = Selection("default", EVERYONE)
    selection.link(Cohort({}, placed={"p": "a", "q": "b"}))
    selection.link(Cohort({}, placed={"r": "a"}))

    assert selection.victims("a", ["p", "q", "r", "stranger"]) == 2
    assert selection.victims("b", ["p"]) == 0
