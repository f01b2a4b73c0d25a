"""The pod that a person names: in a file, in manifests of a cluster, or in a live cluster."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from extender.cli import parsing, program, sources
from extender.cli.sources import LiveCluster
from extender.cluster import kinds, kubeconfig, lookup, manifests
from extender.cluster.api import Connection
from extender.cluster.kinds import Kind
from extender.cluster.lookup import Brief
from extender.errors import ApiError, ConfigError, NotFoundError
from extender.model import nulls
from extender.model.documents import Plain
from extender.review.explain import templates
from extender.review.explain.templates import Subject

_MANY: Final = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says about the pod."""

    pod: str | None = None  # a file, a name, or KIND/NAME
    file: str | None = None
    namespace: str | None = None
    selector: str | None = None


def find(wanted: Wanted, paths: Sequence[str], cluster: LiveCluster | None) -> Subject:
    """The one pod, or the pod of a template; NotFoundError if there is none."""
    name, file, namespace = wanted.pod, wanted.file, wanted.namespace or ""
    if file is None and name is not None and _is_file(name, may_miss=not namespace):
        file, name = name, None
    if file is not None:
        return _chosen(_in_file(file, namespace), file, name)
    if name is None and wanted.selector is None:
        raise ConfigError(["which pod? Give a file, '-', the name of a pod, or KIND/NAME"])
    kind, name = kinds.reference(name or "") or (kinds.POD, name or "")
    if paths:
        if wanted.selector is not None:
            raise ConfigError(["-l chooses a pod of a live cluster; of manifests, give its name"])
        return _in_files(paths, namespace or kubeconfig.DEFAULT_NAMESPACE, kind, name)
    if cluster is None:
        raise sources.no_cluster("--cluster PATH")
    where = namespace or cluster.namespace
    origin, document = asyncio.run(_asked(cluster, where, kind, name, wanted.selector))
    return _living(next(templates.subjects(origin, document)))


def _living(subject: Subject) -> Subject:
    """A pod of a cluster lives, also if somebody has left its UID out of the manifests."""
    return replace(subject, is_living=True) if subject.kind == kinds.POD.name else subject


def _is_file(word: str, *, may_miss: bool) -> bool:
    """Whether a word is a file; else it is the name of a pod or a workload.

    Beside -n, only a file that exists and ends like a manifest is one.
    """
    if word == sources.STANDARD_INPUT:
        return True
    path = Path(word)
    exists, ends_so = path.exists() and not path.is_dir(), path.suffix in manifests.SUFFIXES
    if not may_miss:
        return exists and ends_so
    return exists or ends_so or (os.sep in word and not kinds.reference(word))


def _in_file(file: str, namespace: str) -> Iterator[Subject]:
    if file != sources.STANDARD_INPUT and not Path(file).exists():
        raise NotFoundError(
            f"{file}: no such file; to name a pod of the cluster, use -n NAMESPACE POD"
        )
    for origin, document in sources.read(file):
        yield from templates.subjects(origin, document, namespace)


def _chosen(found: Iterator[Subject], file: str, name: str | None) -> Subject:
    """The one pod or workload of a file."""
    all_of_them = list(found)
    kind_and_name = kinds.reference(name or "")
    full = f"{kind_and_name[0].word}/{kind_and_name[1]}" if kind_and_name else name
    matching = [each for each in all_of_them if full in (None, each.name, _full_name(each))]
    if len(matching) == 1:
        return matching[0]
    supported = ", ".join(templates.TEMPLATES)
    if not all_of_them:
        raise NotFoundError(
            f"{file}: contains no pod and no workload; supported kinds: {supported}"
        )
    names = ", ".join(map(_full_name, all_of_them[:_MANY]))
    if not matching:
        raise NotFoundError(f"{file}: contains no {name}, only {names}")
    raise NotFoundError(
        f"{file}: contains {names}; choose one: {program.name()} explain -f {file} NAME"
    )


def _full_name(subject: Subject) -> str:
    return f"{subject.kind.lower()}/{subject.name}"


def _in_files(paths: Sequence[str], namespace: str, kind: Kind, name: str) -> Subject:
    """A pod of a cluster in manifests; of a workload its newest pod, or else its template."""
    named: dict[str, tuple[Path, dict[str, Plain]]] = {}
    pods: list[tuple[Brief, Path, dict[str, Plain]]] = []
    for path in paths:
        for file, each, item in manifests.items(
            path, (kinds.POD.name, kind.name), sources.say_nothing
        ):
            brief = _brief(item)
            if brief.metadata.namespace != namespace:
                continue
            if each == kind.name:
                named[brief.metadata.name] = (file, {"kind": each, **item})
            elif lookup.belongs(brief, kind.name, name):
                pods.append((brief, file, {"kind": each, **item}))
    if name not in named:
        hint = parsing.did_you_mean(name, named)
        raise NotFoundError(
            f"there is no {kind.word} {namespace}/{name} in {', '.join(paths)}{hint}"
        )
    newest = lookup.newest(brief for brief, _, _ in pods)
    found = next(((file, item) for brief, file, item in pods if brief is newest), named[name])
    return _living(next(templates.subjects(str(found[0]), found[1])))


def _brief(item: dict[str, Plain]) -> Brief:
    try:
        return nulls.convert(item, Brief)
    except msgspec.ValidationError:
        return Brief()  # whoever wants this object hears what is wrong when it is decoded


async def _asked(
    cluster: LiveCluster, namespace: str, kind: Kind, name: str, selector: str | None
) -> tuple[str, dict[str, Plain]]:
    """Origin and manifest of a pod, or of a workload without any pod."""
    async with cluster.server.connect() as connection:
        if selector is not None:
            pod = await lookup.selected_pod(connection, namespace, selector)
            if pod is None:
                raise NotFoundError(f"no pod in namespace {namespace!r} has the labels {selector}")
            kind, name = kinds.POD, pod
        body = await _get(connection, kind, namespace, name)
        if kind is not kinds.POD:
            pod = await lookup.pod_of(connection, kind, namespace, name, body)
            if pod is not None:
                kind, name = kinds.POD, pod
                body = await _get(connection, kind, namespace, name)
    return f"{kind.word} {namespace}/{name}", {"kind": kind.name, **msgspec.json.decode(body)}


async def _get(connection: Connection, kind: Kind, namespace: str, name: str) -> bytes:
    try:
        return await connection.get(kind.path(namespace, name), {})
    except ApiError as exc:
        if exc.status != lookup.NOT_FOUND:
            raise
        where = await _where_else(connection, kind, namespace, name)
        raise NotFoundError(f"{exc.message}{where}") from exc


async def _where_else(connection: Connection, kind: Kind, namespace: str, name: str) -> str:
    """The end of the sentence about an object that is not there: what was probably meant."""
    if not await lookup.is_there(connection, kinds.NAMESPACE, "", namespace):
        known = await lookup.names(connection, kinds.NAMESPACE)
        hint = parsing.did_you_mean(namespace, known)
        return f": there is no namespace {namespace!r}{hint}"
    elsewhere = await lookup.namespaces_of(connection, kind, name)
    if elsewhere:
        listed = ", ".join(elsewhere[:_MANY])
        return f" in namespace {namespace!r}; there is one with -n {listed}"
    known = await lookup.names(connection, kind, namespace)
    return f" in namespace {namespace!r}{parsing.did_you_mean(name, known)}"
