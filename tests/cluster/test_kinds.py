"""Kinds as kubectl spells them."""

import pytest

from extender.cluster import kinds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pod/web", ("Pod", "web")),
        ("po/web", ("Pod", "web")),
        ("pods/web", ("Pod", "web")),
        ("deployment/web", ("Deployment", "web")),
        ("deployments.apps/web", ("Deployment", "web")),
        ("Deployment/web", ("Deployment", "web")),
        ("deploy/web", ("Deployment", "web")),
        ("sts/db", ("StatefulSet", "db")),
        ("ds/agent", ("DaemonSet", "agent")),
        ("rs/web-1", ("ReplicaSet", "web-1")),
        ("rc/web", ("ReplicationController", "web")),
        ("job/report", ("Job", "report")),
        ("cj/report", ("CronJob", "report")),
        ("cronjob.batch/report", ("CronJob", "report")),
        ("web", None),
        ("deploy/", None),
        ("deploy/web/x", None),
        ("node/n1", None),
        ("examples/pod.yaml", None),
    ],
)
def test_a_kind_and_a_name(text: str, found: tuple[str, str] | None) -> None:
    reference = kinds.reference(text)

    assert (reference and (reference[0].name, reference[1])) == found


def test_where_an_object_is() -> None:
    deployment = kinds.SUBJECTS["Deployment"]

    assert deployment.path("shop", "web") == "/apis/apps/v1/namespaces/shop/deployments/web"
    assert deployment.path("shop") == "/apis/apps/v1/namespaces/shop/deployments"
    assert deployment.path("") == "/apis/apps/v1/deployments"
    assert kinds.NODE.path("shop", "n") == "/api/v1/nodes/n"
    assert kinds.POD.path("..", "../x") == "/api/v1/namespaces/../pods/..%2Fx"
