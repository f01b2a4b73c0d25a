"""What cures a refusal by claims and volumes."""

from extender.review.explain.schema import Fix
from extender.review.explain.volumes.cure import VolumeCure
from tests.review.explain.asking import SETTINGS, a_case, change_of, fix_of
from tests.review.explain.volumes.test_derivation import KNOWN, NODE, a_pod_with


def test_a_misspelt_claim_is_found() -> None:
    change = change_of(a_pod_with("anywhere", "any-where"), NODE, volumes=KNOWN)

    assert change.summary == 'claim "any-where" does not exist: did you mean "anywhere"?'
    assert change.path == "spec.volumes[1].persistentVolumeClaim.claimName"


def advice(claim: str, **more: bool) -> tuple[str, ...]:
    fix: Fix = fix_of(a_pod_with(claim, **more), NODE, volumes=KNOWN)
    assert (fix.changes, fix.complete) == ((), False)
    return fix.advice


def test_what_is_wrong_with_a_claim_is_told() -> None:
    assert advice("zzz") == (
        'claim zzz: persistentvolumeclaim "zzz" not found: create it in the pod\'s namespace',
    )
    assert advice("in-b") == (
        "claim in-b: the node does not reach its volume; the pod can only run where its volume is",
    )
    assert advice("unbound") == (
        "claim unbound: not bound, and its storage class binds immediately or is not known:"
        " look at its events, kubectl describe pvc",
    )
    assert advice("lost") == ("claim lost: bound to volume gone, which does not exist",)


def test_without_volumes_nothing_is_in_the_way_of_a_claim_but_itself() -> None:
    assert VolumeCure(SETTINGS).obstacles(a_case(a_pod_with("x"), NODE)) == 1
