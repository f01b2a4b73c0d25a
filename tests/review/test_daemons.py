from extender.review import daemons
from tests.builders import a_pod, toleration


def test_what_the_controller_adds_comes_after_what_is_written() -> None:
    written = a_pod(toleration("sla", "Gt", "900"))

    made = daemons.with_tolerations(written)

    assert made.spec is not None
    assert written.spec is not None
    assert made.spec.tolerations == (*(written.spec.tolerations or ()), *daemons.TOLERATIONS)
    assert made.metadata == written.metadata


def test_a_pod_without_anything_gets_them_too() -> None:
    made = daemons.with_tolerations(a_pod())

    assert made.spec is not None
    assert [each.key.removeprefix("node.kubernetes.io/") for each in daemons.TOLERATIONS] == [
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    ]
    assert made.spec.tolerations == daemons.TOLERATIONS
