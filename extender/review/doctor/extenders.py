"""Checks one extender of kube-scheduler: verbs, URL, time-out and weight."""

import re
from collections.abc import Iterator
from typing import Final

from extender.plugins import DEFAULT_WEIGHTS
from extender.review.doctor import urls
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import Extender

_LONGEST_TIMEOUT: Final = 10.0
_DURATION: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_WEIGHT: Final = DEFAULT_WEIGHTS["TaintToleration"]


def check(extender: Extender, where: str) -> Iterator[Problem]:
    """All problems of one extender, except those of the network."""
    yield from _verbs(extender, where)
    yield from _url(extender, where)
    yield from _passed_over(extender, where)
    yield from _timeout(extender, where)
    if extender.prioritize_verb and extender.weight != _WEIGHT:
        yield Problem(
            "warning",
            "weight",
            f"{where}.weight",
            f"with {extender.weight} instead of {_WEIGHT}, soft taints and preferred terms weigh"
            " more or less than they do in-tree",
            f"set it to {_WEIGHT}, the weight of in-tree TaintToleration",
        )
    if not extender.node_cache_capable:
        yield Problem(
            "warning",
            "node-cache-capable",
            f"{where}.nodeCacheCapable",
            "whole nodes travel both ways with every call, and in-tree resource scoring works on"
            " what comes back",
            "set it to true; Leeway then needs a cluster source",
        )


def seconds(duration: str | int | None) -> float | None:
    """Seconds of a Go duration such as `1m30s`, or of a number of nanoseconds; None if invalid."""
    if isinstance(duration, int):
        return duration / 1e9
    if not duration or _DURATION.sub("", duration):
        return 0.0 if duration == "0" else None
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(duration))


def _verbs(extender: Extender, where: str) -> Iterator[Problem]:
    expected = {
        "filter": (extender.filter_verb, "error", "no rule of Leeway refuses a node"),
        "prioritize": (extender.prioritize_verb, "warning", "Leeway's scores are not asked for"),
        "preempt": (
            extender.preempt_verb,
            "error",
            "without in-tree TaintToleration, preemption evicts pods from nodes that the pod does"
            " not tolerate, for nothing",
        ),
    }
    for verb, (given, severity, cost) in expected.items():
        if given == verb:
            continue
        missing = f"it is missing: {cost}"
        wrong = f"Leeway does not serve /{given}, every call fails: {cost}"
        yield Problem(
            "error" if given or severity == "error" else "warning",
            f"{verb}-verb",
            f"{where}.{verb}Verb",
            wrong if given else missing,
            f"set it to {verb}",
        )
    if extender.bind_verb:
        yield Problem(
            "error",
            "bind-verb",
            f"{where}.bindVerb",
            "an extender that binds binds every pod of every profile, and Leeway does not bind",
            "remove it",
        )


def _url(extender: Extender, where: str) -> Iterator[Problem]:
    url = urls.parse(extender.url_prefix)
    if not url.host:
        why = f"{extender.url_prefix!r} is not a URL that can be called"
    elif url.has_path:
        why = "Leeway serves /filter, /prioritize and /preempt at the root, and nothing elsewhere"
    else:
        return
    yield Problem(
        "error",
        "url-prefix",
        f"{where}.urlPrefix",
        why,
        "set it to SCHEME://HOST:PORT of Leeway's scheduler listener",
    )


def _passed_over(extender: Extender, where: str) -> Iterator[Problem]:
    if extender.ignorable:
        yield Problem(
            "error",
            "ignorable",
            f"{where}.ignorable",
            "while Leeway is away no taint is enforced: pods land on control-plane and not-ready"
            " nodes",
            "set it to false",
        )
    if extender.managed_resources:
        yield Problem(
            "error",
            "managed-resources",
            f"{where}.managedResources",
            "pods that ask for none of these resources pass Leeway by, and no taint is enforced"
            " for them",
            "remove it",
        )


def _timeout(extender: Extender, where: str) -> Iterator[Problem]:
    given = seconds(extender.http_timeout)
    if given is None:
        missing = extender.http_timeout is None
        why = "it is missing" if missing else f"{extender.http_timeout!r} is not a duration"
    elif not 0 < given <= _LONGEST_TIMEOUT:
        why = f"it is {extender.http_timeout}"
    else:
        return
    yield Problem(
        "warning",
        "http-timeout",
        f"{where}.httpTimeout",
        f"{why}: calls are serial in the scheduling loop, so a hang costs this much per pod, one"
        " after the other",
        "set it to 5s",
    )
