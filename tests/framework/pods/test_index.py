"""What is counted as pods come and go, and what is reserved for those in flight."""

from collections import Counter

import msgspec
import pytest

from extender.errors import BudgetError
from extender.framework.columns.node_table import NodeTable, PassingNodes
from extender.framework.node_info import NodeInfo
from extender.framework.pods.cohorts import PodInfo, Selection
from extender.framework.pods.in_flight import RESERVED_SECONDS
from extender.framework.pods.index import PodIndex
from extender.match.budget import Budget
from extender.match.label_selectors import Requirement, Selector
from extender.match.lru import CacheBudget, weight_of
from extender.model.core_v1 import Pod
from tests.builders import let_pass, node_json, pod_info, some_nodes
from tests.framework.pods.test_topology import Everyone

WEB = {"app": "web"}
DB = {"app": "db"}
BY_ZONE = "zone", ["zone"], Everyone()


def app(name: str) -> Selector:
    return Selector((Requirement("app", "In", (name,)),))


def two_zones() -> dict[str, NodeInfo]:
    nodes = some_nodes(*(node_json(f"n{i}", labels={"zone": "ab"[i % 2]}) for i in range(4)))
    return {node.name: node for node in nodes}


class Told:
    """An index that counts how often it tells of a change."""

    def __init__(self, *, reserves: bool = True, budget: CacheBudget | None = None) -> None:
        self.changes = 0
        self.nodes = two_zones()
        self.table = NodeTable(self.nodes.values())
        self.index = PodIndex(self.nodes, reserves=reserves, on_change=self._changed, caches=budget)

    def _changed(self) -> None:
        self.changes += 1

    def pass_on(self, *names: str) -> PassingNodes:
        return let_pass(self.table, *names)

    def web(self) -> Selection:
        return self.index.selection("default", app("web"), Budget())

    def zones(self) -> Counter[str]:
        return self.index.tally(self.web(), "zone", ["zone"], Everyone(), Budget()).counts


@pytest.fixture
def told() -> Told:
    return Told()


def pending(name: str = "p", labels: dict[str, str] | None = None, uid: str | None = None) -> Pod:
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}" if uid is None else uid,
        "labels": WEB if labels is None else labels,
    }
    return msgspec.convert({"metadata": metadata}, Pod)


@pytest.mark.parametrize("asked_first", [True, False])
def test_pods_count_by_namespace_and_labels(told: Told, asked_first: bool) -> None:
    if asked_first:
        told.web()
    for pod in (
        pod_info("p", "n0", labels=WEB),
        pod_info("q", "n1", labels=WEB),
        pod_info("r", "n0", labels=WEB | {"more": "labels"}),
        pod_info("other", "n0", labels=DB),
        pod_info("elsewhere", "n0", labels=WEB, namespace="shop"),
        pod_info("leaving", "n0", labels=WEB, terminating=True),
        pod_info("nominated", nominated="n0", labels=WEB),
    ):
        told.index.put(pod, None)

    assert dict(told.web().on_node) == {"n0": 2, "n1": 1}


def test_a_selector_of_everything_counts_nobody(told: Told) -> None:
    selection = told.index.selection("default", Selector(()), Budget())
    told.index.put(pod_info("p", "n0", labels=WEB), None)

    assert dict(selection.on_node) == {}


