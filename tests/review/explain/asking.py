"""A pod and a cluster in one line, and what is explained of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from extender import plugins
from extender.framework.interface import Settings
from extender.framework.pods.cohorts import PodInfo
from extender.framework.volumes import Volumes
from extender.model.core_v1 import Pod
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.proposals import Case
from extender.review.explain.schema import Change, Derivation, Explanation, Fix
from extender.review.explain.templates import Subject
from tests.builders import JSON, a_snapshot

SETTINGS = Settings()


def an_inquiry(
    pod: Pod,
    *nodes: JSON,
    settings: Settings = SETTINGS,
    pods: Sequence[PodInfo] = (),
    volumes: Volumes | None = None,
    **more: Any,
) -> Inquiry:
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, settings)
    snapshot = a_snapshot(nodes, pods, volumes)
    return Inquiry(Subject(pod), profile, settings, snapshot, **more)


def explained(pod: Pod, *nodes: JSON, **more: Any) -> Explanation:
    return explain(an_inquiry(pod, *nodes, **more))


def derived(pod: Pod, node: JSON, *others: JSON, **more: Any) -> Derivation:
    """How the verdict on the first node comes about."""
    inquiry = an_inquiry(pod, node, *others, **more)
    derivation = explain(replace(inquiry, node=node["metadata"]["name"])).derivation
    assert derivation is not None
    return derivation


def fix_of(pod: Pod, *nodes: JSON, **more: Any) -> Fix:
    """The fix for the nodes that have the first reason in common."""
    fix = explained(pod, *nodes, **more).groups[0].fix
    assert fix is not None
    return fix


def change_of(pod: Pod, *nodes: JSON, **more: Any) -> Change:
    """The one change with which the pod passes."""
    fix = fix_of(pod, *nodes, **more)
    assert fix.complete
    (change,) = fix.changes
    return change


def a_case(pod: Pod, node: JSON, **more: Any) -> Case:
    snapshot = an_inquiry(pod, node, **more).snapshot
    return Case(pod, snapshot.nodes[node["metadata"]["name"]], snapshot)
