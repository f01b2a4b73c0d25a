"""Kubeconfig files, merged as kubectl does: of several files, the first that has a name wins."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from extender.errors import ApiError

DEFAULT_NAMESPACE: Final = "default"
_LISTS: Final = {"clusters": "cluster", "contexts": "context", "users": "user"}
# Paths that are relative to the file that they stand in.
_PATHS: Final = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
    "context": (),
}

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The content of one or more files."""

    origin: str  # the files, for messages
    current: str
    clusters: Mapping[str, Entry]
    contexts: Mapping[str, Entry]
    users: Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class Context:
    """A context with its cluster and its user."""

    name: str
    namespace: str
    cluster: Entry
    user: Entry

    def document(self) -> Entry:
        """A kubeconfig of this context alone."""
        return {
            "current-context": self.name,
            "contexts": [{"name": self.name, "context": {"cluster": "its", "user": "its"}}],
            "clusters": [{"name": "its", "cluster": self.cluster}],
            "users": [{"name": "its", "user": self.user}],
        }


def files(environ: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """The files that kubectl reads: those of $KUBECONFIG that exist, or the one of `home`."""
    listed = environ.get("KUBECONFIG", "")
    paths = listed.split(os.pathsep) if listed else [str(home / ".kube/config")]
    return tuple(path for path in dict.fromkeys(paths) if path and Path(path).is_file())


def read(paths: Sequence[str]) -> Kubeconfig:
    """Read and merge files; ApiError if one of them is no kubeconfig."""
    origin = f"kubeconfig {os.pathsep.join(paths)}"
    current = ""
    merged: dict[str, dict[str, Entry]] = {name: {} for name in _LISTS}
    for path in paths:
        try:
            _merge(merged, content := _content(path), Path(path).absolute().parent)
        except (yaml.YAMLError, OSError, ValueError) as exc:
            raise ApiError(f"kubeconfig {path}: {exc}") from exc
        current = current or str(content.get("current-context") or "")
    return Kubeconfig(origin, current, merged["clusters"], merged["contexts"], merged["users"])


def chosen(config: Kubeconfig, name: str = "") -> Context:
    """One context, by default the current one; ApiError if it is incomplete."""
    name = name or config.current
    if not name:
        raise ApiError(
            f"{config.origin}: there is no current context; choose one with --context"
            f"{_listed(config.contexts)}, or with 'kubectl config use-context NAME'"
        )
    if name not in config.contexts:
        raise ApiError(f"{config.origin}: there is no context {name!r}{_listed(config.contexts)}")
    context = config.contexts[name]
    cluster, user = str(context.get("cluster") or ""), str(context.get("user") or "")
    if not config.clusters.get(cluster, {}).get("server"):
        raise ApiError(f"{config.origin}: context {name!r} names no cluster with a server")
    if user and user not in config.users:
        raise ApiError(
            f"{config.origin}: context {name!r} names a user that is not there: {user!r}"
        )
    namespace = str(context.get("namespace") or DEFAULT_NAMESPACE)
    return Context(name, namespace, config.clusters[cluster], config.users.get(user, {}))


def _content(path: str) -> Entry:
    content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ValueError("it is no kubeconfig, but a list or a text")  # noqa: TRY004 - bad content
    return content


def _merge(merged: dict[str, dict[str, Entry]], content: Entry, folder: Path) -> None:
    for name, kind in _LISTS.items():
        listed = content.get(name) or []
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            raise ValueError(f"{name} must be a list of entries with a name and a {kind}")
        for each in listed:
            entry = each.get(kind) or {}
            if not isinstance(entry, dict):
                raise ValueError(f"{name}: {each.get('name')!r} must have a {kind} with keys")  # noqa: TRY004
            merged[name].setdefault(str(each.get("name") or ""), _located(kind, entry, folder))


def _located(kind: str, entry: Entry, folder: Path) -> Entry:
    """The entry with absolute paths."""
    located: Entry = {key: str(folder / str(entry[key])) for key in _PATHS[kind] if entry.get(key)}
    plugin = entry.get("exec")
    if kind == "user" and isinstance(plugin, dict):
        command = str(plugin.get("command") or "")
        if os.sep in command:  # else it is looked for on the PATH
            located["exec"] = {**plugin, "command": str(folder / command)}
    return {**entry, **located}


def _listed(contexts: Mapping[str, Entry]) -> str:
    """The names, if there are any and not too many."""
    names = list(contexts)
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f" (there are {', '.join(names[:10])}{more})" if names else ""
