import pytest

from extender.framework.columns.node_table import NodeTable
from extender.framework.pods import in_flight
from extender.framework.pods.cohorts import Selection
from extender.framework.pods.in_flight import RESERVED_SECONDS, InFlight, Reservation
from extender.framework.pods.topology import Topology
from extender.match.budget import Budget
from extender.match.label_selectors import Requirement, Selector
from tests.builders import let_pass, node_json, some_nodes
from tests.framework.pods.test_topology import Everyone

NODES = {
    node.name: node
    for node in some_nodes(*(node_json(f"n{i}", labels={"zone": "ab"[i % 2]}) for i in range(4)))
}


@pytest.fixture
def selection() -> Selection:
    return Selection("default", Selector(()))


def reservation(
    *selections: Selection, pod: str = "p", name: str = "", nodes: str = "n0", at: float = 0.0
) -> Reservation:
    found = let_pass(NodeTable(NODES.values()), *nodes.split()) if nodes else None
    key = f"default/{name or pod}"
    return Reservation(
        pod, f"uid-{pod}", key, "default", {"app": "web"}, found, list(selections), at
    )


def names(flying: Reservation) -> list[str]:
    return flying.nodes.names() if flying.nodes else []


def test_a_reservation_is_known_to_its_selections_until_it_ends(selection: Selection) -> None:
    book = InFlight()
    book.reserve(reservation(selection))

    assert (len(book), list(selection.in_flight)) == (1, ["p"])
    assert book.release("p")
    assert not book.release("p")
    assert (len(book), list(selection.in_flight)) == (0, [])


def test_the_next_answer_replaces_the_one_before(selection: Selection) -> None:
    book = InFlight()
    book.reserve(reservation(selection, nodes="n0"))
    book.reserve(reservation(selection, nodes="n1"))

    assert names(selection.in_flight["p"]) == ["n1"]
    assert len(book) == 1


def test_a_pod_of_the_same_name_comes_after_the_old_one(selection: Selection) -> None:
    book = InFlight()
    book.reserve(reservation(selection, pod="old", name="web-0"))
    book.reserve(reservation(selection, pod="new", name="web-0"))

    assert list(selection.in_flight) == ["new"]


@pytest.mark.parametrize(
    ("uid", "released"),
    [
        pytest.param("uid-p", True, id="this pod"),
        pytest.param("", True, id="a pod that never had a node, so its UID is not known"),
        pytest.param("uid-of-an-earlier-pod", False, id="an earlier pod of the name"),
    ],
)
def test_a_deletion_ends_the_reservation_of_the_pod(
    selection: Selection, uid: str, released: bool
) -> None:
    book = InFlight()
    book.reserve(reservation(selection))

    assert book.release_named("default/p", uid) is released
    assert len(book) == (not released)
    assert not book.release_named("default/other", "")


def test_a_reservation_lasts_only_so_long(selection: Selection) -> None:
    book = InFlight()
    book.reserve(reservation(selection, pod="p", at=10.0))
    book.reserve(reservation(selection, pod="q", at=20.0))

    assert not book.expire(10.0 + RESERVED_SECONDS - 0.001)
    assert book.expire(10.0 + RESERVED_SECONDS)
    assert list(selection.in_flight) == ["q"]
    assert book.expire(1_000.0)
    assert not book.expire(2_000.0)


def test_there_are_never_too_many(selection: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "MAX_RESERVATIONS", 3)
    book = InFlight()
    for i in range(5):
        book.reserve(reservation(selection, pod=f"p{i}"))

    assert list(selection.in_flight) == ["p2", "p3", "p4"]


@pytest.fixture
def web() -> Selection:
    return Selection("default", Selector((Requirement("app", "In", ("web",)),)))


def test_a_selection_that_is_new_counts_who_is_in_flight_already(web: Selection) -> None:
    elsewhere = Selection("shop", web.selector)
    everything = Selection("default", Selector(()))
    book = InFlight()
    book.reserve(reservation())
    before = len(book)
    for selection in (web, elsewhere, everything):
        book.begin_to_count(selection)

    assert (before, len(book)) == (0, 1)
    assert [list(each.in_flight) for each in (web, elsewhere, everything)] == [["p"], [], []]
    assert book.release("p")
    assert (len(book), web.in_flight) == (0, {})


def test_nobody_need_know_of_the_end_of_a_pod_that_nobody_counted() -> None:
    book = InFlight()
    book.reserve(reservation())

    assert not book.release("p")
    assert len(book) == 0

    book.reserve(reservation())

    assert not book.expire(RESERVED_SECONDS)


def test_of_those_that_nobody_counts_only_the_latest_are_kept(
    web: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_flight, "MAX_UNCOUNTED", 2)
    book = InFlight()
    for i in range(4):
        book.reserve(reservation(pod=f"p{i}"))
    book.begin_to_count(web)

    assert list(web.in_flight) == ["p2", "p3"]


def test_the_domains_that_a_pod_may_be_in(selection: Selection) -> None:
    topology = Topology("zone", ["zone"], Everyone(but="n3"))
    topology.stale.update(NODES)
    topology.refresh(NODES, Budget())

    assert reservation(selection, nodes="n0 n2").domains(topology, Budget()) == {"a"}
    assert reservation(selection, nodes="n0 n1").domains(topology, Budget()) == {"a", "b"}
    assert reservation(selection, nodes="n1 n3").domains(topology, Budget()) == {"b", None}
    assert reservation(selection, nodes="").domains(topology, Budget()) == frozenset()


def test_the_domains_follow_the_nodes(selection: Selection) -> None:
    topology = Topology("zone", ["zone"], Everyone())
    topology.stale.update(NODES)
    topology.refresh(NODES, Budget())
    flying = reservation(selection, nodes="n0")
    before = flying.domains(topology, Budget())
    (moved,) = some_nodes(node_json("n0", labels={"zone": "c"}))
    topology.stale.add("n0")
    topology.refresh({**NODES, "n0": moved}, Budget())

    assert before == {"a"}
    assert flying.domains(topology, Budget()) == {"c"}
    assert flying.domains(topology, Budget()) is flying.domains(topology, Budget())


def test_a_node_that_went_while_a_pod_is_in_flight_is_no_domain(selection: Selection) -> None:
    topology = Topology("zone", ["zone"], Everyone())
    topology.stale.update(NODES)
    topology.refresh(NODES, Budget())
    table = NodeTable(NODES.values())
    flying = Reservation(
        "p", "uid-p", "default/p", "default", {}, let_pass(table, "n0", "n1"), [selection], 0.0
    )
    table.remove("n1")
    topology.stale.add("n1")
    topology.refresh({name: node for name, node in NODES.items() if name != "n1"}, Budget())

    assert flying.domains(topology, Budget()) == {"a", None}


def test_a_selection_is_crowded_by_others_and_by_having_waited(selection: Selection) -> None:
    book = InFlight()

    assert not selection.crowded("p")

    book.reserve(reservation(selection))

    assert not selection.crowded("p")
    assert selection.crowded("q")

    book.reserve(reservation(selection, nodes=""))

    assert selection.crowded("p")
