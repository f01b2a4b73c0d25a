"""Each claim of a pod, and whether the node reaches its volume."""

import json

import msgspec
import pytest

from extender.framework.volumes import Volumes
from extender.model.core_v1 import Pod
from tests.builders import JSON, PREFIX, node_json, requirement, some_volumes
from tests.review.explain.asking import derived

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def a_pod_with(*claims: str, ephemeral: bool = False) -> Pod:
    listed: list[JSON] = [
        {"name": claim, "ephemeral": {}}
        if ephemeral
        else {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
        for claim in claims
    ]
    meta = {"name": "web", "namespace": "shop", "uid": "u"}
    return msgspec.convert({"metadata": meta, "spec": {"volumes": listed}}, Pod)


def a_claim(name: str, volume: str = "", *, bound: bool = True, **more: str) -> JSON:
    annotations = BOUND if bound else {}
    return {
        "metadata": {"name": name, "namespace": "shop", "annotations": annotations},
        "spec": {"volumeName": volume, **more},
    }


def in_zone(zone: str) -> JSON:
    return {"nodeSelectorTerms": [{"matchExpressions": [requirement("zone", "In", zone)]}]}


def a_volume(name: str, zone: str | None = None, annotated: str | None = None) -> JSON:
    spec = {} if zone is None else {"nodeAffinity": {"required": in_zone(zone)}}
    annotations = {} if annotated is None else {PREFIX + "node-affinity": annotated}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}


KNOWN = some_volumes(
    [
        a_volume("anywhere"),
        a_volume("in-a", "a"),
        a_volume("in-b", "b"),
        a_volume("both", "a", json.dumps({"required": in_zone("b")})),
        a_volume("broken", None, "["),
        a_volume("empty", None, "{}"),
    ],
    [
        a_claim("anywhere", "anywhere"),
        a_claim("in-a", "in-a"),
        a_claim("in-b", "in-b"),
        a_claim("both", "both"),
        a_claim("broken", "broken"),
        a_claim("empty", "empty"),
        a_claim("lost", "gone"),
        a_claim("choosing", "in-a", bound=False),
        a_claim("unbound", bound=False),
        a_claim("waiting", bound=False, storageClassName="lazy"),
        a_claim("web-scratch", "anywhere"),
    ],
    [{"metadata": {"name": "lazy"}, "volumeBindingMode": "WaitForFirstConsumer"}],
)
NODE = node_json("n", labels={"zone": "a"})


@pytest.mark.parametrize(
    ("claim", "matches", "why"),
    [
        ("anywhere", True, "its volume can be used from any node"),
        ("empty", True, "its volume can be used from any node"),
        ("in-a", True, "the node reaches its volume"),
        ("in-b", False, "the node does not reach its volume"),
        ("both", False, "the node does not reach its volume"),
        ("lost", False, "bound to volume gone, which does not exist"),
        ("choosing", False, "its volume in-a was chosen, but binding is not finished"),
        ("unbound", False, "not bound, and its storage class binds immediately or is not known"),
        (
            "waiting",
            True,
            "not bound yet: waits for its first consumer, kube-scheduler's own binder decides",
        ),
        ("none", False, 'persistentvolumeclaim "none" not found'),
    ],
)
def test_one_claim(claim: str, matches: bool, why: str) -> None:
    made = derived(a_pod_with(claim), NODE, volumes=KNOWN)
    (check,) = made.claims

    assert (check.claim, check.matches, check.why) == (claim, matches, why)
    refused = next(each.code for each in made.plugins if each.plugin == "VolumeBinding")
    assert (refused == "Success") == matches


def test_a_volume_whose_annotation_cannot_be_read() -> None:
    (check,) = derived(a_pod_with("broken"), NODE, volumes=KNOWN).claims

    assert not check.matches
    assert check.why.startswith('persistentvolume "broken" annotation')


def test_terms_of_both_carriers_are_told() -> None:
    (check,) = derived(a_pod_with("both"), NODE, volumes=KNOWN).claims

    assert [(term.carrier, term.matches) for term in check.terms] == [
        ("native", True),
        ("annotation", False),
    ]


def test_a_claim_made_for_the_pod_must_belong_to_it() -> None:
    (check,) = derived(a_pod_with("scratch", ephemeral=True), NODE, volumes=KNOWN).claims

    assert (check.claim, check.ephemeral, check.matches) == ("web-scratch", True, False)
    assert "pod is not owner" in check.why


def test_without_a_cluster_of_volumes_there_is_nothing_to_derive() -> None:
    assert derived(a_pod_with("none"), NODE).claims == ()
    assert derived(a_pod_with(), NODE, volumes=Volumes()).claims == ()
