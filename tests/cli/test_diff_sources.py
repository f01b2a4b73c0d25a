"""A cluster as it is read, and with other taints."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from extender.cli import diff_sources
from extender.cli.progress import Progress
from extender.errors import NotFoundError
from extender.review.diff import changes
from tests.builders import JSON, node_json, taint
from tests.review.diff.clusters import running


def read(folder: Path, *objects: JSON) -> diff_sources.Observation:
    file = folder / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": list(objects)}))
    return diff_sources.read([str(file)], Progress(io.StringIO()))


def node(*taints: JSON) -> JSON:
    return {"kind": "Node", **node_json("n", *taints)}


def pod(**meta: Any) -> JSON:
    made = running("a", "n")
    del made["metadata"]["uid"]
    made["metadata"] |= meta
    return {"kind": "Pod", **made}


@pytest.mark.parametrize(("meta", "uid"), [({}, "default/a"), ({"uid": "u"}, "u")])
def test_a_pod_of_a_manifest_gets_a_uid(tmp_path: Path, meta: JSON, uid: str) -> None:
    (member,) = read(tmp_path, node(), pod(**meta)).population.members()

    assert member.pod.metadata is not None
    assert member.pod.metadata.uid == uid


def test_the_last_of_several_objects_with_one_name_wins(tmp_path: Path) -> None:
    found = read(tmp_path, node(taint("a")), node(taint("b"))).snapshot()

    assert [each.key for each in found.nodes["n"].taints.hard] == ["b"]


def test_claims_are_missing_only_where_there_are_claims(tmp_path: Path) -> None:
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}

    assert read(tmp_path, node()).snapshot().volumes is None
    assert read(tmp_path, node(), claim).snapshot().volumes is not None


def test_other_taints_leave_the_cluster_before_as_it_is(tmp_path: Path) -> None:
    before = read(tmp_path, node(taint("a")))
    after = before.with_taints([changes.parse("n=b:NoSchedule")])

    assert [
        [each.key for each in side.snapshot().nodes["n"].taints.hard] for side in (before, after)
    ] == [["a"], ["a", "b"]]
    with pytest.raises(NotFoundError, match="there is no node m in the cluster"):
        before.with_taints([changes.parse("m=b:NoSchedule")])
