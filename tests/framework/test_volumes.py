from extender.model.storage_v1 import PersistentVolumeClaim, VolumeMeta
from tests.builders import some_volumes


def test_claims_are_found_by_namespace_and_name() -> None:
    volumes = some_volumes(claims=[{"metadata": {"name": "data", "namespace": "shop"}}])

    assert volumes.claim("shop", "data") == PersistentVolumeClaim(VolumeMeta("data", "shop"))
    assert volumes.claim("default", "data") is None
    assert volumes.claim("", "data") is None
