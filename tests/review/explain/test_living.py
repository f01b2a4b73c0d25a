"""What may be changed of a pod."""

import pytest
from msgspec.structs import replace

from extender.model.core_v1 import Pod
from extender.review.explain import living
from tests.builders import a_pod, required, requirement, toleration
from tests.review.explain.asking import SETTINGS

SLA = toleration("sla", "Exists")
GIVEN = toleration("node.kubernetes.io/not-ready", "Exists", effect="NoExecute")


@pytest.mark.parametrize(
    ("after", "allowed"),
    [
        pytest.param(a_pod(SLA), True, id="nothing"),
        pytest.param(a_pod(SLA, GIVEN), True, id="a toleration is added"),
        pytest.param(a_pod(GIVEN, SLA), True, id="the order does not matter"),
        pytest.param(a_pod(SLA, annotations={"a": "b"}), True, id="an annotation"),
        pytest.param(a_pod(GIVEN), False, id="a toleration is replaced"),
        pytest.param(a_pod(), False, id="a toleration is removed"),
        pytest.param(a_pod(SLA, node_selector={"a": "b"}), False, id="the node selector"),
        pytest.param(
            a_pod(SLA, affinity=required([requirement("a", "Exists")])), False, id="the affinity"
        ),
    ],
)
def test_what_a_pod_that_lives_may_become(after: Pod, allowed: bool) -> None:
    assert living.may_become(a_pod(SLA), after) is allowed


def test_what_the_system_adds_is_not_in_the_template() -> None:
    own = a_pod(SLA, toleration("node.kubernetes.io/not-ready", "Equal", "x"))
    made = living.without_system(replace(own, spec=a_pod(SLA, GIVEN).spec))

    assert made.spec is not None
    assert made.spec.tolerations == a_pod(SLA).spec.tolerations  # type: ignore[union-attr] # it has one
    assert living.without_system(own) == own
    assert living.without_system(Pod()).spec is not None


def test_what_changes_must_be_valid_and_the_rest_need_not() -> None:
    """A rule that the API server already has is not validated again."""
    before = a_pod(toleration("a b", "Exists"))
    good = a_pod(toleration("a b", "Exists"), SLA)
    bad = a_pod(toleration("a b", "Exists"), SLA | {"tolerationSeconds": 5})

    assert living.is_valid(before, good, SETTINGS)
    assert not living.is_valid(before, bad, SETTINGS)
