"""The pod, the cluster and the configuration that a case of `leeway test` names."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from extender import plugins
from extender.cli import sources
from extender.cluster import list_once, manifests
from extender.cluster.cache import ClusterCache
from extender.cluster.resources import Object
from extender.cluster.source import FileSource
from extender.config import overriding
from extender.config.schema import Config
from extender.errors import CaseError, ConfigError, ManifestError
from extender.framework import volumes
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.cases import reading
from extender.review.cases.schema import Case, PodSource, Source
from extender.review.explain import templates
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.templates import Subject
from extender.verbs.profiles import Profiles

STDIN: Final = "stdin"
_MAX_NAMES: Final = 10


@dataclass(frozen=True, slots=True)
class Document:
    """A RuleTest in a file; `lines` has the line of each field."""

    file: str
    lines: Mapping[str, int]
    # By the paths of what they are made of: most cases of a document share one cluster.
    clusters: dict[tuple[str, ...], Snapshot] = field(default_factory=dict, compare=False)

    @property
    def folder(self) -> Path:
        """The folder that file names are relative to."""
        return Path() if self.file == STDIN else Path(self.file).parent

    def line(self, path: str) -> int | None:
        """The line of a field."""
        return reading.line_of(self.lines, path)

    def error(self, path: str, exc: Exception) -> CaseError:
        """A fault of a field; the name of the file is said elsewhere."""
        return CaseError(path, str(exc).removeprefix(f"{self.file}: "))


@dataclass(slots=True)
class CaseSources:
    """Finds what cases name; the cluster of the command line is read once."""

    config: Config
    context: str | None = None  # of the kubeconfig
    _given: dict[frozenset[str], Snapshot] = field(default_factory=dict)

    def inquiry(self, case: Case, document: Document) -> Inquiry:
        """Everything that it takes to judge a case; CaseError if something is missing."""
        subject = _subject(case.pod, document)
        profiles = Profiles(config_of(case, self.config))
        return Inquiry(
            subject,
            profiles.of(subject.pod),
            profiles.settings,
            self._snapshot(case, document, subject.pod),
        )

    def _snapshot(self, case: Case, document: Document, pod: Pod) -> Snapshot:
        if not case.objects:
            return self._of_command_line(case, pod)
        key = tuple(source.path for source in case.objects)
        known = document.clusters.get(key)
        if known is not None:
            return known
        cache = ClusterCache()
        found = [each for source in case.objects for each in _objects(source, document)]
        try:
            manifests.fill(cache, found)
        except ManifestError as exc:
            raise document.error(case.path, exc) from exc
        document.clusters[key] = cache.snapshot()
        return document.clusters[key]

    def _of_command_line(self, case: Case, pod: Pod) -> Snapshot:
        wanted = frozenset[str]() if self.config.cluster_files else _resources(pod)
        if wanted not in self._given:
            self._given[wanted] = self._read(case, wanted)
        return self._given[wanted]

    def _read(self, case: Case, wanted: frozenset[str]) -> Snapshot:
        if self.config.cluster_files:
            return FileSource(self.config.cluster_files, tell=sources.tell).snapshot()
        server = sources.api_server(self.config.kubeconfig, self.context)
        if server is None:
            raise CaseError(
                f"{case.path}.nodes", "is missing: give nodes, or use --cluster or --kubeconfig"
            )
        return asyncio.run(list_once.snapshot(server, wanted))


def config_of(case: Case, base: Config) -> Config:
    """The configuration of a case: its own keys override those of the command line."""
    for source in case.configuration:
        base = overriding.override(base, source.data)
    return base


def _objects(source: Source, document: Document) -> list[tuple[str, str, Object]]:
    try:
        if source.file:
            return list(manifests.objects(document.folder / source.file, sources.tell))
        return list(manifests.objects_in(Path(document.file), dict(source.item)))
    except ManifestError as exc:
        raise document.error(source.path, exc) from exc


def _subject(source: PodSource, document: Document) -> Subject:
    """The pod of a case, from a file or from the document itself."""
    try:
        if not source.file:
            return next(templates.subjects(document.file, dict(source.item)))
        file = str(document.folder / source.file)
        found = [
            each
            for origin, content in sources.read(file)
            for each in templates.subjects(origin, content)
        ]
    except (ManifestError, ConfigError) as exc:
        raise document.error(source.path, exc) from exc
    try:
        return _chosen(found, source.name)
    except ValueError as exc:
        raise CaseError(source.path, f"{file} {exc}") from exc


def _chosen(found: list[Subject], name: str) -> Subject:
    """The one pod or workload of a file; ValueError says what else there is."""
    names = {f"{each.kind.lower()}/{each.name}": each for each in found}
    matching = [each for full, each in names.items() if name in ("", each.name, full)]
    if len(matching) == 1:
        return matching[0]
    if not found:
        raise ValueError(
            f"has no pod and no workload; supported kinds: {', '.join(templates.TEMPLATES)}"
        )
    listed = ", ".join([*names][:_MAX_NAMES])
    if not matching:
        raise ValueError(f"has no {name}, only {listed}")
    raise ValueError(f"has {listed}: choose one, with `pod: {{file: FILE, name: NAME}}`")


def _resources(pod: Pod) -> frozenset[str]:
    """What has to be listed for a pod, and no more: the user may not be allowed to."""
    wanted = {"nodes"}
    if pod.spec and pod.spec.topology_spread_constraints:
        wanted |= plugins.resources({"PodTopologySpread"})
    if any(volumes.claims_of(pod)):
        wanted |= plugins.resources({"VolumeBinding"})
    return frozenset(wanted)
