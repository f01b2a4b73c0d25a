"""Plans as JSON patches: whole, and applied as the API server does."""

from collections.abc import Sequence

import pytest

from extender.native.patches import Edit, Operation, patch, pointer
from extender.native.planning import Plan
from extender.native.universe import TaintUniverse
from tests.builders import JSON, PREFIX, taint, toleration
from tests.native.building import (
    GRACE,
    NO_EXECUTE,
    RECORD,
    RefusedError,
    applied,
    cluster_of,
    compact,
    equal,
    evicting,
    guard,
    live,
    live_json,
    planned,
    record_in,
    tolerations_in,
)

GT_900 = toleration("sla", "Gt", "900")
CLUSTER = cluster_of(taint("sla", "950"), evicting("sla", "960"))
RECORD_PATH = "/metadata/annotations/scheduling.leeway~1guarded-keys"
E950 = equal("sla", "950")
E960 = equal("sla", "960", NO_EXECUTE)
OWN = equal("own", "1")


def patch_of(document: JSON, cluster: TaintUniverse = CLUSTER) -> Sequence[Operation]:
    return patch(live(document), planned(document, cluster), PREFIX)


def op(name: str, path: str, value: object) -> JSON:
    return {"op": name, "path": path, "value": value}


UID = op("test", "/metadata/uid", "uid-1")


def test_a_pod_that_waits() -> None:
    assert patch_of(live_json(OWN, rules=[GT_900])) == [
        UID,
        op("test", "/spec/tolerations", [OWN]),
        op("add", "/spec/tolerations/1", E950),
        op("add", "/spec/tolerations/2", E960),
    ]


def test_a_pod_without_tolerations() -> None:
    assert patch_of(live_json(rules=[GT_900])) == [
        UID,
        op("test", "/spec/tolerations", None),
        op("add", "/spec/tolerations", []),
        op("add", "/spec/tolerations/0", E950),
        op("add", "/spec/tolerations/1", E960),
    ]


def test_a_pod_that_is_bound() -> None:
    assert patch_of(live_json(OWN, rules=[GT_900], node="n1")) == [
        UID,
        op("test", "/spec/tolerations", [OWN]),
        op("add", "/spec/tolerations/1", E960),
        op("add", "/spec/tolerations/2", guard("sla")),
        op("test", RECORD_PATH, None),
        op("add", RECORD_PATH, '["sla"]'),
    ]


def test_a_new_value_goes_before_the_guard() -> None:
    written = [OWN, equal("sla", "955", NO_EXECUTE), guard("sla")]

    assert patch_of(live_json(*written, rules=[GT_900], node="n1", record=["sla"])) == [
        UID,
        op("test", "/spec/tolerations", written),
        op("add", "/spec/tolerations/2", E960),
    ]


def test_a_guard_that_is_not_last_moves_first() -> None:
    written = [guard("sla"), OWN, equal("sla", "955", NO_EXECUTE)]
    document = live_json(*written, rules=[GT_900], node="n1", record=["sla"])

    assert patch_of(document) == [
        UID,
        op("test", "/spec/tolerations", written),
        {"op": "move", "from": "/spec/tolerations/0", "path": "/spec/tolerations/2"},
        op("add", "/spec/tolerations/2", E960),
    ]
    assert tolerations_in(applied(document, patch_of(document))) == [
        OWN,
        equal("sla", "955", NO_EXECUTE),
        E960,
        guard("sla"),
    ]


def test_a_pod_without_annotations_gets_the_map_too() -> None:
    document = live_json(GT_900, node="n0")

    assert patch_of(document)[-2:] == [
        op("test", "/metadata/annotations", None),
        op("add", "/metadata/annotations", {RECORD: '["sla"]'}),
    ]
    assert record_in(applied(document, patch_of(document))) == ["sla"]


def test_a_record_that_changes_is_tested_first() -> None:
    document = live_json(rules=[GT_900], node="n0", record='[ "x" ]')

    assert patch_of(document)[-2:] == [
        op("test", RECORD_PATH, '[ "x" ]'),
        op("add", RECORD_PATH, '["sla","x"]'),
    ]


