"""Nodes as rows: whatever happens to others, a node keeps its row for as long as it lives."""

import json
import weakref
from collections.abc import Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import extender.rows
from extender.framework.columns import node_table
from extender.framework.columns.node_table import NodeTable
from extender.framework.node_info import NodeInfo
from extender.rows import UNKNOWN, plain
from tests.builders import let_pass, node_json, some_nodes


@pytest.fixture(params=[extender.rows, plain], ids=["as built", "in Python"], autouse=True)
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to work on rows."""
    module: ModuleType = request.param
    monkeypatch.setattr(extender.rows, "Candidates", module.Candidates)
    monkeypatch.setattr(extender.rows, "NameIndex", module.NameIndex)


def named(*names: str, **labels: str) -> list[NodeInfo]:
    return some_nodes(*(node_json(name, labels=labels) for name in names))


def read(table: NodeTable, *names: str) -> list[int]:
    """The rows of names as they stand in a request."""
    body = json.dumps(names, separators=(",", ":"), ensure_ascii=False).encode() + b"}"
    found = table.index.read(body, 0)
    assert found is not None
    found.judge((), (), ())
    known = iter(found.rows(0))
    return [next(known) if place == 0 else UNKNOWN for place in found.places]


def test_the_first_row_belongs_to_nobody() -> None:
    table = NodeTable(named("a", "b"))

    assert (table.nodes[UNKNOWN], table.rows) == (None, {"a": 1, "b": 2})
    assert len(table) == 3
    assert len(NodeTable()) == 1


def test_a_node_that_changes_keeps_its_row() -> None:
    table = NodeTable(named("a", "b"))
    (newer,) = named("a", zone="z")
    table.put(newer)

    assert table.rows == {"a": 1, "b": 2}
    assert table.node("a") is newer
    assert read(table, "b", "a", "b") == [2, 1, 2]


def test_a_row_is_left_when_its_node_goes_and_taken_by_the_next() -> None:
    table = NodeTable(named("a", "b", "c"))
    table.remove("b")

    assert table.node("b") is None
    assert read(table, "a", "b", "c") == [1, UNKNOWN, 3]
    table.put(named("d")[0])
    table.put(named("e")[0])
    assert table.rows == {"a": 1, "c": 3, "d": 2, "e": 4}
    assert read(table, "b", "d", "e") == [UNKNOWN, 2, 4]
    with pytest.raises(KeyError):
        table.remove("b")


def test_no_two_tables_share_a_serial() -> None:
    assert len({NodeTable().serial for _ in range(9)}) == 9


def test_what_has_changed_since_a_version() -> None:
    table = NodeTable(named("a", "b", "c"))
    version = table.version
    assert list(table.changed_since(version) or ()) == []
    table.put(named("b", zone="z")[0])
    between = table.version
    table.remove("a")
    table.put(named("d")[0])

    assert list(table.changed_since(version) or ()) == [2, 1, 1]
    assert list(table.changed_since(between) or ()) == [1, 1]
    assert list(table.changed_since(table.version) or ()) == []


def test_who_did_not_look_for_too_long_looks_at_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_table, "MAX_CHANGES", 3)
    table = NodeTable(named("a", "b"))
    since = [table.version]
    for number in range(20):
        table.put(named("ab"[number % 2], zone=str(number))[0])
        since.append(table.version)
        expected = [1 + each % 2 for each in range(number + 1)]

        for version, changes in zip(since, range(len(expected), -1, -1), strict=True):
            found = table.changed_since(version)
            assert found is None or list(found) == expected[len(expected) - changes :]
            assert found is not None or changes > 3


def test_names_that_nobody_knows_and_names_with_escapes_are_found_for_what_they_are() -> None:
    odd = 'q"\\\n', "é", "\x7f"
    table = NodeTable(named("a", *odd))
    found = table.find(["new", *odd, "a", 'q"', "a"])
    found.judge((), (), ())

    assert list(found.places) == [1, 0, 0, 0, 0, 1, 0]
    assert [node.name for node in table.nodes_of(found)] == [*odd, "a", "a"]
    assert json.loads(found.names()) == [*odd, "a", "a"]
    assert table.node("new") is None


def test_candidates_are_all_nodes_or_those_of_some_rows() -> None:
    table = NodeTable(named("a", "b", "c"))
    table.remove("b")
    everyone, some = table.candidates(), table.candidates_of([3])
    for found in (everyone, some):
        found.judge((), (), ())

    assert [node.name for node in table.nodes_of(everyone)] == ["a", "c"]
    assert json.loads(some.names()) == ["c"]


def test_nodes_that_passed_are_named_as_long_as_they_live() -> None:
    table = NodeTable(named(*"abcdefghij"))
    passing = let_pass(table, "j", "a", "c", "b")
    table.put(named("a", zone="other")[0])
    table.remove("c")
    table.remove("b")

    assert len(passing) == 4
    assert sorted(passing.names()) == ["", "", "a", "j"]
    table.put(named("new")[0])
    assert sorted(passing.names()) == ["", "", "a", "j"]
    table.put(named("c")[0])
    # A node that comes back is another one: the pod was not let pass on it.
    assert sorted(passing.names()) == ["", "", "a", "j"]
    assert sorted(let_pass(table, "new", "c").names()) == ["c", "new"]


def test_nodes_of_another_table_are_remembered_by_what_they_are_here() -> None:
    table, request = NodeTable(named(*"abcdefghij")), NodeTable(named("j", "new", "b", "other"))
    found = request.find(["other", "j", "b"])
    found.judge((), (), ())
    passing = table.passing_of(request, found)

    # One that is not known here has no name here.
    assert (len(passing), sorted(passing.names())) == (3, ["", "b", "j"])
    table.remove("b")
    assert sorted(passing.names()) == ["", "", "j"]
    own = table.find("ca")
    own.judge((), (), ())
    assert sorted(table.passing_of(table, own).names()) == ["a", "c"]
    assert NodeTable().passing_of(request, found).names() == [""]


def test_what_is_remembered_does_not_hold_the_table_of_a_request() -> None:
    table, request = NodeTable(named("a")), NodeTable(named("a", "b"))
    found = request.candidates()
    found.judge((), (), ())
    passing = table.passing_of(request, found)
    held = weakref.ref(request)
    del request

    assert held() is None
    assert passing.names() == ["", "a"]


EVENTS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), max_size=40)


@given(events=EVENTS, asked=st.sets(st.integers(0, 39), max_size=4))
def test_rows_index_and_nodes_always_agree(
    events: Sequence[tuple[str, bool]], asked: set[int]
) -> None:
    table, there = NodeTable(), dict[str, NodeInfo]()
    lived: list[tuple[object, dict[str, NodeInfo]]] = []
    for number, (name, stays) in enumerate(events):
        before = dict(table.rows)
        if stays:
            (there[name],) = named(name)
            table.put(there[name])
        elif name in there:
            del there[name]
            table.remove(name)
            for _, alive in lived:
                alive.pop(name, None)
        assert all(table.rows[each] == row for each, row in before.items() if each in table.rows)
        if number in asked:
            lived.append((let_pass(table, *there), dict(there)))

    assert {name: table.nodes[row] for name, row in table.rows.items()} == there
    assert [node is None for node in table.nodes].count(False) == len(there) == len(table.index)
    assert read(table, *"abcdefgh") == [table.rows.get(name, UNKNOWN) for name in "abcdefgh"]
    for passing, alive in lived:
        assert {*passing.names()} - {""} == {*alive}  # type: ignore[attr-defined]


def test_the_labels_of_all_nodes_are_counted_by_their_keys() -> None:
    one, two = some_nodes(
        node_json("a", labels={"zone": "x", "tier": "1"}), node_json("b", labels={"zone": "y"})
    )
    table = NodeTable([one])
    table.put(two)
    assert table.labels == {"zone": 2, "tier": 1}

    (changed,) = some_nodes(node_json("a", labels={"disk": "ssd"}))
    table.put(changed)
    assert table.labels == {"zone": 1, "disk": 1}

    table.remove("b")
    assert table.labels == {"disk": 1}
