"""Runs every check on everything that was found."""

from collections.abc import Iterator

from extender.config.schema import Config
from extender.review.doctor import config_match, extenders, network, process, profiles, urls
from extender.review.doctor.problems import Problem
from extender.review.doctor.profiles import Judged
from extender.review.doctor.scheduler import Extender, SchedulerConfiguration
from extender.review.doctor.setup import Setup

_OUR_PORT = 8888


def examine(setup: Setup, version: tuple[int, int] | None = None) -> Iterator[Problem]:
    """All problems of an installation; `version` is the API server's, if it is known."""
    yield from setup.problems
    ours = setup.extenders[0] if setup.extenders else None
    for origin, own in setup.extenders:
        yield from config_match.check_ours(origin, own)
    for origin, config in setup.schedulers:
        yield from process.check(config, origin)
        yield from _profiles(origin, config, ours[1] if ours else None)
        for where, extender in our_extenders(config):
            yield from _extender(f"{origin}: {where}", extender, setup, ours)
        if not config.extenders:
            yield _no_extender(origin)
        if ours is not None:
            yield from config_match.check(*ours, config)
            yield from config_match.check_refusals(*ours, _is_followed(config))
        yield from config_match.check_placement(setup.pods, config)
    for each in setup.processes:
        yield from process.check_process(each, version)


def our_extenders(config: SchedulerConfiguration) -> Iterator[tuple[str, Extender]]:
    """Leeway's extenders with their paths; all extenders if none looks like Leeway."""
    every = [(f"extenders[{index}]", each) for index, each in enumerate(config.extenders)]
    yield from [pair for pair in every if _looks_like_ours(pair[1])] or every


def asked_for(setup: Setup) -> list[str]:
    """The hosts that the schedulers call over TLS."""
    hosts: dict[str, None] = {}
    for _, config in setup.schedulers:
        for _, extender in our_extenders(config):
            url = urls.parse(extender.url_prefix)
            named = extender.tls_config.server_name if extender.tls_config else ""
            if url.scheme == "https":
                hosts[named or url.host] = None
    return list(hosts)


def skipped(setup: Setup) -> Iterator[str]:
    """What was not checked, because the input for it was missing."""
    if not setup.schedulers:
        yield "no KubeSchedulerConfiguration was given: nothing of the scheduler was checked"
    elif not setup.extenders:
        yield "no ExtenderConfiguration was given: defaults are assumed on Leeway's side"
    if setup.schedulers and not setup.processes:
        yield (
            "no manifest of kube-scheduler was given: its feature gates and proxy variables were"
            " not checked"
        )


def _profiles(
    origin: str, config: SchedulerConfiguration, ours: Config | None
) -> Iterator[Problem]:
    for index, profile in enumerate(config.all_profiles()):
        where = f"{origin}: profiles[{index}]"
        weights = config_match.weights_for(ours, profile.scheduler_name)
        judged = Judged(where, profile, weights)
        if weights or any(map(judged.nobody, ("TaintToleration", "NodeUnschedulable"))):
            yield from profiles.check(judged, config)


def _extender(
    where: str, extender: Extender, setup: Setup, ours: tuple[str, Config] | None
) -> Iterator[Problem]:
    yield from extenders.check(extender, where)
    yield from network.check(extender, where)
    for each in setup.processes:
        yield from network.check_proxy(extender, each)
    if ours is not None:
        yield from config_match.check_listener(*ours, extender, where)


def _is_followed(config: SchedulerConfiguration) -> bool:
    """Whether the scheduler calls another extender after one of ours."""
    ours = [extender for _, extender in our_extenders(config)]
    return bool(config.extenders) and config.extenders[-1] not in ours


def _no_extender(origin: str) -> Problem:
    return Problem(
        "error",
        "extender-missing",
        f"{origin}: extenders",
        "the scheduler calls no extender at all, so no rule of Leeway has an effect",
        "add Leeway, as in deploy/examples/scheduler-config.yaml",
    )


def _looks_like_ours(extender: Extender) -> bool:
    url = urls.parse(extender.url_prefix)
    return "leeway" in url.host or url.port == _OUR_PORT
