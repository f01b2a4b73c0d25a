"""Clusters with pods and volumes, and pods that meet them: much is nearly right."""

from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import strategies as st

from extender import plugins
from extender.framework.interface import Settings
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.templates import Subject
from tests.builders import JSON, a_snapshot, pod_info, pod_json, required, requirement, some_volumes
from tests.properties import core_strategies as core

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
ZONES = ["a", "b", "c"]
NAMES = core.NAMES
SLIPS = st.sampled_from(["SLA", "slaa", "example.com/kernel", "Kernel"])
NEARLY = st.fixed_dictionaries(
    {
        "key": st.one_of(core.TAINT_KEYS, SLIPS),
        "operator": st.sampled_from(["gt", "Gt", "SemverGt", "exists", ">", "Equal", "SemverLt"]),
        "value": core.VALUES,
        "effect": st.sampled_from(["", "NoSchedule", "noschedule", "NoExecute"]),
    }
)
NEARLY_TERMS = st.lists(
    st.builds(
        lambda key, operator, value: [requirement(key, operator, value)],
        st.sampled_from(["sla", "Sla", "kernel", "zone", "a"]),
        st.sampled_from(["Gt", "gt", "In", "NotIn", "SemverGt", "SemverLt", "Exists", "Lt"]),
        core.VALUES | st.sampled_from(ZONES),
    ),
    min_size=1,
    max_size=2,
)
NEARLY_REQUIRED = NEARLY_TERMS.map(lambda terms: required(*terms))
CONSTRAINTS = st.fixed_dictionaries(
    {
        "maxSkew": st.integers(1, 2),
        "topologyKey": st.sampled_from(["zone", "rack"]),
        "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": st.sampled_from(
            [None, {}, {"matchLabels": {"app": "web"}}, {"matchLabels": {"app": "db", "x": ""}}]
        ),
        "minDomains": st.sampled_from([None, 3]),
        "nodeTaintsPolicy": st.sampled_from([None, "Honor"]),
        "nodeAffinityPolicy": st.sampled_from([None, "Ignore"]),
    }
)
UNREADABLE = st.sampled_from(
    [
        "[",
        "- {key: sla, operator: Gt, value: 900}",
        "{key: sla, operator: Exists}",
        "- {keey: sla, operator: Exists}",
    ]
)


@dataclass(frozen=True, slots=True)
class World:
    """A cluster and a pod, as JSON, so that a test can change them by itself."""

    nodes: list[JSON]
    pods: list[tuple[str, str, str]]  # name, node, app
    volumes: list[JSON]
    claims: list[JSON]
    pod: JSON
    settings: Settings

    def snapshot(self) -> Snapshot:
        placed = [pod_info(name, node, labels={"app": app}) for name, node, app in self.pods]
        return a_snapshot(self.nodes, placed, some_volumes(self.volumes, self.claims))

    def inquiry(self, **more: Any) -> Inquiry:
        profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, self.settings)
        pod = msgspec.convert(self.pod, Pod)
        return Inquiry(Subject(pod), profile, self.settings, self.snapshot(), **more)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    nodes = draw(core.nodes())
    for node in nodes:
        if draw(st.integers(0, 2)):
            node["spec"]["unschedulable"] = False
        for key in ("zone", "rack"):
            if draw(st.integers(0, 5)):
                node["metadata"]["labels"][key] = draw(st.sampled_from(ZONES))
    pods = [
        (f"p{i}", draw(st.sampled_from(NAMES)), draw(st.sampled_from(["web", "db"])))
        for i in range(draw(st.integers(0, 6)))
    ]
    volumes = [
        {
            "metadata": {"name": "disk"},
            "spec": {"nodeAffinity": {"required": _selector(draw)}} if draw(st.booleans()) else {},
        }
    ]
    claims = [
        _claim("data", "disk"),
        _claim("lost", "gone"),
        {"metadata": {"name": "waiting", "namespace": "default"}, "spec": {}},
    ]
    return World(nodes, pods, volumes, claims, _pod(draw), draw(core.SETTINGS))


def _selector(draw: st.DrawFn) -> JSON:
    zones = draw(st.lists(st.sampled_from(ZONES), min_size=1, max_size=2))
    return {"nodeSelectorTerms": [{"matchExpressions": [requirement("zone", "In", *zones)]}]}


def _claim(name: str, volume: str) -> JSON:
    return {
        "metadata": {"name": name, "namespace": "default", "annotations": BOUND},
        "spec": {"volumeName": volume},
    }


def _pod(draw: st.DrawFn) -> JSON:
    parts = draw(core.pod_parts())
    kind = draw(st.sampled_from(["anything", "nearly", "nearly", "nearly", "unreadable"]))
    if kind != "anything":
        parts["tolerations"] = draw(st.lists(NEARLY, max_size=3))
        parts["annotated_tolerations"] = draw(
            UNREADABLE if kind == "unreadable" else st.none() | st.lists(NEARLY, max_size=3)
        )
        parts["affinity"] = draw(st.none() | NEARLY_REQUIRED)
        parts["annotated_affinity"] = draw(st.none() | NEARLY_REQUIRED)
    rest = {name: part for name, part in parts.items() if name != "tolerations"}
    pod = pod_json(*parts["tolerations"], **rest)
    pod["metadata"]["labels"] = {"app": draw(st.sampled_from(["web", "db"]))}
    constraints = draw(st.lists(CONSTRAINTS, max_size=2, unique_by=lambda c: str(c["topologyKey"])))
    if constraints:
        pod["spec"]["topologySpreadConstraints"] = constraints
    claims = draw(
        st.lists(st.sampled_from(["data", "Data", "lost", "waiting", "none"]), max_size=2)
    )
    if draw(st.integers(0, 2)) == 0:
        pod["spec"]["volumes"] = [
            {"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}}
            for i, name in enumerate(claims)
        ]
    return pod
