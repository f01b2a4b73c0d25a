"""The tolerations that the DaemonSet controller adds to its pods."""

from typing import Final

from msgspec.structs import replace

from extender.match.taints import NO_EXECUTE, NO_SCHEDULE
from extender.model.core_v1 import Pod, PodSpec, Toleration

# v1.36 pkg/controller/daemon/util: AddOrUpdateDaemonPodTolerations.
TOLERATIONS: Final = tuple(
    Toleration(f"node.kubernetes.io/{name}", "Exists", effect=effect)
    for name, effect in (
        ("not-ready", NO_EXECUTE),
        ("unreachable", NO_EXECUTE),
        ("disk-pressure", NO_SCHEDULE),
        ("memory-pressure", NO_SCHEDULE),
        ("pid-pressure", NO_SCHEDULE),
        ("unschedulable", NO_SCHEDULE),
    )
)


def with_tolerations(pod: Pod) -> Pod:
    """The pod as the controller creates it."""
    spec = pod.spec or PodSpec()
    return replace(pod, spec=replace(spec, tolerations=(*(spec.tolerations or ()), *TOLERATIONS)))
