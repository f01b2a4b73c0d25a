"""What compiling makes of claims and their templates."""

import json
from collections.abc import Mapping

import pytest

from extender.framework.interface import Settings
from extender.model import nulls
from extender.model.core_v1 import Taint
from extender.model.documents import Plain
from extender.model.resource_v1 import Claim, ClaimTemplate
from extender.review import validation
from extender.review.compiling import claims
from extender.review.compiling.edits import Edit, Rewriting
from tests.builders import JSON

NAME = "scheduling.leeway/device-tolerations"
KEY = "example.com/vram"
GT_24 = {NAME: json.dumps([{"key": KEY, "operator": "Gt", "value": "24"}])}
KNOWN = {Taint(KEY, "30", "NoSchedule"): 1, Taint(KEY, "8", "NoSchedule"): 1}
EQUAL_30: dict[str, Plain] = {
    "key": KEY,
    "operator": "Equal",
    "value": "30",
    "effect": "NoSchedule",
}
SPEC: JSON = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}


def a_claim(written: JSON, spec: JSON = SPEC) -> JSON:
    return {"kind": "ResourceClaim", "metadata": {"annotations": written}, "spec": spec}


def a_template(outer: JSON, inner: JSON) -> JSON:
    spec = {"metadata": {"annotations": inner}, "spec": SPEC}
    kind = "ResourceClaimTemplate"
    return {"kind": kind, "metadata": {"annotations": outer}, "spec": spec}


def rewritten(claim: JSON, known: Mapping[Taint, int] | None = KNOWN) -> Rewriting:
    return claims.rewrite(claim, claim["kind"], lambda: known, Settings())


def test_a_claim_tolerates_the_device_that_its_rule_means() -> None:
    path = ("spec", "devices", "requests", 0, "exactly", "tolerations")
    expected = Rewriting((Edit(path, [EQUAL_30]),), added=1)
    assert _as_json(rewritten(a_claim(GT_24))) == _as_json(expected)


@pytest.mark.parametrize(("outer", "inner"), [(GT_24, {}), ({}, GT_24)], ids=["own", "of claims"])
def test_a_template_is_read_in_both_places(outer: JSON, inner: JSON) -> None:
    done = rewritten(a_template(outer, inner))
    path = ("spec", "spec", "devices", "requests", 0, "exactly", "tolerations")
    assert [each.path for each in done.edits] == [path]


@pytest.mark.parametrize(
    "claim", [a_claim({}), {"kind": "ResourceClaim"}, {"kind": "ResourceClaimTemplate"}]
)
def test_without_rules_nothing_changes(claim: JSON) -> None:
    assert rewritten(claim) == Rewriting()


def test_rules_without_requests_change_nothing() -> None:
    assert rewritten(a_claim(GT_24, {})) == Rewriting()


def test_a_compiled_claim_is_current() -> None:
    asked = {"deviceClassName": "gpu", "tolerations": [EQUAL_30]}
    spec = {"devices": {"requests": [{"exactly": asked}]}}
    assert rewritten(a_claim(GT_24, spec)) == Rewriting()


def test_an_unreadable_annotation_is_an_error_at_its_path() -> None:
    done = rewritten(a_claim({NAME: "{"}))
    assert done.edits == ()
    assert [each.path for each in done.errors] == [("metadata", "annotations", NAME)]


def test_more_taints_than_a_request_takes_are_an_error_that_names_them() -> None:
    known = {Taint(KEY, str(value), "NoSchedule"): value for value in range(25, 48)}
    (error,) = rewritten(a_claim(GT_24), known).errors
    assert error.text == (
        "a request takes 16 tolerations, and no room is left for"
        " example.com/vram=31:NoSchedule, example.com/vram=30:NoSchedule,"
        " example.com/vram=29:NoSchedule, example.com/vram=28:NoSchedule,"
        " example.com/vram=27:NoSchedule and 2 more, which are on the fewest devices: narrow the"
        " rules, or write one Exists for the key"
    )


@pytest.mark.parametrize("inside", [False, True], ids=["claim", "template"])
def test_validation_names_the_field_of_a_bad_rule(inside: bool) -> None:
    bad = {NAME: json.dumps([{"key": KEY, "operator": "Gt", "value": "24", "effect": "Soon"}])}
    ruled = a_template({}, bad) if inside else a_claim(bad)
    shape: type[Claim] | type[ClaimTemplate] = ClaimTemplate if inside else Claim
    parsed: Claim | ClaimTemplate = nulls.convert(ruled, shape)
    (error,) = validation.check(parsed, None, Settings()).errors
    at = f"{'spec.' if inside else ''}metadata.annotations[{NAME}][0].effect"
    assert error.field == at
    assert error.message == (
        'Unsupported value: "Soon": supported values: "NoExecute", "NoSchedule", "None"'
    )


def _as_json(done: Rewriting) -> object:
    return json.loads(json.dumps([(e.path, e.value) for e in done.edits])), done.added, done.errors


def test_rules_need_devices() -> None:
    (error,) = rewritten(a_claim(GT_24), None).errors
    assert "need the taints of devices: give --cluster PATH with ResourceSlices" in error.text


def test_own_tolerations_stay_as_they_are_written() -> None:
    own = {"operator": "Exists", "key": "other", "x": 1}
    asked = {"deviceClassName": "gpu", "tolerations": [own]}
    done = rewritten(a_claim(GT_24, {"devices": {"requests": [{"exactly": asked}]}}))
    assert [each.value for each in done.edits] == [[own, EQUAL_30]]
