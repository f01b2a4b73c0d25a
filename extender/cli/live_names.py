"""Names from the live cluster, for the completion scripts: soon, or not at all.

A script calls `leeway __complete KIND WORD...` with the words of the command line so far. Nothing
may disturb a person who types: no message, and no waiting.
"""

import _thread
import asyncio
import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from extender.cli import sources
from extender.cluster import kinds, kubeconfig, lookup
from extender.cluster.kinds import Kind

SECONDS: Final = 3.0
_FLAGS: Final = {
    "--kubeconfig": "kubeconfig",
    "--context": "context",
    "--namespace": "namespace",
    "-n": "namespace",
}


def run(words: Sequence[str]) -> int:
    """Print the names, one a line."""
    try:
        found = sorted(names(*words))
    except Exception:  # noqa: BLE001 - whatever it is, nobody wants to read it now
        return 0
    sys.stdout.writelines(f"{name}\n" for name in found if name.isprintable())
    return 0


def names(what: str, *words: str) -> list[str]:
    """The names of one sort, in the cluster that the words name; the last word is unfinished."""
    given = dict(_given(words))
    if what == "contexts":
        file = given.get("kubeconfig")
        files = (file,) if file else kubeconfig.files(os.environ, Path.home())
        return list(kubeconfig.read(files).contexts)
    cluster = sources.live_cluster(given.get("kubeconfig"), given.get("context"))
    if cluster is None or "--cluster" in words:
        return []
    namespace = given.get("namespace") or cluster.namespace
    kind, prefix = _WANTED[what](words[-1] if words else "")

    async def ask() -> list[str]:
        async with cluster.server.connect() as connection:
            return await lookup.names(connection, kind, namespace)

    from kubernetes.aio import client, config  # noqa: F401 - before the clock starts

    _thread.start_new_thread(_give_up, ())
    return [prefix + name for name in asyncio.run(ask())]


def _subject(word: str) -> tuple[Kind, str]:
    """Pods, or the objects of the kind that was begun, such as `deploy/`."""
    begun, slash, _ = word.partition("/")
    kind = kinds.subject(begun) if slash else None
    return (kind, f"{begun}/") if kind else (kinds.POD, "")


_WANTED: Final[Mapping[str, Callable[[str], tuple[Kind, str]]]] = {
    "pods": _subject,
    "nodes": lambda _word: (kinds.NODE, ""),
    "namespaces": lambda _word: (kinds.NAMESPACE, ""),
}


def _given(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The flags that name a cluster, with their values; bash makes a word of each `=`."""
    plain = [word for word in words[:-1] if word != "="]
    for word, following in zip(plain, [*plain[1:], ""], strict=False):
        flag, equals, value = word.partition("=")
        if flag in _FLAGS:
            yield _FLAGS[flag], value if equals else following


def _give_up() -> None:
    """End the program in time, whatever it waits for."""
    time.sleep(SECONDS)
    atexit._run_exitfuncs()
    os._exit(0)
