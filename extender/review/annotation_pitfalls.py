"""Warnings about annotations with Leeway's prefix that do not do what their author expects."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from extender.framework.interface import Settings
from extender.match import annotations, integers
from extender.model.workloads import CronJob, Ruled, RuledPod, RuledVolume, Workload
from extender.native.carried import MAX_GRACE
from extender.review import subjects
from extender.review.explain import nearness

# Nobody else has annotations with this prefix. Another one may be shared.
OWN_PREFIX: Final = "scheduling.leeway/"
OF_PODS: Final = frozenset(
    {
        annotations.TOLERATIONS,
        annotations.NODE_AFFINITY,
        annotations.EVICTION_GRACE,
        annotations.GUARDED_KEYS,
    }
)
# More than anybody has; an API server waits for the answer.
MAX_NAMES: Final = 100
OF_VOLUMES: Final = frozenset({annotations.NODE_AFFINITY})


def find(new: Ruled, old: Ruled | None, settings: Settings) -> Iterator[tuple[str, str]]:
    """The path and the text of each warning; none about what the old object has."""
    prefix = settings.annotation_prefix
    written, path = subjects.annotated(new)
    before = subjects.annotated(old)[0] if old is not None else {}
    is_new = old is None or not isinstance(new, RuledPod)
    known = OF_VOLUMES if isinstance(new, RuledVolume) else OF_PODS
    for name, text in islice(_ours(written, before, prefix), MAX_NAMES):
        at, suffix = f"{path}metadata.annotations[{name}]", name.removeprefix(prefix)
        if suffix not in known:
            yield from ((at, said) for said in _unknown(suffix, known, prefix))
        elif suffix == annotations.EVICTION_GRACE and not _is_grace(text):
            yield (
                at,
                (
                    f"this is not a whole number from 0 to {MAX_GRACE}, so compile.noExecuteGrace"
                    " applies instead: correct it"
                ),
            )
        elif suffix == annotations.GUARDED_KEYS and is_new:  # a running pod gets it from Leeway
            yield (
                at,
                (
                    "this is Leeway's own record of the guards of a running pod: remove it together"
                    " with those tolerations, which open nodes that the rules forbid"
                ),
            )
    if isinstance(new, Workload | CronJob):
        yield from _of_workload(new, old, path, prefix)


def _of_workload(
    new: Workload | CronJob, old: Ruled | None, path: str, prefix: str
) -> Iterator[tuple[str, str]]:
    """Warnings about annotations of a workload, which its pods do not get."""
    written = (new.metadata.annotations if new.metadata else None) or {}
    before = (old.metadata.annotations if old and old.metadata else None) or {}
    for name, _ in _ours(written, before, prefix):
        if name.removeprefix(prefix) in OF_PODS:
            yield (
                f"metadata.annotations[{name}]",
                f"nobody reads it here: pods get the annotations of {path}metadata",
            )


def _ours(
    written: Mapping[str, str], before: Mapping[str, str], prefix: str
) -> Iterator[tuple[str, str]]:
    """The annotations with Leeway's prefix that are new."""
    for name, text in written.items():
        if name.startswith(prefix) and before.get(name) != text:
            yield name, text


def _unknown(suffix: str, known: frozenset[str], prefix: str) -> Iterator[str]:
    meant = nearness.spelling(suffix, sorted(known))
    if meant is not None:
        yield f"Leeway reads no such annotation: did you mean {prefix}{meant}?"
    elif prefix == OWN_PREFIX:
        yield f"Leeway reads no such annotation, only {', '.join(sorted(known))}: correct its name"


def _is_grace(text: str) -> bool:
    seconds = integers.canonical(text)
    return seconds is not None and 0 <= seconds <= MAX_GRACE
