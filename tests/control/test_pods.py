import msgspec
import pytest

from extender.cluster.resources import Event
from extender.control.pods import RuledPods, Stub, pods_resource
from extender.model.core_v1 import LivePod
from tests.builders import JSON, PREFIX
from tests.cluster.apiserver import line
from tests.control.building import GOLD, RECORD, live, pod_of


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

    def pod_dropped(self, pod: LivePod) -> None:
        self.told.append(("dropped", pod.metadata.uid))


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
def test_the_newest_state_of_a_patched_pod_stands(version: str, kept: str) -> None:
    """Whether the answer to the patch comes before the watch or after it."""
    for first, second in (("put_patched", "put"), ("put", "put_patched")):
        pods, _ = store()
        pods.put("k", versioned(pod_of(GOLD), "1"))
        getattr(pods, first)("k", versioned(pod_of(GOLD), "7"))
        getattr(pods, second)("k", versioned(pod_of(GOLD, node="n"), version))

        found = pods.get("k")
        assert found is not None
        assert found.metadata.resource_version == kept


def test_a_list_with_older_versions_stands() -> None:
    """So it is after etcd was restored from a backup. What was patched is known by then."""
    pods, _ = store()
    pods.put("k", versioned(pod_of(GOLD), "1"))
    pods.put_patched("k", versioned(pod_of(GOLD), "7"))
    pods.put("k", versioned(pod_of(GOLD), "7"))
    pods.put("k", versioned(pod_of(GOLD, node="n"), "3"))

    found = pods.get("k")
    assert found is not None
    assert found.metadata.resource_version == "3"


def test_another_pod_of_the_name_replaces_it_whatever_its_version() -> None:
    pods, _ = store()
    pods.put("k", versioned(pod_of(GOLD), "7"))
    pods.put("k", versioned(pod_of(GOLD, uid="new"), "3"))

    found = pods.get("k")
    assert found is not None
    assert found.metadata.uid == "new"


@pytest.mark.parametrize(
    ("annotations", "kept"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"other": "x" * 1000}, {"others": ""}, id="only those of others"),
        pytest.param({"kubernetes.io/config.mirror": "x"}, None, id="that of a mirror pod"),
        pytest.param({RECORD: "[]", "o" * 60: "x"}, {RECORD: "[]"}, id="ours"),
    ],
)
def test_only_our_annotations_are_kept_and_that_there_are_others(
    annotations: dict[str, str], kept: dict[str, str] | None
) -> None:
    pods, _ = store()
    pods.put("k", live(pod_of(native=[GOLD], annotations=annotations)))

    found = pods.get("k")
    assert found is not None
    mirror = {name: text for name, text in annotations.items() if "mirror" in name}
    assert found.metadata.annotations == (mirror or kept)


def ruled(text: str, uid: str = "1", namespace: str = "default") -> LivePod:
    pod = pod_of(text, uid=uid)
    return live(pod | {"metadata": pod["metadata"] | {"namespace": namespace}})


def test_what_all_pods_take_is_bounded_and_equal_texts_count_once() -> None:
    text = "x" * 600
    pods, heard = store(max_bytes=1000)
    pods.put("a", ruled(text))
    pods.put("b", ruled(text, "2"))
    for _ in range(3):
        pods.put("c", ruled("y" * 600, "3"))

    assert (pods.keys(), len(pods), pods.dropped) == (["a", "b", "c"], 2, 1)
    assert heard.told[-2:] == [("gone", "c"), ("dropped", "3")]
    pods.remove("a")
    pods.remove("b")
    pods.put("c", ruled("y" * 600, "3"))
    assert (pods.keys(), pods.dropped) == (["c"], 0)


def test_a_pod_that_did_not_fit_is_forgotten_when_it_goes() -> None:
    pods, _ = store(max_bytes=1000)
    pods.put("a", ruled("x" * 2000))
    assert pods.dropped == 1
    pods.remove("a")

    assert pods.dropped == 0


def test_one_namespace_cannot_use_up_what_all_others_need() -> None:
    pods, _ = store(max_bytes=10_000, max_share=2_000)
    for number in range(20):
        pods.put(f"many/{number}", ruled(str(number) * 500, namespace="many"))
    pods.put("few/0", ruled("z" * 500, namespace="few"))

    assert len(pods) < 5
    assert pods.get("few/0") is not None


def test_tolerations_count_too() -> None:
    pods, _ = store(max_bytes=10_000)
    native = [{"key": f"k{number}", "operator": "Exists"} for number in range(500)]
    pods.put("a", live(pod_of(GOLD, native=native)))

    assert (len(pods), pods.dropped) == (0, 1)


def test_pods_of_a_workload_share_their_texts_and_nothing_is_left_of_them() -> None:
    pods, _ = store()
    text, left = "x" * 600, pods._left
    for number in range(3):
        pods.put(f"default/{number}", ruled("".join([text]), str(number)))
    found = [pods.get(f"default/{number}") for number in range(3)]
    texts = [(each.metadata.annotations or {})[PREFIX + "tolerations"] for each in found if each]

    assert len({id(each) for each in texts}) == 1
    for number in range(3):
        pods.remove(f"default/{number}")
    assert (pods._left, pods._texts) == (left, {})
