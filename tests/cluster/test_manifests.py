"""A cluster out of files."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from extender.cluster import manifests
from extender.cluster.cache import ClusterCache
from extender.errors import ManifestError
from extender.model.core_v1 import Taint
from tests.builders import JSON

EXAMPLES = Path(__file__).parent.parent.parent / "deploy" / "examples"


def named(name: str, **more: Any) -> JSON:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, **more}


def names(*paths: Path) -> list[str]:
    return list(loaded(*paths).nodes.keys())


def loaded(*paths: Path) -> ClusterCache:
    cache = ClusterCache()
    manifests.load(paths, cache)
    return cache


def write(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")
    return file


YAML = """\
# A comment, and a document with nothing in it.
---
apiVersion: v1
kind: Node
metadata:
  name: one
  labels: {zone: a, version: "1.20"}
spec:
  taints:
  - {key: sla, value: "950", effect: NoSchedule}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ignored}
---
kind: Node
metadata: {name: two}
spec: {unschedulable: true}
---
"""


STORAGE = """\
kind: Pod
metadata: {name: web-0, labels: {app: web}}
spec: {nodeName: one, priority: 7, containers: [{name: web, image: web}]}
---
kind: PodList
items:
- metadata: {name: web-1, namespace: shop}
  status: {nominatedNodeName: two}
- metadata: {name: waits-for-a-node}
- metadata: {name: has-ended}
  spec: {nodeName: one}
  status: {phase: Succeeded}
---
kind: PersistentVolume
metadata: {name: disk-1}
---
kind: PersistentVolumeClaimList
items: [{metadata: {name: data, namespace: shop}, spec: {volumeName: disk-1}}]
---
kind: StorageClass
metadata: {name: lazy}
volumeBindingMode: WaitForFirstConsumer
"""


def test_every_node_of_a_yaml_file_is_read_whole(tmp_path: Path) -> None:
    nodes = loaded(write(tmp_path, "a.yaml", YAML)).nodes.objects

    assert list(nodes) == ["one", "two"]
    assert nodes["one"].labels == {"zone": "a", "version": "1.20"}
    assert nodes["one"].taints.hard == (Taint("sla", "950", "NoSchedule"),)
    assert nodes["two"].unschedulable
    assert not nodes["one"].unschedulable


def test_a_key_with_nothing_behind_it_is_null_and_read_as_go_reads_it(tmp_path: Path) -> None:
    text = """\
kind: List
items:
- kind: Node
  metadata: {name: one, uid: , labels: {zone: }}
  spec: {unschedulable: , taints: [{key: sla, value: }, null]}
- kind: Pod
  metadata: {name: web-0, uid: , labels: {app: }}
  spec: {nodeName: one, schedulerName: , tolerations: [null]}
- kind: PersistentVolumeClaim
  metadata: {name: data, ownerReferences: [{uid: , controller: }, null]}
  spec: {volumeName: }
  status:
