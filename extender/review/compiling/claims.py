"""What the rules of a device claim come to as plain tolerations of its requests."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.match import annotations
from extender.model import nulls, positions
from extender.model.core_v1 import Taint, Toleration
from extender.model.documents import Plain
from extender.model.positions import Path
from extender.model.resource_v1 import Claim, ClaimTemplate, SubRequest
from extender.native import devices
from extender.native.devices import MAX_TOLERATIONS, Completed
from extender.review import subjects
from extender.review.compiling.edits import Edit, Remark, Rewriting, at, plain

_NAMED: Final = 5
_SHAPES: Final[Mapping[str, type[Claim] | type[ClaimTemplate]]] = {
    "ResourceClaim": Claim,
    "ResourceClaimTemplate": ClaimTemplate,
}
KINDS: Final = frozenset(_SHAPES)
_NO_DEVICES: Final = (
    "the rules of a claim need the taints of devices: give --cluster PATH with ResourceSlices, a"
    " kubeconfig, or --device-taint KEY=VALUE:EFFECT"
)

# The taints of devices, and on how many each is, read when they are needed; None: of no cluster.
DeviceTaints = Callable[[], Mapping[Taint, int] | None]


def rewrite(data: Plain, kind: str, known: DeviceTaints, settings: Settings) -> Rewriting:
    """What a claim or a template that passed validation needs; without rules, nothing.

    Errors leave the edits in place for what can be done: who writes decides.
    """
    claim = nulls.convert(data, _SHAPES[kind])
    written, errors = _rules(claim, settings)
    if errors or not written:
        return Rewriting(errors=errors)
    counts = known()
    if counts is None:
        return Rewriting(errors=(Remark((), _NO_DEVICES),))
    rules = devices.rules_of(written, settings)
    edits: list[Edit] = []
    added = 0
    for path, part in requests(claim):
        done = devices.complete(part.tolerations or (), rules, counts, settings)
        place = (*path, "tolerations")
        added += done.added
        if done.added:
            own = at(data, place)
            new = [*(own if isinstance(own, list) else ()), *map(plain, done.new)]
            edits.append(Edit(place, new))
        if done.left_out:
            errors = (*errors, Remark(place, _cut(done, counts)))
    return Rewriting(tuple(edits), added, errors)


def requests(claim: Claim | ClaimTemplate) -> Iterator[tuple[Path, SubRequest]]:
    """Everything of a claim that can have tolerations, with its path."""
    if isinstance(claim, Claim):
        path: Path = ("spec",)
        spec = claim.spec
    else:
        path, spec = ("spec", "spec"), claim.spec.spec if claim.spec else None
    for inner, part in spec.parts() if spec else ():
        yield (*path, *inner), part


def _rules(
    claim: Claim | ClaimTemplate, settings: Settings
) -> tuple[tuple[Toleration, ...], tuple[Remark, ...]]:
    """The rules of all annotations, and what cannot be read of them."""
    rules: tuple[Toleration, ...] = ()
    errors: tuple[Remark, ...] = ()
    prefix, limit = settings.annotation_prefix, settings.annotation_bytes
    for path, written in subjects.claim_annotations(claim):
        try:
            rules += annotations.device_tolerations(written, prefix, limit)
        except AnnotationError as exc:
            field = f"{path}metadata.annotations[{prefix}{annotations.DEVICE_TOLERATIONS}]"
            errors = (*errors, Remark(positions.path_of(field), exc.problem))
    return rules, errors


def _cut(done: Completed, known: Mapping[Taint, int]) -> str:
    """Which taints found no room; the rarest are left out."""
    left = sorted(done.left_out, key=lambda taint: (-known[taint], taint.key, taint.value))
    named = ", ".join(f"{each.key}={each.value}:{each.effect}" for each in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return (
        f"a request takes {MAX_TOLERATIONS} tolerations, and no room is left for {named}{more},"
        " which are on the fewest devices: narrow the rules, or write one Exists for the key"
    )
