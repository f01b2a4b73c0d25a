import msgspec
import pytest

from extender.cluster.resources import Event
from extender.control.pods import RuledPods, Stub, pods_resource
from extender.model.core_v1 import LivePod
from tests.builders import JSON, PREFIX
from tests.cluster.apiserver import line
from tests.control.building import GOLD, live, pod_of


class Heard:
    """What a listener is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def pod_changed(self, key: str) -> None:
        self.told.append(("changed", key))

    def pod_gone(self, key: str) -> None:
        self.told.append(("gone", key))

    def pod_freed(self, old: LivePod) -> None:
        self.told.append(("freed", old.metadata.name))


def store(**more: int) -> tuple[RuledPods, Heard]:
    pods, heard = RuledPods(PREFIX, **more), Heard()
    pods.listener = heard
    return pods, heard


def versioned(pod: JSON, version: str) -> LivePod:
    return live(pod | {"metadata": pod["metadata"] | {"resourceVersion": version}})


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        pytest.param(pod_of(GOLD), LivePod, id="an annotation of ours"),
        pytest.param(pod_of(native=[GOLD]), LivePod, id="a native comparison"),
        pytest.param(
            pod_of(native=[{"key": "v", "operator": "SemverLt", "value": "1"}]),
            LivePod,
            id="a native version",
        ),
        pytest.param(pod_of(native=[{"expression": "true"}]), LivePod, id="an expression"),
        pytest.param(pod_of(), Stub, id="nothing of ours"),
    ],
)
def test_only_pods_with_rules_are_decoded(pod: JSON, kind: type) -> None:
    resource = pods_resource(PREFIX)
    page = {"metadata": {"resourceVersion": "1"}, "items": [pod]}

    event = resource.decode_event(line("ADDED", pod).strip())
    listed = resource.decode_page(msgspec.json.encode(page)).items or []

    assert isinstance(event, Event)
    assert [type(event.object), *map(type, listed)] == [kind, kind]


def test_pods_are_found_by_node_and_by_waiting() -> None:
    pods, heard = store()
    pods.put("default/a", live(pod_of(GOLD)))
    pods.put("default/b", live(pod_of(GOLD, node="n1")))

    assert (list(pods.pending), list(pods.on("n1")), len(pods)) == (["default/a"], ["default/b"], 2)
    pods.put("default/a", live(pod_of(GOLD, node="n1")))
    assert (list(pods.pending), list(pods.on("n1"))) == ([], ["default/b", "default/a"])
    pods.remove("default/a")
    pods.remove("default/b")
    pods.remove("default/unknown")
    assert (pods.keys(), list(pods.on("n1")), list(pods.on("n2"))) == ([], [], [])
    assert heard.told[-2:] == [("gone", "default/a"), ("gone", "default/b")]


def test_a_pod_that_loses_its_rules_is_told_and_forgotten() -> None:
    pods, heard = store()
    pods.put("default/web-0", live(pod_of(GOLD)))
    bare = msgspec.convert({"metadata": {"name": "web-0", "namespace": "default"}}, Stub)
    pods.put("default/web-0", bare)
    pods.put("default/never", bare)

    assert heard.told[1:] == [("freed", "web-0"), ("gone", "default/web-0")]


def test_a_change_of_the_version_alone_is_not_told() -> None:
    pods, heard = store()
    pods.put("k", versioned(pod_of(GOLD), "7"))
    pods.put("k", versioned(pod_of(GOLD), "8"))

    assert heard.told == [("changed", "k")]
    found = pods.get("k")
    assert found is not None
    assert found.metadata.resource_version == "8"


@pytest.mark.parametrize(
    ("version", "kept"),
    [
        pytest.param("6", "7", id="an older state does not replace a newer one"),
        pytest.param("10", "10", id="versions are numbers"),
        pytest.param("abc", "abc", id="a version that is no number stands"),
    ],
)
def test_the_newest_state_stands(version: str, kept: str) -> None:
    pods, _ = store()
    pods.put("k", versioned(pod_of(GOLD), "7"))
    pods.put("k", versioned(pod_of(GOLD, node="n"), version))

    found = pods.get("k")
    assert found is not None
    assert found.metadata.resource_version == kept


def test_another_pod_of_the_name_replaces_it_whatever_its_version() -> None:
    pods, _ = store()
    pods.put("k", versioned(pod_of(GOLD), "7"))
    pods.put("k", versioned(pod_of(GOLD, uid="new"), "3"))

    found = pods.get("k")
    assert found is not None
    assert found.metadata.uid == "new"


def test_only_our_annotations_are_kept_and_that_there_are_others() -> None:
    pods, _ = store()
    pods.put("k", live(pod_of(GOLD, annotations={"other": "x" * 1000})))

    found = pods.get("k")
    assert found is not None
    assert (found.metadata.annotations or {})["other"] == ""


def test_what_all_annotations_take_is_bounded_and_equal_ones_count_once() -> None:
    text = "x" * 600
    pods, heard = store(max_bytes=1000)
    pods.put("a", live(pod_of(text)))
    pods.put("b", live(pod_of(text, uid="2")))
    pods.put("c", live(pod_of("y" * 600, uid="3")))

    assert (pods.keys(), pods.dropped, heard.told[-1]) == (["a", "b"], 1, ("gone", "c"))
    pods.remove("a")
    pods.remove("b")
    pods.put("c", live(pod_of("y" * 600, uid="3")))
    assert pods.keys() == ["c"]
