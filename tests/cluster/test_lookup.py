"""What a person names, looked up in a scripted cluster."""

from typing import Any

import msgspec
import pytest

from extender.cluster import kinds, lookup
from extender.cluster.api import ApiServer
from extender.cluster.kinds import Kind
from extender.cluster.lookup import Brief
from extender.model.core_v1 import LabelSelector, LabelSelectorRequirement
from tests.builders import JSON
from tests.cluster.apiserver import Answer, ScriptedServer, anonymous, scripted

NAMESPACE = "shop"


def made(
    name: str,
    second: int = 0,
    *,
    owner: tuple[str, str] = ("", ""),
    node: str = "",
    namespace: str = NAMESPACE,
    **labels: str,
) -> JSON:
    """A pod or a job that somebody made."""
    metadata: JSON = {
        "name": name,
        "namespace": namespace,
        "creationTimestamp": f"2026-01-01T00:00:{second:02}Z",
        "labels": {key.replace("_", "-"): value for key, value in labels.items()},
    }
    if any(owner):
        kind, of = owner
        metadata["ownerReferences"] = [{"kind": kind, "name": of, "controller": True}]
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}}


def workload(name: str, **labels: str) -> JSON:
    return {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}},
    }


async def pod_of(server: ScriptedServer, kind: Kind, body: JSON) -> str | None:
    async with ApiServer(anonymous(server)).connect() as connection:
        return await lookup.pod_of(
            connection, kind, NAMESPACE, body["metadata"]["name"], msgspec.json.encode(body)
        )


async def test_the_newest_pod_of_a_deployment() -> None:
    deployment = kinds.SUBJECTS["Deployment"]
    async with scripted() as server:
        web = workload("web", app="web")
        assert await pod_of(server, deployment, web) is None
        of_web = {"owner": ("ReplicaSet", "web-1"), "app": "web", "pod_template_hash": "1"}
        server.put(
            "pods",
            made("old", 1, **of_web),  # type: ignore[arg-type]
            made("new", 2, **of_web),  # type: ignore[arg-type]
            made("foreign", 3, app="web"),
            made("of another", 4, owner=("ReplicaSet", "x-1"), app="web", pod_template_hash="1"),
            made("unlabelled", 5, owner=("ReplicaSet", "web-1")),
            made("elsewhere", 6, namespace="x", **of_web),  # type: ignore[arg-type]
        )

        assert await pod_of(server, deployment, web) == "new"


async def test_the_newest_is_looked_for_on_all_pages() -> None:
    async with scripted() as server:
        pods = (made(f"p{i:03}", i == 600, owner=("StatefulSet", "db")) for i in range(700))
        server.put("pods", *pods)

        assert await pod_of(server, kinds.SUBJECTS["StatefulSet"], workload("db")) == "p600"


async def test_the_newest_pod_of_a_cron_job_is_that_of_its_newest_job() -> None:
    cron = kinds.SUBJECTS["CronJob"]
    async with scripted() as server:
        report = workload("report")
        assert await pod_of(server, cron, report) is None
        server.put(
            "jobs",
            made("report-1", 1, owner=("CronJob", "report")),
            made("report-2", 2, owner=("CronJob", "report")),
            made("other-3", 3, owner=("CronJob", "other")),
        )
        server.put("pods", made("a", 9, owner=("Job", "report-1"), job_name="report-1"))
        assert await pod_of(server, cron, report) is None
        server.put("pods", made("b", 3, owner=("Job", "report-2"), job_name="report-2"))

        assert await pod_of(server, cron, report) == "b"


def test_of_pods_of_the_same_second_one_that_waits() -> None:
    pods = [made("z", node="n"), made("a"), made("b", node="n")]
    found = lookup.newest(msgspec.convert(each, Brief) for each in pods)

    assert found is not None
    assert found.metadata.name == "a"


async def test_a_pod_with_labels() -> None:
    async with scripted() as server, ApiServer(anonymous(server)).connect() as connection:
        server.put("pods", made("a", 1, app="web"), made("b", 2, app="web"), made("c", 3))

        assert await lookup.selected_pod(connection, NAMESPACE, "app=web") == "b"
        assert await lookup.selected_pod(connection, NAMESPACE, "app=x") is None


async def test_names_and_where_they_are_as_far_as_we_may_know() -> None:
    async with scripted() as server, ApiServer(anonymous(server)).connect() as connection:
        server.put("pods", made("a"), made("a", namespace="x"), made("b"))
        server.put("namespaces", {"metadata": {"name": NAMESPACE}})

        assert await lookup.names(connection, kinds.POD, NAMESPACE) == ["a", "b"]
        assert await lookup.namespaces_of(connection, kinds.POD, "a") == [NAMESPACE, "x"]
        assert await lookup.is_there(connection, kinds.NAMESPACE, "", NAMESPACE)
        assert not await lookup.is_there(connection, kinds.NAMESPACE, "", "x")
        server.on_list("pods", Answer(403), Answer(403))
        assert await lookup.names(connection, kinds.POD, NAMESPACE) == []
        assert await lookup.namespaces_of(connection, kinds.POD, "a") == []
        server.bearer = "somebody else"
        assert await lookup.is_there(connection, kinds.NAMESPACE, "", "x")


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, ""),
        (LabelSelector(), ""),
        (LabelSelector({"a": "1", "b": "2"}), "a=1,b=2"),
        (
            LabelSelector(
                {"a": "1"},
                (
                    LabelSelectorRequirement("b", "In", ("1", "2")),
                    LabelSelectorRequirement("c", "NotIn", ("3",)),
                    LabelSelectorRequirement("d", "Exists"),
                    LabelSelectorRequirement("e", "DoesNotExist"),
                ),
            ),
            "a=1,b in (1,2),c notin (3),d,!e",
        ),
    ],
)
def test_a_selector_as_the_api_server_takes_it(selector: Any, text: str) -> None:
    assert lookup.query(selector) == text