"""
    cache = loaded(write(tmp_path, "a.yaml", text))

    (node,) = cache.nodes.objects.values()
    assert (node.labels, node.unschedulable) == ({"zone": ""}, False)
    pod = cache.pods.get("default/web-0")
    assert pod is not None
    assert (pod.labels, pod.node_name) == ({"app": ""}, "one")


def test_pods_volumes_claims_and_classes_are_read_too(tmp_path: Path) -> None:
    cache = loaded(write(tmp_path, "a.yaml", STORAGE))
    pod, claim = cache.pods.get("default/web-0"), cache.claims.get("shop/data")

    assert pod is not None
    assert (pod.node_name, pod.labels, pod.priority) == ("one", {"app": "web"}, 7)
    assert cache.pods.keys() == ["default/web-0", "shop/web-1"]
    assert claim is not None
    assert claim.spec.volume_name == "disk-1"
    assert cache.volumes.keys() == ["disk-1"]
    assert cache.classes.keys() == ["lazy"]


@pytest.mark.parametrize("kind", ["Pod", "PersistentVolumeClaim"])
def test_what_does_not_say_where_it_belongs_belongs_to_the_default_namespace(
    tmp_path: Path, kind: str
) -> None:
    one = write(tmp_path, "one.yaml", {"kind": kind, "metadata": {"name": "a"}})
    two = {"kind": kind, "metadata": {"name": "a", "namespace": "default"}}

    assert fault(one, write(tmp_path, "two.yaml", two)) == (
        f"{kind} 'default/a' is defined twice: remove one"
    )


def test_objects_of_different_kinds_may_share_a_name(tmp_path: Path) -> None:
    items = [{"kind": kind, "metadata": {"name": "a"}} for kind in manifests.KINDS]

    assert names(write(tmp_path, "a.json", {"kind": "List", "items": items})) == ["a"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(named("a"), ["a"], id="one object"),
        pytest.param(
            {"kind": "List", "items": [named("a"), {"kind": "Secret"}, named("b")]},
            ["a", "b"],
            id="a List of several kinds",
        ),
        pytest.param(
            {"kind": "NodeList", "items": [{"metadata": {"name": "a"}}, named("b")]},
            ["a", "b"],
            id="a NodeList, whose items have no kind",
        ),
        pytest.param(
            {"kind": "List", "items": [{"kind": "List", "items": [named("a")]}]},
            ["a"],
            id="a List in a List",
        ),
        pytest.param({"kind": "List", "items": None}, [], id="a List of null"),
        pytest.param({"kind": "List"}, [], id="a List without items"),
        pytest.param({"kind": "NodeList", "items": []}, [], id="an empty NodeList"),
        pytest.param({"kind": "List", "items": [None, named("a")]}, ["a"], id="a null item"),
        pytest.param({"kind": "Deployment", "spec": {"x": 1}}, [], id="another kind"),
        pytest.param(
            {"kind": "PodList", "items": [{"metadata": {"name": "web-0"}}]},
            [],
            id="a PodList, whose items have no kind",
        ),
        pytest.param(
            {"kind": "AllowList", "items": "a custom resource may have what it likes"},
            [],
            id="another kind whose name ends in List",
        ),
        pytest.param(
            named("a", spec=None, status={"anything": [1, 2, {}]}),
            ["a"],
            id="a null spec and a status",
        ),
        pytest.param(
            {
                "kind": "Node",
                "metadata": {"name": "a", "labels": None, "annotations": None},
                "spec": {"taints": None, "unschedulable": None},
            },
            ["a"],
            id="null wherever Go may write it",
        ),
        pytest.param(
            named("a", spec={"taints": [{"key": "k", "value": None, "effect": "NoSchedule"}]}),
            ["a"],
            id="a null value of a taint",
        ),
    ],
)
def test_what_a_file_may_hold(tmp_path: Path, content: JSON, expected: list[str]) -> None:
    assert names(write(tmp_path, "a.json", content)) == expected


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    assert names(write(tmp_path, "a.yaml", "")) == []


def test_a_folder_is_read_in_order_and_only_where_a_name_says_so(tmp_path: Path) -> None:
    write(tmp_path, "b.yml", named("second"))
    write(tmp_path, "a.yaml", named("first"))
    write(tmp_path, "sub/c.json", named("third"))
    write(tmp_path, "notes.txt", "not a manifest: [")
    write(tmp_path, "backup.yaml.orig", named("first"))
    (tmp_path / "folder.yaml").mkdir()

    assert names(tmp_path) == ["first", "second", "third"]


def test_a_file_is_read_whatever_its_name_says(tmp_path: Path) -> None:
    assert names(write(tmp_path, "nodes.txt", named("a"))) == ["a"]


def test_files_and_folders_together(tmp_path: Path) -> None:
    one = write(tmp_path, "one.yaml", named("one"))
    write(tmp_path, "more/two.yaml", named("two"))

    assert names(one, tmp_path / "more") == ["one", "two"]


def test_a_folder_that_kubernetes_mounted_holds_each_file_once(tmp_path: Path) -> None:
    """A ConfigMap in a volume: links to files in a folder whose name begins with two dots."""
    write(tmp_path, "..2026_01_02/nodes.yaml", named("a"))
    (tmp_path / "..data").symlink_to("..2026_01_02")
    (tmp_path / "nodes.yaml").symlink_to("..data/nodes.yaml")

    assert names(tmp_path) == ["a"]


def test_the_bundled_example_is_a_cluster() -> None:
    assert "on-demand-1" in names(EXAMPLES / "cluster.yaml")


def fault(*paths: Path) -> str:
    with pytest.raises(ManifestError) as caught:
        loaded(*paths)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_name_that_is_defined_twice(tmp_path: Path) -> None:
    one = write(tmp_path, "one.yaml", named("same"))
    two = write(tmp_path, "two.yaml", named("same"))

    assert fault(one, two) == "Node 'same' is defined twice: remove one"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(
            "kind: Node\nmetadata: {name: a}\nspec: {taints: [{key: k, value: 950}]}",
            "Node 'a': spec.taints[0].value must be text: write \"950\"",
            id="a number for the value of a taint",
        ),
        pytest.param(
            "kind: Node\nmetadata: {name: a, labels: {x: true}}",
            "Node 'a': metadata.labels[x] must be text: write \"true\"",
            id="true for the value of a label",
        ),
        pytest.param(
            "kind: Node\nmetadata: oops",
            "Node '': metadata must be an object, not text",
            id="text for the metadata",
        ),
        pytest.param(
            "kind: Pod\nmetadata: {name: a, labels: {tier: 1}}",
            "Pod 'a': metadata.labels[tier] must be text: write \"1\"",
            id="a number for the label of a pod",
        ),
        pytest.param(
            "kind: PersistentVolume\nmetadata: {name: a}\nspec: {nodeAffinity: []}",
            "PersistentVolume 'a': spec.nodeAffinity must be an object, not a list",
            id="a list for the affinity of a volume",
        ),
        pytest.param("kind: Pod", "Pod '': ", id="a pod without metadata"),
        pytest.param("kind: Node", "a Node has no metadata.name", id="no metadata"),
        pytest.param("kind: Node\nmetadata: {}", "a Node has no metadata.name", id="no name"),
        pytest.param(
            'kind: Node\nmetadata: {name: ""}', "a Node has no metadata.name", id="an empty name"
        ),
        pytest.param(
            "metadata: {name: a}",
            "a document is not a Kubernetes object: it has no kind",
            id="no kind",
        ),
        pytest.param(
            "- kind: Node", "a document is not a Kubernetes object: it has no kind", id="a list"
        ),
        pytest.param(
            "just text", "a document is not a Kubernetes object: it has no kind", id="text"
        ),
        pytest.param(
            "kind: 5", "a document is not a Kubernetes object: it has no kind", id="a number"
        ),
        pytest.param(
            "kind: NodeList\nitems: {}", "items of a NodeList must be a list", id="no list of items"
        ),
        pytest.param(
            "kind: Node\nkind: Node", "line 2: key 'kind' appears twice", id="a key twice"
        ),
        pytest.param("kind: [", "line ", id="broken YAML"),
        pytest.param("a: *x", "line 1: alias 'x' has no anchor before it", id="an alias"),
        pytest.param("[" * 25_000, "nested deeper than 32", id="25,000 lists"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_object(
    tmp_path: Path, content: str, says: str
) -> None:
    file = write(tmp_path, "a.yaml", content)

    assert fault(file).startswith(f"{file}: {says}")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("missing.yaml", "cannot be read: No such file or directory", id="no file"),
        pytest.param("empty", "no file in it ends in .json, .yaml, .yml", id="an empty folder"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "empty").mkdir()

    assert fault(tmp_path / name) == f"{tmp_path / name}: {says}"


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"kind: \xff")

    assert fault(file).startswith(f"{file}: ")


@pytest.mark.parametrize("depth", [100, 600, 900, 100_000])
def test_deep_json_is_a_fault_with_the_name_of_the_file(tmp_path: Path, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    text = f'{{"kind": "Node", "metadata": {{"name": "a"}}, "status": {deep}}}'
    file = write(tmp_path, "a.json", text)

    assert fault(file).startswith(f"{file}: ")
    assert fault(file).endswith("nested deeper than 32")


# --- Folders with other files --------------------------------------------------------------------

TEMPLATE = "kind: Node\nmetadata:\n  name: {{ .Values.name }}\n"


def folder_of(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        file = tmp_path / name.replace("__", "/").replace("_yaml", ".yaml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def loaded_with(path: Path) -> tuple[list[str], list[str]]:
    cache, said = ClusterCache(), list[str]()
    manifests.load([path], cache, said.append)
    return [node.name for node in cache.snapshot().nodes.values()], said


def test_what_is_no_manifest_in_a_folder_is_skipped_with_one_line(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path,
        chart__Chart_yaml="apiVersion: v2\nname: chart\n",
        chart__values_yaml="replicas: 3\n",
        chart__templates__node_yaml="kind: Node\nmetadata: {name: '{{ .Values.name }}'}\n",
        jinja_yaml=TEMPLATE,
        cloud_yaml="Resources: !Ref that\n",
        node_yaml="kind: Node\nmetadata: {name: real}\n",
        empty_yaml="# nothing\n",
    )

    names, said = loaded_with(folder)
    assert names == ["real"]
    assert said == [
        f"{folder}: skipped 5 files that are not manifests:"
        " chart/Chart.yaml, chart/templates/node.yaml and 3 more"
    ]


def test_one_file_is_skipped_in_the_singular(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, values_yaml="a: 1", list_yaml="kind: List")

    assert loaded_with(folder)[1] == [
        f"{folder}: skipped 1 file that is not a manifest: values.yaml"
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Node\nmetadata: [", "did not find expected node content"),
        ('{"kind": "Node", "metadata": {', "did not find expected"),
        ("kind: Node\nmetadata: {name: a}\n---\nname: b\n", "it has no kind"),
        ("kind: Node\nspec: {taints: 5}\n", "must be a list, not 5"),
    ],
)
def test_a_manifest_with_a_mistake_is_not_skipped(tmp_path: Path, text: str, says: str) -> None:
    folder = folder_of(tmp_path, node_yaml=text)
    with pytest.raises(ManifestError, match=says):
        loaded_with(folder)


def test_a_file_that_is_named_is_not_skipped(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, node_yaml=TEMPLATE, values_yaml="a: 1")
    for name in ("node.yaml", "values.yaml"):
        with pytest.raises(ManifestError, match=name):
            loaded_with(folder / name)


def test_skipped_files_are_logged_where_nobody_listens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_of(tmp_path, values_yaml="a: 1", node_yaml="kind: List")
    manifests.load([folder], ClusterCache())

    assert "skipped 1 file that is not a manifest: values.yaml" in caplog.text


def test_manifests_may_have_aliases(tmp_path: Path) -> None:
    text = (
        "kind: List\nitems:\n- &n\n  kind: Node\n  metadata: {name: a}\n"
        "- {<<: *n, metadata: {name: b}}\n"
    )

    assert loaded_with(folder_of(tmp_path, nodes_yaml=text))[0] == ["a", "b"]


def test_standard_input_can_be_named_more_than_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        text = f"{{kind: Node, metadata: {{name: {name}}}}}"
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

        for _ in range(2):
            ((_, _, item),) = manifests.items("-", ["Node"])
            assert item["metadata"] == {"name": name}
