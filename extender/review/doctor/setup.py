"""Finds the parts of an installation, Leeway's and Kubernetes', in a set of documents."""

import contextlib
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
from extender.review.doctor import scheduler, webhooks
from extender.review.doctor.component import Component
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import SchedulerConfiguration
from extender.review.doctor.webhooks import FoundWebhooks, WebhookConfiguration
from extender.review.doctor.whitelists import Namespace
from extender.review.scan import objects
from extender.review.scan.objects import Scanned

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
    is_controller: bool = False


@dataclass(slots=True)
class Setup:
    """Everything that was found, with its origin."""

    schedulers: list[tuple[str, SchedulerConfiguration]] = field(default_factory=list)
    processes: list[Component] = field(default_factory=list)
    extenders: list[tuple[str, Config]] = field(default_factory=list)
    controllers: list[tuple[str, Config]] = field(default_factory=list)
    pods: list[ExtenderPod] = field(default_factory=list)
    webhooks: list[FoundWebhooks] = field(default_factory=list)
    api_servers: list[Component] = field(default_factory=list)
    restricted: list[str] = field(default_factory=list)  # namespaces with a toleration whitelist
    workloads: list[tuple[str, Scanned]] = field(default_factory=list)  # with their kinds
    webhooks_listed: bool = False  # of a cluster
    answering: str = ""  # the address of a controller that runs
    problems: list[Problem] = field(default_factory=list)

    @property
    def controller(self) -> tuple[str, Config] | None:
        """The controller's configuration; the defaults of one that is known without it."""
        if self.controllers:
            return self.controllers[0]
        pod = self.controller_pod
        origin = pod.origin if pod else self.answering
        return (origin, Config()) if origin else None

    @property
    def only_compiles(self) -> bool:
        """Whether there is a controller, and nothing of an extender."""
        return self.controller is not None and not (self.schedulers or self.extenders)

    @property
    def controller_pod(self) -> ExtenderPod | None:
        """The first pod that runs `leeway controller`."""
        return next((each for each in self.pods if each.is_controller), None)

    def add(self, origin: str, document: Plain) -> None:
        """Add a document; unrelated objects are ignored."""
        if not isinstance(document, dict):
            return
        kind = document.get("kind")
        readers = {
            scheduler.KIND: self._add_scheduler,
            loading.KIND: self._add_extender,
            webhooks.KIND: self._add_webhooks,
            "ConfigMap": self._add_config_map,
            "Namespace": self._add_namespace,
        }
        if not isinstance(kind, str):
            return
        if reader := readers.get(kind):
            reader(origin, document)
        elif kind == "List" and isinstance(items := document.get("items"), list):
            for item in items:
                self.add(origin, item)
        elif kind in objects.SHAPES:
            self._add_workload(kind, document)
            if kind in _SPEC_PATHS:
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
        """A configuration with sections that only one command reads is for that command."""
        compiles = any(section in document for section in ("compile", "leaderElection"))
        try:
            found = (origin, loading.from_data(document))
        except ConfigError as exc:
            who = "leeway controller" if compiles else "leeway serve"
            for problem in exc.problems:
                self._unreadable(origin, who, problem)
            return
        if compiles:
            self.controllers.append(found)
        sections = (document.get("listen"), document.get("tls"))
        if not compiles or any(isinstance(each, dict) and "scheduler" in each for each in sections):
            self.extenders.append(found)

    def _add_webhooks(self, origin: str, document: dict[str, Plain]) -> None:
        try:
            found = msgspec.convert(documents.without_nulls(document), WebhookConfiguration)
        except (msgspec.ValidationError, DocumentError) as exc:
            where = f"{origin}: {webhooks.KIND} {_name(document)}"
            why = f"the API server would not take it: {exc}"
            self.problems.append(Problem("error", "readable", where, why, "correct it"))
            return
        self.add_webhooks(FoundWebhooks(origin, found))

    def add_webhooks(self, found: FoundWebhooks) -> None:
        """Add webhooks, if there are Leeway's among them."""
        if found.config.has_ours:
            self.webhooks.append(found)

    def _add_namespace(self, _origin: str, document: dict[str, Plain]) -> None:
        with contextlib.suppress(msgspec.ValidationError, DocumentError):
            self.add_namespace(msgspec.convert(documents.without_nulls(document), Namespace))

    def add_namespace(self, namespace: Namespace) -> None:
        """Add a namespace, if it has a whitelist of tolerations."""
        if namespace.is_restricted:
            self.restricted.append(namespace.metadata.name)

    def _add_workload(self, kind: str, document: dict[str, Plain]) -> None:
        # `leeway validate` says what is wrong with one that cannot be read.
        with contextlib.suppress(msgspec.ValidationError, DocumentError):
            data = documents.without_nulls(document)
            self.workloads.append((kind, msgspec.convert(data, objects.SHAPES[kind])))

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
            program = words[0].rpartition("/")[2] if words else ""
            if program == "kube-scheduler":
                self.processes.append(_process(origin, container, words))
            elif program == "kube-apiserver":
                self.api_servers.append(_process(origin, container, words))
            elif _is_leeway(container, words):
                name = spec.get("schedulerName") or scheduler.DEFAULT_SCHEDULER
                self.pods.append(ExtenderPod(origin, str(name), "controller" in words))

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
        ("serve" in words or "controller" in words)
        and any(word.rpartition("/")[2] == "leeway" for word in words)
    )


def _process(origin: str, container: Plain, words: tuple[str, ...]) -> Component:
    found = container if isinstance(container, dict) else {}
    entries = found.get("env")
    environment = {
        str(entry.get("name")): str(entry.get("value") or "")
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }
    version = _VERSION.search(str(found.get("image", "")))
    return Component(
        origin,
        words[1:],
        environment,
        (int(version[1]), int(version[2])) if version else None,
    )