STEPS = {
    "moves": (pod_info("p", "n0", labels=WEB), pod_info("p", "n1", labels=WEB), {"n1": 1}),
    "is told to leave": (
        pod_info("p", "n0", labels=WEB),
        pod_info("p", "n0", labels=WEB, terminating=True),
        {},
    ),
    "changes its labels": (pod_info("p", "n0", labels=WEB), pod_info("p", "n0", labels=DB), {}),
    "is bound after it was nominated": (
        pod_info("p", nominated="n0", labels=WEB),
        pod_info("p", "n1", nominated="n0", labels=WEB),
        {"n1": 1},
    ),
    "was leaving, and one of its name comes": (
        pod_info("p", "n0", labels=WEB, terminating=True),
        pod_info("p", "n1", labels=WEB),
        {"n1": 1},
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_pod_that_changes(told: Told, step: str) -> None:
    before, after, expected = STEPS[step]
    told.web()
    told.index.put(before, None)
    told.index.put(after, before)

    assert dict(told.web().on_node) == expected
    assert all(not cohort.nominated for cohort in told.web().cohorts)


def test_news_that_changes_nothing_is_no_change(told: Told) -> None:
    pod = pod_info("p", "n0", labels=WEB)
    told.web()
    told.index.put(pod, None)
    before = told.changes
    told.index.put(msgspec.structs.replace(pod), pod)

    assert told.changes == before
    assert dict(told.web().on_node) == {"n0": 1}


def test_only_changes_that_somebody_counts_are_told(told: Told) -> None:
    strange = pod_info("p", "n0", labels=DB)
    told.index.put(strange, None)
    told.index.remove(strange)

    assert told.changes == 0

    told.web()
    pod = pod_info("q", "n0", labels=WEB)
    told.index.put(pod, None)
    told.index.remove(pod)
    told.index.remove(pod)
    told.index.remove(pod_info("r", "n0", namespace="nowhere"))

    assert told.changes == 2
    assert dict(told.web().on_node) == {}


def test_pods_of_a_workload_come_and_go_one_by_one(told: Told) -> None:
    """They share their labels, as a store has them."""
    labels = dict(WEB)
    pods = [msgspec.structs.replace(pod_info(f"p{i}", "n0"), labels=labels) for i in range(3)]
    told.web()
    for pod in pods:
        told.index.put(pod, None)
    told.index.remove(pods[0])

    assert dict(told.web().on_node) == {"n0": 2}
    assert len(told.web().cohorts) == 1


def test_what_nobody_counts_or_is_leaves_nothing_behind(told: Told) -> None:
    pods = [pod_info(f"p{i}", "n0", labels={"own": str(i)}, namespace=f"ns{i}") for i in range(9)]
    for pod in pods:
        told.index.put(pod, None)
    for pod in pods:
        told.index.remove(pod)

    assert told.index._namespaces == {}


def test_counts_by_domain_follow_pods_and_nodes(told: Told) -> None:
    told.index.put(pod_info("p", "n0", labels=WEB), None)
    told.index.put(pod_info("q", "n1", labels=WEB), None)

    assert told.zones() == Counter(a=1, b=1)

    (told.nodes["n0"],) = some_nodes(node_json("n0", labels={"zone": "b"}))
    told.index.node_changed("n0")
    told.index.put(pod_info("r", "n2", labels=WEB), None)

    assert told.zones() == Counter(a=1, b=2)

    del told.nodes["n1"]
    told.index.node_changed("n1")

    assert told.zones() == Counter(a=1, b=1)


SELECTION = weight_of(("default", app("web"))) + 2_000
TOPOLOGY = weight_of(("zone", ("zone",), "everyone")) + 4_000


def test_selections_that_nobody_asks_about_are_dropped() -> None:
    told = Told(budget=CacheBudget(4 * SELECTION))
    told.index.put(pod_info("p", "n0", labels=WEB), None)
    told.zones()
    old = told.web()
    other = told.index.selection("empty", app("x"), Budget())
    told.web()
    for number in range(9):
        told.index.selection("default", app(f"other-{number}"), Budget())
        if number < 2:
            assert told.web() is old  # it was asked about

    assert told.index.selection("empty", app("x"), Budget()) is not other
    assert told.web() is not old
    assert old.tallies == [] or all(t.topology.tallies == {} for t in old.tallies)
    assert dict(told.web().on_node) == {"n0": 1}
    assert told.index._selections.evictions > 0
    # Nobody counts for those that are dropped any more.
    assert [len(cohort.selections) for cohort in told.web().cohorts] == [1]
    assert len(told.index._namespaces["default"].selections) == len(told.index._selections) - 1


def test_a_selection_that_is_dropped_is_not_counted_by_domain_any_more() -> None:
    told = Told(budget=CacheBudget(60_000))
    told.zones()
    web = told.web()
    (tally,) = web.tallies
    for number in range(60):
        other = told.index.selection("default", app(f"other-{number}"), Budget())
        told.index.tally(other, "zone", ["zone"], Everyone(), Budget())

    assert told.index._selections.evictions > 0
    assert web not in tally.topology.tallies
    assert len(tally.topology.tallies) <= len(told.index._selections)


def test_topologies_that_nobody_asks_about_are_dropped() -> None:
    told = Told(budget=CacheBudget(4 * TOPOLOGY))
    web = told.web()
    first, second, again = (
        told.index.tally(web, "zone", ["zone"], Everyone(key=key), Budget())
        for key in ("x", "y", "x")
    )
    for number in range(9):
        told.web()
        told.index.tally(web, "zone", ["zone"], Everyone(key=str(number)), Budget())

    assert first is again
    assert first not in web.tallies
    assert second not in web.tallies
    assert len(web.tallies) == len(told.index._topologies) < 9


def test_what_is_too_large_to_keep_is_counted_once() -> None:
    told = Told(budget=CacheBudget(0))
    told.index.put(pod_info("p", "n0", labels=WEB), None)
    selection = told.web()
    tally = told.index.tally(selection, "zone", ["zone"], Everyone(), Budget())
    told.index.put(pod_info("q", "n0", labels=WEB), None)

    assert tally.counts == Counter(a=1)
    assert (selection.tallies, dict(selection.on_node)) == ([], {"n0": 1})
    assert told.zones() == Counter(a=2)
    assert (len(told.index._selections), len(told.index._topologies)) == (0, 0)


def test_a_selection_that_grows_is_weighed_again_and_may_become_too_heavy() -> None:
    told = Told(budget=CacheBudget(4 * SELECTION))
    web = told.web()
    weighed = told.index._selections.bytes
    labels = dict(WEB)
    for number in range(400):
        pod = msgspec.structs.replace(pod_info(f"p{number}", f"m{number}"), labels=labels)
        told.index.put(pod, None)

    assert told.index._selections.evictions == 1
    assert told.index._selections.bytes == 0 < weighed
    assert told.web() is not web
    assert sum(told.web().on_node.values()) == 400


def test_a_topology_weighs_more_with_each_tally() -> None:
    told = Told()
    tallies = told.index._topologies
    told.zones()
    one = tallies.bytes
    told.zones()
    assert tallies.bytes == one
    told.index.tally(
        told.index.selection("default", app("db"), Budget()), "zone", ["zone"], Everyone(), Budget()
    )

    assert tallies.bytes > one
    assert len(tallies) == 1


def test_an_index_that_is_closed_holds_nothing() -> None:
    budget = CacheBudget()
    told = Told(budget=budget)
    told.zones()
    assert budget.bytes > 0
    told.index.close()

    assert budget.bytes == 0


# --- In flight -----------------------------------------------------------------------------------


def flying(told: Told) -> dict[str, list[str]]:
    return {
        name: reservation.nodes.names() if reservation.nodes else []
        for name, reservation in told.web().in_flight.items()
    }


def test_a_pod_that_is_let_pass_is_in_flight_for_those_who_count_it(told: Told) -> None:
    told.web()
    told.index.answered(pending("p"), told.pass_on("n0"))
    told.index.answered(pending("stranger", DB), told.pass_on("n0"))
    told.index.answered(pending("refused"), None)
    told.index.answered(pending("waits"), None, waits=True)

    assert flying(told) == {"uid-p": ["n0"], "uid-waits": []}
    assert told.index.in_flight == 2


def test_who_begins_to_count_counts_those_in_flight(told: Told) -> None:
    told.index.answered(pending("p"), told.pass_on("n0"))
    told.index.answered(pending("q", DB), told.pass_on("n1"))
    told.index.answered(msgspec.convert({}, Pod), told.pass_on("n0"))
    before = told.index.in_flight

    assert flying(told) == {"uid-p": ["n0"]}
    assert (before, told.index.in_flight) == (0, 1)


def test_a_selection_that_comes_back_finds_those_in_flight_again() -> None:
    told = Told(budget=CacheBudget(4 * SELECTION))
    told.web()
    told.index.answered(pending("p"), told.pass_on("n0"))
    for number in range(9):
        told.index.selection("default", app(f"other-{number}"), Budget())

    assert flying(told) == {"uid-p": ["n0"]}


def test_an_index_that_sees_nobody_arrive_reserves_nothing() -> None:
    told = Told(reserves=False)
    told.web()
    told.index.answered(pending("p"), told.pass_on("n0"))

    assert told.index.in_flight == 0


def test_a_pod_without_a_uid_goes_by_its_name(told: Told) -> None:
    told.web()
    told.index.answered(pending("p", uid=""), told.pass_on("n0"))

    assert flying(told) == {"default/p": ["n0"]}


def bound(told: Told) -> None:
    told.index.put(pod_info("p", "n0", labels=WEB), None)


def bound_and_leaving(told: Told) -> None:
    told.index.put(pod_info("p", "n0", labels=WEB, terminating=True), None)


def deleted(told: Told) -> None:
    told.index.gone("default/p", "")


def refused(told: Told) -> None:
    told.index.answered(pending("p"), None)


def too_late(told: Told) -> None:
    told.index.advance(100.0 + RESERVED_SECONDS)


@pytest.mark.parametrize("end", [bound, bound_and_leaving, deleted, refused, too_late])
def test_how_a_reservation_ends(told: Told, end: object) -> None:
    told.web()
    told.index.advance(100.0)
    told.index.answered(pending("p"), told.pass_on("n0"))
    before = flying(told)
    assert callable(end)
    end(told)

    assert (before, flying(told)) == ({"uid-p": ["n0"]}, {})


@pytest.mark.parametrize("end", [bound, deleted, too_late])
def test_the_end_of_a_reservation_is_told(told: Told, end: object) -> None:
    told.web()
    told.index.answered(pending("p"), told.pass_on("n0"))
    before = told.changes
    assert callable(end)
    end(told)

    assert told.changes > before


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(pod_info("p", nominated="n1", labels=WEB), id="it is nominated"),
        pytest.param(pod_info("q", "n1", labels=WEB), id="another pod is bound"),
    ],
)
def test_what_does_not_end_a_reservation(told: Told, event: PodInfo) -> None:
    told.web()
    told.index.answered(pending("p"), told.pass_on("n0"))
    told.index.put(event, None)
    told.index.gone("default/q", "uid-q")
    told.index.gone("default/p", "uid-of-an-earlier-p")
    told.index.advance(1.0)

    assert flying(told) == {"uid-p": ["n0"]}


