"""`leeway compile` for claims: where the taints of devices come from."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from extender.cli import compile_devices
from extender.config.schema import Config
from extender.errors import ApiError, ApiForbiddenError
from extender.model.core_v1 import Taint
from tests.cli import process

KEY = "example.com/vram"
CLAIM = f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: gpu
  annotations:
    scheduling.leeway/device-tolerations: |
      - {{key: {KEY}, operator: Gt, value: "24"}}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com   # the class
"""
SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "slice"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {"name": "big", "taints": [{"key": KEY, "value": "30", "effect": "NoSchedule"}]},
            {"name": "small", "taints": [{"key": KEY, "value": "8", "effect": "NoSchedule"}]},
        ],
    },
}
RULE = {
    "apiVersion": "resource.k8s.io/v1alpha3",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "rule"},
    "spec": {
        "deviceSelector": {"device": "small"},
        "taint": {"key": KEY, "value": "48", "effect": "NoExecute"},
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("claim.yaml").write_text(CLAIM, encoding="utf-8")


def compiled(*arguments: str) -> process.Ended:
    return process.run_here("compile", "claim.yaml", "-o", "yaml", *arguments)


def values(text: str) -> list[str]:
    (request,) = yaml.safe_load(text)["spec"]["devices"]["requests"]
    return [each["value"] for each in request["exactly"].get("tolerations", ())]


def test_slices_and_rules_of_files() -> None:
    Path("cluster.yaml").write_text(yaml.safe_dump_all([SLICE, RULE]), encoding="utf-8")

    ended = compiled("--cluster", "cluster.yaml")

    assert (ended.code, ended.err) == (0, "1 object(s), 1 stale, 2 new value(s)\n")
    assert values(ended.out) == ["30", "48"]
    assert [line for line in CLAIM.splitlines() if line not in ended.out.splitlines()] == []
    Path("claim.yaml").write_text(ended.out, encoding="utf-8")
    assert compiled("--check", "--cluster", "cluster.yaml").code == 0


def test_taints_that_are_named() -> None:
    ended = compiled("--device-taint", f"{KEY}=80:NoSchedule")

    assert values(ended.out) == ["80"]


def test_without_devices_a_claim_is_an_error() -> None:
    Path("cluster.yaml").write_text("{kind: Node, metadata: {name: n}}", encoding="utf-8")

    for source in (["--cluster", "cluster.yaml"], ["--taint", "x=1:NoSchedule"]):
        ended = compiled(*source)
        assert ended.code == 2
        assert "claim.yaml:1: the rules of a claim need the taints of devices" in ended.err


class Served:
    """A connection to an API server that serves some versions of some resources."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self._answers = answers

    async def get(self, path: str, _params: Mapping[str, str]) -> bytes:
        answer = self._answers.get(path.removeprefix("/apis/resource.k8s.io/"))
        if answer is None:
            raise ApiError("not found", 404)
        if isinstance(answer, Exception):
            raise answer
        return json.dumps({"items": [answer]}).encode()


async def counted(answers: Mapping[str, object]) -> Mapping[Taint, int]:
    return await compile_devices.of_cluster(Served(answers))  # type: ignore[arg-type]


async def test_the_newest_version_that_is_served_is_read() -> None:
    both = {Taint(KEY, "30", "NoSchedule"): 1, Taint(KEY, "8", "NoSchedule"): 1}

    assert await counted({"v1/resourceslices": SLICE}) == both
    assert await counted({"v1beta2/resourceslices": SLICE}) == both
    assert await counted({}) == {}


async def test_rules_of_devices_are_read_where_there_are_any() -> None:
    served = {"v1/resourceslices": SLICE, "v1alpha3/devicetaintrules": RULE}

    assert (await counted(served))[Taint(KEY, "48", "NoExecute")] == 1


async def test_rules_that_may_not_be_listed_are_left_out_with_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused = ApiForbiddenError("no", 403, message="devicetaintrules is forbidden")
    served = {"v1/resourceslices": SLICE, "v1/devicetaintrules": refused}

    assert len(await counted(served)) == 2
    assert "DeviceTaintRules are left out: devicetaintrules is forbidden" in capsys.readouterr().err


async def test_slices_that_may_not_be_listed_are_an_error() -> None:
    with pytest.raises(ApiForbiddenError):
        await counted({"v1/resourceslices": ApiForbiddenError("no", 403)})


def test_without_a_cluster_there_are_no_devices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)

    assert compile_devices.counted(Config(), None) is None
