"""Finds the schedulers, their configurations and ours in a set of documents."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from extender.config import loading
from extender.config.schema import Config
from extender.errors import ConfigError, DocumentError
from extender.model import documents
from extender.model.documents import Plain
from extender.review.doctor import scheduler
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import SchedulerConfiguration, SchedulerProcess

_CONFIG_BYTES: Final = 1 << 20
_VERSION: Final = re.compile(r":v?(\d+)\.(\d+)\b")
_SPEC_PATHS: Final[Mapping[str, Sequence[str]]] = {
    "Pod": ("spec",),
    "Deployment": ("spec", "template", "spec"),
    "DaemonSet": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "ReplicaSet": ("spec", "template", "spec"),
}


@dataclass(frozen=True, slots=True)
class ExtenderPod:
    """A pod that runs Leeway, and its scheduler."""

    origin: str
    scheduler_name: str


@dataclass(slots=True)
class Setup:
    """Everything that was found, with its origin."""

    schedulers: list[tuple[str, SchedulerConfiguration]] = field(default_factory=list)
    processes: list[SchedulerProcess] = field(default_factory=list)
    extenders: list[tuple[str, Config]] = field(default_factory=list)
    pods: list[ExtenderPod] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, origin: str, document: Plain) -> None:
        """Add a document; unrelated objects are ignored."""
        if not isinstance(document, dict):
            return
        kind = document.get("kind")
        if kind == scheduler.KIND:
            self._add_scheduler(origin, document)
        elif kind == loading.KIND:
            self._add_extender(origin, document)
        elif kind == "ConfigMap":
            self._add_config_map(origin, document)
        elif kind == "List" and isinstance(items := document.get("items"), list):
            for item in items:
                self.add(origin, item)
        elif isinstance(kind, str) and kind in _SPEC_PATHS:
            self._add_pod(f"{origin}: {kind} {_name(document)}", document, _SPEC_PATHS[kind])

    def _add_scheduler(self, origin: str, document: dict[str, Plain]) -> None:
        try:
            data = documents.without_nulls(document)
            found = msgspec.convert(data, SchedulerConfiguration)
        except (msgspec.ValidationError, DocumentError) as exc:
            self._unreadable(origin, "kube-scheduler", str(exc))
            return
        if found.api_version != scheduler.API_VERSION:
            self._unreadable(origin, "kube-scheduler", f"apiVersion is {found.api_version!r}")
        self.schedulers.append((origin, found))

    def _add_extender(self, origin: str, document: dict[str, Plain]) -> None:
        try:
            self.extenders.append((origin, loading.from_data(document)))
        except ConfigError as exc:
            for problem in exc.problems:
                self._unreadable(origin, "leeway serve", problem)

    def _add_config_map(self, origin: str, document: dict[str, Plain]) -> None:
        data = document.get("data")
        for key, text in (data if isinstance(data, dict) else {}).items():
            if not isinstance(text, str) or "kind:" not in text:
                continue
            where = f"{origin}: ConfigMap {_name(document)}: {key}"
            try:
                self.add(where, documents.parse_one(text, _CONFIG_BYTES))
            except DocumentError as exc:
                self._unreadable(where, "kube-scheduler or Leeway", str(exc))

    def _add_pod(self, origin: str, document: dict[str, Plain], path: Sequence[str]) -> None:
        spec: Plain = document
        for key in path:
            spec = spec.get(key) if isinstance(spec, dict) else None
        if not isinstance(spec, dict):
            return
        containers = spec.get("containers")
        for container in containers if isinstance(containers, list) else ():
            words = tuple(_words(container))
            if words and words[0].rpartition("/")[2] == "kube-scheduler":
                self.processes.append(_process(origin, container, words))
            elif _is_leeway(container, words):
                name = spec.get("schedulerName") or scheduler.DEFAULT_SCHEDULER
                self.pods.append(ExtenderPod(origin, str(name)))

    def _unreadable(self, origin: str, who: str, why: str) -> None:
        self.problems.append(
            Problem(
                "error", "readable", origin, f"{who} would not start with it: {why}", "correct it"
            )
        )


def _name(document: Mapping[str, Plain]) -> str:
    metadata = document.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _words(container: Plain) -> Iterator[str]:
    """Command and arguments of a container."""
    if isinstance(container, dict):
        for key in ("command", "args"):
            found = container.get(key)
            yield from (str(word) for word in (found if isinstance(found, list) else ()))


def _is_leeway(container: Plain, words: Sequence[str]) -> bool:
    image = str(container.get("image", "")) if isinstance(container, dict) else ""
    return "leeway" in image.rpartition("/")[2] or (
        "serve" in words and any(word.rpartition("/")[2] == "leeway" for word in words)
    )


def _process(origin: str, container: Plain, words: tuple[str, ...]) -> SchedulerProcess:
    found = container if isinstance(container, dict) else {}
    entries = found.get("env")
    environment = {
        str(entry.get("name")): str(entry.get("value") or "")
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }
    version = _VERSION.search(str(found.get("image", "")))
    return SchedulerProcess(
        origin,
        words[1:],
        environment,
        (int(version[1]), int(version[2])) if version else None,
    )
