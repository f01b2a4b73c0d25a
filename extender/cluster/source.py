"""What the server asks for the cluster: a snapshot now, or a fault that says why there is none."""

from collections.abc import Sequence
from typing import Protocol

from extender.cluster import manifests
from extender.errors import NoClusterError
from extender.framework.snapshot import Snapshot, snapshot_of


class ClusterSource(Protocol):
    """Where snapshots come from."""

    def snapshot(self) -> Snapshot:
        """The cluster as it is known now; NotSyncedError while it is not."""
        ...

    def describe(self) -> str:
        """One phrase for a person: what is watched, and how much of it is known."""
        ...

    def reload(self) -> None:
        """Read again what can be read again; a fault keeps what was known."""
        ...


class NoSource:
    """No cluster at all: only requests that carry whole nodes can be answered."""

    def snapshot(self) -> Snapshot:
        """Always a fault."""
        raise NoClusterError(
            "no cluster source: node names cannot be resolved; start leeway serve with --cluster,"
            " or set nodeCacheCapable: false"
        )

    def describe(self) -> str:
        """What works and what does not."""
        return "no cluster source, only whole-node requests are answered"

    def reload(self) -> None:
        """Nothing to read."""


class FileSource:
    """Nodes out of manifest files, replaced as a whole when they are read again."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._snapshot = Snapshot()
        self.reload()

    def snapshot(self) -> Snapshot:
        """The files as they were read last."""
        return self._snapshot

    def describe(self) -> str:
        """How many nodes the files hold."""
        return f"{len(self._snapshot.nodes)} nodes from {', '.join(self._paths)}"

    def reload(self) -> None:
        """Read the files again, as one swap; ManifestError keeps the old cluster."""
        nodes = manifests.load_nodes(self._paths)
        self._snapshot = snapshot_of(nodes, generation=self._snapshot.generation + 1)
