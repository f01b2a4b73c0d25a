import msgspec
import pytest

from extender.model.core_v1 import Pod
from extender.model.storage_v1 import PersistentVolumeClaim, VolumeMeta
from tests.builders import JSON, some_volumes


def test_claims_are_found_by_namespace_and_name() -> None:
    volumes = some_volumes(claims=[{"metadata": {"name": "data", "namespace": "shop"}}])

    assert volumes.claim("shop", "data") == PersistentVolumeClaim(VolumeMeta("data", "shop"))
    assert volumes.claim("default", "data") is None
    assert volumes.claim("", "data") is None


DONE = {"pv.kubernetes.io/bind-completed": "yes"}


@pytest.mark.parametrize(
    ("spec", "annotations", "unbound"),
    [
        pytest.param({"volumeName": "v"}, DONE, False, id="bound"),
        pytest.param({"volumeName": "v"}, None, True, id="chosen, not finished"),
        pytest.param({}, DONE, True, id="without a volume"),
    ],
)
def test_a_volume_that_is_still_to_be_bound(
    spec: JSON, annotations: JSON | None, unbound: bool
) -> None:
    meta = {"name": "web-0-data", "namespace": "shop", "annotations": annotations}
    volumes = some_volumes(claims=[{"metadata": meta, "spec": spec}])
    pod = {"metadata": {"name": "web-0", "namespace": "shop"}, "spec": {"volumes": []}}

    def asked(*of_pod: JSON) -> bool:
        return volumes.has_unbound(msgspec.convert(pod | {"spec": {"volumes": list(of_pod)}}, Pod))

    named = {"name": "x", "persistentVolumeClaim": {"claimName": "web-0-data"}}
    ephemeral: JSON = {"name": "data", "ephemeral": {}}
    assert asked(named) is asked(ephemeral) is unbound
    assert asked({"name": "tmp"}) is False
    assert asked({"name": "x", "persistentVolumeClaim": {"claimName": "unknown"}}) is True
    assert volumes.has_unbound(msgspec.convert({}, Pod)) is False
