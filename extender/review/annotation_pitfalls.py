"""Warnings about annotations with Leeway's prefix that do not do what their author expects."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from extender.framework.interface import Settings
from extender.match import annotations, integers
from extender.match.spelling import spelling
from extender.model.resource_v1 import Claim, ClaimTemplate
from extender.model.workloads import CronJob, Ruled, RuledPod, RuledVolume, Workload
from extender.native.carried import MAX_GRACE
from extender.review import subjects

# Nobody else has annotations with this prefix. Another one may be shared.
OWN_PREFIX: Final = "scheduling.leeway/"
# More than anybody has; an API server waits for the answer.
MAX_NAMES: Final = 100
OF_VOLUMES: Final = frozenset({annotations.NODE_AFFINITY})
OF_CLAIMS: Final = frozenset({annotations.DEVICE_TOLERATIONS})


def find(
    new: Ruled, old: Ruled | None, settings: Settings, *, lives: bool = False
) -> Iterator[tuple[str, str]]:
    """The path and the text of each warning; none about what the old object has.

    A pod that `lives` has its record of guards from Leeway.
    """
    prefix = settings.annotation_prefix
    written, path = subjects.annotated(new)
    before = subjects.annotated(old)[0] if old is not None else {}
    is_new = not lives and (old is None or not isinstance(new, RuledPod))
    known = _known(new)
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
    yield from _of_other_prefixes(written, before, path, prefix, known)
    if isinstance(new, Workload | CronJob):
        yield from _of_workload(new, old, path, prefix)


def _known(ruled: Ruled) -> frozenset[str]:
    """The names that Leeway reads of an object, behind the prefix."""
    match ruled:
        case RuledVolume():
            return OF_VOLUMES
        case Claim() | ClaimTemplate():
            return OF_CLAIMS
        case _:
            return annotations.NAMES


def _of_other_prefixes(
    written: Mapping[str, str],
    before: Mapping[str, str],
    path: str,
    prefix: str,
    known: frozenset[str],
) -> Iterator[tuple[str, str]]:
    """Warnings about our names with a prefix that is nearly ours."""
    others = (name for name in written if name.rpartition("/")[2] in known)
    for name in islice(others, MAX_NAMES):
        theirs, _, suffix = name.rpartition("/")
        if name.startswith(prefix) or before.get(name) == written[name]:
            continue
        if spelling(theirs, [prefix.removesuffix("/")]) is not None:
            yield f"{path}metadata.annotations[{name}]", _no_such(f"{prefix}{suffix}")


def _of_workload(
    new: Workload | CronJob, old: Ruled | None, path: str, prefix: str
) -> Iterator[tuple[str, str]]:
    """Warnings about annotations of a workload, which its pods do not get."""
    outer = dict(_outer(old)) if isinstance(old, Workload | CronJob) else {}
    for at, written in _outer(new):
        for name, _ in islice(_ours(written, outer.get(at, {}), prefix), MAX_NAMES):
            if name.removeprefix(prefix) in annotations.NAMES:
                yield (
                    f"{at}metadata.annotations[{name}]",
                    f"nobody reads it here: move it to {path}metadata.annotations, which pods get",
                )


def _outer(workload: Workload | CronJob) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The annotations around the pod template: those of a workload, and of a CronJob's jobs."""
    yield "", (workload.metadata.annotations if workload.metadata else None) or {}
    if isinstance(workload, CronJob):
        job = workload.spec.job_template if workload.spec else None
        meta = job.metadata if job else None
        yield "spec.jobTemplate.", (meta.annotations if meta else None) or {}


def _ours(
    written: Mapping[str, str], before: Mapping[str, str], prefix: str
) -> Iterator[tuple[str, str]]:
    """The annotations with Leeway's prefix that are new."""
    for name, text in written.items():
        if name.startswith(prefix) and before.get(name) != text:
            yield name, text


def _unknown(suffix: str, known: frozenset[str], prefix: str) -> Iterator[str]:
    meant = spelling(suffix, sorted(known))
    if meant is not None:
        yield _no_such(f"{prefix}{meant}")
    elif prefix == OWN_PREFIX:
        yield f"Leeway reads no such annotation, only {', '.join(sorted(known))}: correct its name"


def _no_such(meant: str) -> str:
    return f"Leeway reads no such annotation: did you mean {meant}?"


def _is_grace(text: str) -> bool:
    seconds = integers.canonical(text)
    return seconds is not None and 0 <= seconds <= MAX_GRACE