def test_a_record_alone_leaves_the_tolerations_alone() -> None:
    document = live_json(guard("sla"), rules=[GT_900], node="n0", record="broken")

    assert patch_of(document) == [
        UID,
        op("test", RECORD_PATH, "broken"),
        op("add", RECORD_PATH, '["sla"]'),
    ]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(live_json(rules="["), id="rules that cannot be read"),
        pytest.param(live_json(E950, E960, rules=[GT_900]), id="a pod that has all"),
        pytest.param(live_json(OWN), id="a pod without rules"),
        pytest.param(live_json(rules=[GT_900], spec={"schedulerName": "x"}), id="not compiled"),
    ],
)
def test_nothing_to_write(document: JSON) -> None:
    assert list(patch_of(document)) == []


def test_a_plan_without_what_it_was_made_from_writes_nothing() -> None:
    assert list(patch(live(live_json()), Plan(record=("sla",)), PREFIX)) == []


def test_another_prefix() -> None:
    document = live_json(GT_900, node="n0")
    operations = patch(live(document), planned(document, CLUSTER), "a~b/")

    assert operations[-1] == op("add", "/metadata/annotations", {"a~b/guarded-keys": '["sla"]'})


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", "a"), ("a/b", "a~1b"), ("a~b", "a~0b"), ("~1/", "~01~1"), ("", "")],
)
def test_pointer(name: str, expected: str) -> None:
    assert pointer(name) == expected


SEEN = live_json(OWN, rules=[GT_900], node="n1")


@pytest.mark.parametrize(
    "meanwhile",
    [
        pytest.param(
            live_json(OWN, rules=[GT_900], node="n1", uid="uid-2"), id="another pod has the name"
        ),
        pytest.param(live_json(OWN, E960, rules=[GT_900], node="n1"), id="somebody was faster"),
        pytest.param(live_json(rules=[GT_900], node="n1"), id="the list is absent"),
        pytest.param(
            live_json({**OWN, "tolerationSeconds": 1}, rules=[GT_900], node="n1"),
            id="seconds have changed",
        ),
        pytest.param(
            live_json(OWN, rules=[GT_900], node="n1", record=["sla"]), id="there is a record"
        ),
    ],
)
def test_a_pod_that_is_not_as_it_was_seen_is_left_alone(meanwhile: JSON) -> None:
    operations = patch_of(SEEN)

    assert applied(SEEN, operations)
    with pytest.raises(RefusedError):
        applied(meanwhile, operations)


def test_annotations_that_came_meanwhile_are_not_replaced() -> None:
    operations = patch_of(live_json(GT_900, node="n0"))

    with pytest.raises(RefusedError):
        applied(live_json(GT_900, node="n0", annotations={GRACE: "5"}), operations)


def test_the_bytes_of_the_list_are_tested_as_they_came() -> None:
    odd = {"key": "a", "operator": "Exists", "effect": "", "new": {"field": [1, 2.5, None]}}
    document = live_json(odd, rules=[GT_900])

    assert patch_of(document)[1] == op("test", "/spec/tolerations", [odd])
    assert tolerations_in(applied(document, patch_of(document))) == [odd, E950, E960]


def test_a_guard_that_is_last_already_stays() -> None:
    edit = Edit([OWN, guard("sla")], {"sla": 1})
    edit.move(["sla"])

    assert edit.operations == []


def test_operations_know_what_those_before_them_did() -> None:
    listed = [guard("a"), OWN, guard("b"), E950]
    edit = Edit(listed, {"a": 0, "b": 2})
    edit.remove(1)
    edit.move(["a", "b"])
    edit.add([])
    document = applied({"spec": {"tolerations": listed}}, edit.operations)

    assert tolerations_in(document) == [E950, guard("a"), guard("b")]


def test_the_patch_is_plain_json() -> None:
    assert compact(list(patch_of(SEEN))).startswith('[{"op":"test"')
