"""The kinds that a person can name on a command line, as kubectl spells them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

_CORE: Final = "/api/v1"
_APPS: Final = "/apis/apps/v1"
_BATCH: Final = "/apis/batch/v1"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind, where the API server has it, and its short names."""

    name: str
    plural: str
    group: str = _CORE
    short: tuple[str, ...] = ()
    namespaced: bool = True

    @property
    def word(self) -> str:
        """The usual word for it on a command line."""
        return self.name.lower()

    def path(self, namespace: str, name: str = "") -> str:
        """The path of all objects in a namespace, or of one of them."""
        inside = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        one = f"/{quote(name, safe='')}" if name else ""
        return f"{self.group}{inside}/{self.plural}{one}"


POD: Final = Kind("Pod", "pods", short=("po",))
JOB: Final = Kind("Job", "jobs", _BATCH)
NODE: Final = Kind("Node", "nodes", short=("no",), namespaced=False)
NAMESPACE: Final = Kind("Namespace", "namespaces", short=("ns",), namespaced=False)
CONFIG_MAP: Final = Kind("ConfigMap", "configmaps", short=("cm",))

# The kinds that make pods, and pods themselves.
SUBJECTS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        POD,
        Kind("Deployment", "deployments", _APPS, ("deploy",)),
        Kind("StatefulSet", "statefulsets", _APPS, ("sts",)),
        Kind("DaemonSet", "daemonsets", _APPS, ("ds",)),
        Kind("ReplicaSet", "replicasets", _APPS, ("rs",)),
        Kind("ReplicationController", "replicationcontrollers", short=("rc",)),
        JOB,
        Kind("CronJob", "cronjobs", _BATCH, ("cj",)),
    )
}
_BY_WORD: Final = {
    word: kind for kind in SUBJECTS.values() for word in (kind.word, kind.plural, *kind.short)
}


def subject(word: str) -> Kind | None:
    """The kind of a word such as `deploy`, `deployments` or `deployment.apps`; None: no kind."""
    return _BY_WORD.get(word.lower().partition(".")[0])


def reference(text: str) -> tuple[Kind, str] | None:
    """The kind and name of a text such as `deployment/web`; None if it is none."""
    word, slash, name = text.partition("/")
    kind = subject(word)
    return (kind, name) if kind and slash and name and "/" not in name else None