# --- What it costs -------------------------------------------------------------------------------


def with_left(left: int) -> Budget:
    budget = Budget()
    budget.left = left
    return budget


def cost(told: Told, selector: Selector) -> float:
    budget = with_left(1_000)
    told.index.selection("default", selector, budget)
    return 1_000 - budget.left


def test_a_selection_costs_its_conditions_for_each_cohort_once(told: Told) -> None:
    for number in range(8):
        told.index.put(pod_info(f"p{number}", "n1", labels={"app": f"app-{number}"}), None)
    not_in = Selector(tuple(Requirement("app", "NotIn", (f"x{i}",)) for i in range(3)))

    # 8 cohorts are passed over, then each has 3 conditions and is linked, and 8 pods are counted.
    assert cost(told, not_in) == 8 // 2 + (1 + 3) * 8 + 3 * 8 + 1
    assert cost(told, not_in) == 0
    # A label that must be there word for word rules the others out at once.
    assert cost(told, app("app-1")) == 8 // 2 + (1 + 1) * 1 + 3 * 1


@pytest.mark.parametrize("left", [0, 2, 5])
def test_a_selection_that_costs_too_much_leaves_nothing_behind(told: Told, left: int) -> None:
    pods = [pod_info(f"p{number}", "n1", labels=dict(WEB)) for number in range(2)]
    for pod in pods:
        told.index.put(pod, None)
    with pytest.raises(BudgetError):
        told.index.selection("default", app("web"), with_left(left))
    for pod in pods:
        told.index.remove(pod)

    assert told.index._namespaces == {}


