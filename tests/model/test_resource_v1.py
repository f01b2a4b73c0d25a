"""Claims and devices in the shapes of every served version."""

import pytest

from extender.model import nulls
from extender.model.core_v1 import Taint
from extender.model.resource_v1 import Claim, Device
from tests.builders import JSON


@pytest.mark.parametrize(
    ("request_", "paths"),
    [
        ({"exactly": {"deviceClassName": "gpu"}}, [("exactly",)]),
        ({"firstAvailable": [{}, {}]}, [("firstAvailable", 0), ("firstAvailable", 1)]),
        ({"deviceClassName": "gpu"}, [()]),
        ({"name": "empty"}, []),
    ],
    ids=["v1", "alternatives", "v1beta1", "nothing asked for"],
)
def test_what_can_have_tolerations(request_: JSON, paths: list[tuple[str | int, ...]]) -> None:
    claim = nulls.convert({"spec": {"devices": {"requests": [request_]}}}, Claim)
    assert claim.spec is not None
    found = [path for path, _ in claim.spec.parts()]
    assert found == [("devices", "requests", 0, *path) for path in paths]


@pytest.mark.parametrize("spec", [{}, {"devices": None}, {"devices": {"requests": None}}])
def test_a_claim_without_requests_has_no_parts(spec: JSON) -> None:
    claim = nulls.convert({"spec": spec}, Claim)
    assert claim.spec is not None
    assert list(claim.spec.parts()) == []


@pytest.mark.parametrize("wrapped", [False, True], ids=["v1", "v1beta1"])
def test_the_taints_of_a_device(wrapped: bool) -> None:
    fields = {"taints": [{"key": "vram", "value": "30", "effect": "NoSchedule"}]}
    device = nulls.convert({"name": "a", **({"basic": fields} if wrapped else fields)}, Device)
    assert device.all_taints() == (Taint("vram", "30", "NoSchedule"),)


@pytest.mark.parametrize("data", [{}, {"basic": {}}])
def test_a_device_without_taints(data: JSON) -> None:
    assert nulls.convert(data, Device).all_taints() == ()
