"""Each claim of a pod: whether it is usable, and whether the node reaches its volume."""

import msgspec

from extender.errors import AnnotationError
from extender.framework import volumes
from extender.framework.interface import Settings, Status
from extender.framework.snapshot import NodeInfo
from extender.framework.volumes import Volumes
from extender.match import selectors
from extender.model.core_v1 import NodeSelector, Pod
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim
from extender.plugins import volume_binding
from extender.plugins.volume_binding import VolumeBinding
from extender.review.explain.affinity.derivation import term_checks
from extender.review.explain.proposals import Case
from extender.review.explain.schema import ClaimCheck, Derivation, TermCheck
from extender.review.explain.words import ANNOTATION, NATIVE


def derive(plugin: VolumeBinding, case: Case, limit: int, derived: Derivation) -> Derivation:
    """The derivation with the claims of the pod in it."""
    known = case.snapshot.volumes
    if known is None:
        return derived
    found = checks(case.pod, case.node, known, plugin.settings, limit)
    return msgspec.structs.replace(derived, claims=tuple(found))


def checks(
    pod: Pod, node: NodeInfo, known: Volumes, settings: Settings, limit: int
) -> list[ClaimCheck]:
    """Every claim, in the order of the pod's volumes."""
    found = []
    for name, ephemeral in list(volumes.claims_of(pod))[:limit]:
        claim = volume_binding.usable(pod, name, ephemeral, known)
        if isinstance(claim, Status):
            found.append(ClaimCheck(name, ephemeral, "", False, False, claim.reasons[0]))
        elif not volumes.is_bound(claim):
            found.append(_unbound(name, ephemeral, claim, known))
        else:
            found.append(_bound(name, ephemeral, claim, node, known, settings, limit))
    return found


def _unbound(
    name: str, ephemeral: bool, claim: PersistentVolumeClaim, known: Volumes
) -> ClaimCheck:
    volume = claim.spec.volume_name
    if not volume_binding.is_unbound_immediate(claim, known):
        why = "not bound yet: waits for its first consumer, kube-scheduler's own binder decides"
        return ClaimCheck(name, ephemeral, volume, False, True, why)
    if volume:
        why = f"its volume {volume} was chosen, but binding is not finished"
    else:
        why = "not bound, and its storage class binds immediately or is not known"
    return ClaimCheck(name, ephemeral, volume, False, False, why)


def _bound(
    name: str,
    ephemeral: bool,
    claim: PersistentVolumeClaim,
    node: NodeInfo,
    known: Volumes,
    settings: Settings,
    limit: int,
) -> ClaimCheck:
    volume = known.volumes.get(claim.spec.volume_name)
    bound_to = claim.spec.volume_name
    if volume is None:
        why = f"bound to volume {bound_to}, which does not exist"
        return ClaimCheck(name, ephemeral, bound_to, True, False, why)
    try:
        matches, terms = _reached(volume, node, settings, limit)
    except AnnotationError as exc:
        return ClaimCheck(name, ephemeral, bound_to, True, False, str(exc))
    if not terms:
        why = "its volume can be used from any node"
    else:
        why = "the node reaches its volume" if matches else "the node does not reach its volume"
    return ClaimCheck(name, ephemeral, bound_to, True, matches, why, tuple(terms))


def _reached(
    volume: PersistentVolume, node: NodeInfo, settings: Settings, limit: int
) -> tuple[bool, list[TermCheck]]:
    matches, terms = True, []
    written = volume_binding.written_rules(volume, settings)
    for carrier, selector in zip((NATIVE, ANNOTATION), written, strict=True):
        if selector is None:
            continue
        matches = matches and _selects(selector, node, settings)
        terms += term_checks(carrier, selector, "", node.labels, settings, limit)
    return matches, terms


def _selects(selector: NodeSelector, node: NodeInfo, settings: Settings) -> bool:
    compiled = selectors.compile_selector(selector, settings.gates, set())
    return selectors.Required((), (compiled,)).matches("", node.labels, set())
