"""Notes beside the verdicts."""

from collections.abc import Iterator
from typing import Final

from extender.framework import volumes
from extender.match.findings import Finding
from extender.plugins.node_affinity import NodeAffinity
from extender.review.explain.inquiry import Inquiry
from extender.review.validation import Review

MAX_FINDINGS: Final = 5
_KINDS: Final = {"integer": "an integer", "semver": "a version"}


def of(inquiry: Inquiry, findings: set[Finding], passing: int) -> Iterator[str]:
    """All notes, the most important first."""
    subject, pod, snapshot = inquiry.subject, inquiry.pod, inquiry.snapshot
    if subject.node:
        yield f"the pod is already on node {subject.node}: it is judged as if it were pending"
    if subject.implicit:
        yield "the tolerations that the DaemonSet controller adds are counted in"
    if any(isinstance(p, NodeAffinity) and p.annotation_only for p in inquiry.profile.filters):
        yield (
            "no profile is configured for this scheduler: only the node-affinity annotation is"
            " judged here, everything else is left to kube-scheduler"
        )
    yield from _of_mistakes(inquiry)
    yield from _of_findings(findings)
    spreads = bool(pod.spec and pod.spec.topology_spread_constraints)
    if spreads and snapshot.pods is None:
        yield "the pods of the cluster are not known here, so PodTopologySpread is skipped"
    elif spreads and snapshot.pods is not None and not snapshot.pods.reserves:
        yield (
            "pods in flight are not known here: a running extender also counts pods that it let"
            " pass and that are not bound yet"
        )
    if snapshot.volumes is None and any(volumes.claims_of(pod)):
        yield "claims and volumes are not known here, so VolumeBinding is skipped"
    if passing and subject.attempt is not None:
        yield (
            "kube-scheduler's own plugins refuse nodes that pass here: its last attempt says why"
        )
    elif passing:
        yield (
            "if the pod stays Pending although a node passes here, kube-scheduler's own plugins"
            " refuse, such as NodeResourcesFit: kubectl describe pod has its event"
        )


def _of_mistakes(inquiry: Inquiry) -> Iterator[str]:
    """Rules that are misspelt or misplaced, as the webhook says it."""
    subject = inquiry.subject
    if subject.written is not None:
        review = Review(subject.written, None, inquiry.settings)
        for mistake in review.mistakes(lives=subject.is_living):
            yield f"{mistake.field}: {mistake.text}"


def _of_findings(findings: set[Finding]) -> Iterator[str]:
    """Values that could not be parsed; Kubernetes itself does not report them."""
    told = sorted(map(_told, findings))
    yield from told[:MAX_FINDINGS]
    if len(told) > MAX_FINDINGS:
        yield f"{len(told) - MAX_FINDINGS} more values could not be read"


def _told(finding: Finding) -> str:
    if finding.kind == "cel" and finding.source == "toleration":
        return f"an expression tolerates nothing: {finding.problem}"
    if finding.kind == "cel":
        return (
            f"an expression ends in an error for the taint {finding.key}={finding.value}:"
            f" {finding.problem}"
        )
    name = {"taint": "the taint", "label": "the label"}.get(finding.source)
    where = name or f"the rule of the pod's {finding.source} on"
    return (
        f"{where} {finding.key}={finding.value} is not {_KINDS[finding.kind]}: no comparison holds"
    )