def test_pods_in_flight_cost_a_new_selection_too(told: Told) -> None:
    told.index.answered(pending(), told.pass_on("n0"))

    with pytest.raises(BudgetError):
        told.index.selection("default", app("web"), with_left(1))
    assert told.index.selection("default", app("web"), with_left(2)).in_flight


def test_domains_cost_two_for_each_node_that_is_looked_at(told: Told) -> None:
    web, nodes = told.web(), len(told.nodes)
    with pytest.raises(BudgetError):
        told.index.tally(web, "zone", ["zone"], Everyone(), with_left(2 * nodes - 1))

    told.index.tally(web, "zone", ["zone"], Everyone(), with_left(2 * nodes + 1))
    told.index.tally(web, "zone", ["zone"], Everyone(), with_left(1))
    told.index.node_changed("n0")
    with pytest.raises(BudgetError):
        told.index.tally(web, "zone", ["zone"], Everyone(), with_left(1))


def test_a_count_costs_one_for_each_node_with_pods(told: Told) -> None:
    for number in range(4):
        told.index.put(pod_info(f"p{number}", f"n{number}", labels=WEB), None)
    told.index.tally(told.index.selection("default", app("db"), Budget()), *BY_ZONE, Budget())

    with pytest.raises(BudgetError):
        told.index.tally(told.web(), *BY_ZONE, with_left(4))
    told.index.tally(told.web(), *BY_ZONE, with_left(5))
    told.index.tally(told.web(), *BY_ZONE, with_left(1))
