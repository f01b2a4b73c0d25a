"""Where snapshots come from."""

from pathlib import Path

import pytest

from extender.cluster.source import ClusterSource, FileSource, NoSource
from extender.errors import ManifestError, NotSyncedError


def node(name: str) -> str:
    return f"kind: Node\nmetadata: {{name: {name}}}\n"


def test_without_a_source_there_is_no_snapshot_and_a_way_out_is_told() -> None:
    source: ClusterSource = NoSource()
    source.reload()

    assert "only whole-node requests" in source.state().remark
    assert "VolumeBinding and PodTopologySpread are skipped" in source.state().remark
    with pytest.raises(NotSyncedError, match="start leeway serve with --kubeconfig or --cluster"):
        source.snapshot()


def test_files_are_a_snapshot_that_says_where_it_is_from(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(node("a") + "---\n" + node("b"))
    source: ClusterSource = FileSource([str(file)])

    assert list(source.snapshot().nodes) == ["a", "b"]
    assert source.state().remark == f"2 nodes from {file}"


def test_files_may_hold_the_whole_cluster(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    pod = "kind: Pod\nmetadata: {name: p}\nspec: {nodeName: a}\n"
    volume = "kind: PersistentVolume\nmetadata: {name: v}\n"
    file.write_text("---\n".join([node("a"), pod, volume]))
    source: ClusterSource = FileSource([str(file)])
    snapshot = source.snapshot()

    assert source.state().remark == f"1 nodes, 1 pods, 1 persistentvolumes from {file}"
    assert snapshot.pods is not None
    assert snapshot.volumes is not None
    assert list(snapshot.volumes.volumes) == ["v"]
    assert {each.resource: each.objects for each in source.cached()} == {
        "nodes": 1,
        "pods": 1,
        "persistentvolumes": 1,
        "persistentvolumeclaims": 0,
        "storageclasses": 0,
    }


def test_a_reload_is_one_swap_and_leaves_old_snapshots_alone(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(node("a"))
    source = FileSource([str(file)])
    before = source.snapshot()
    file.write_text(node("b"))
    unread = source.snapshot()
    source.reload()
    after = source.snapshot()

    assert unread is before
    assert (list(before.nodes), list(after.nodes)) == (["a"], ["b"])
    assert after.generation > before.generation


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("kind: [", id="broken YAML"),
        pytest.param(node("a") + "---\n" + node("a"), id="a node twice"),
        pytest.param(None, id="a file that is gone"),
    ],
)
def test_a_reload_that_fails_keeps_the_old_cluster(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(node("a"))
    source = FileSource([str(file)])
    before = source.snapshot()
    if content is None:
        file.unlink()
    else:
        file.write_text(content)

    with pytest.raises(ManifestError):
        source.reload()
    assert source.snapshot() is before


def test_files_that_are_wrong_from_the_start_are_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="cannot be read"):
        FileSource([str(tmp_path / "missing.yaml")])
