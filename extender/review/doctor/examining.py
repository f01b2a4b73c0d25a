"""Runs every check on everything that was found."""

from collections.abc import Iterator

from extender.config.schema import Config
from extender.review.doctor import (
    compile_mode,
    config_match,
    extenders,
    network,
    process,
    profiles,
    urls,
    webhooks,
    whitelists,
)
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
    for origin, own in setup.extenders:
        yield from compile_mode.check_used_gates(origin, own, setup.workloads, compiles=False)
    yield from _compile_mode(setup)


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
    if setup.controller is not None:
        yield from _skipped_of_compile_mode(setup)
    if setup.only_compiles:
        return
    if not setup.schedulers:
        yield "no KubeSchedulerConfiguration was given: nothing of the scheduler was checked"
    elif not setup.extenders:
        yield "no ExtenderConfiguration was given: defaults are assumed on Leeway's side"
    if setup.schedulers and not setup.processes:
        yield (
            "no manifest of kube-scheduler was given: its feature gates and proxy variables were"
            " not checked"
        )


def _skipped_of_compile_mode(setup: Setup) -> Iterator[str]:
    if not setup.controllers:
        yield "no configuration of the controller was given: its defaults are assumed"
    if not (setup.webhooks_listed or setup.webhooks or setup.controller_pod):
        yield "the mutating webhooks, because neither manifests nor a cluster was given"
    pending = [
        where
        for found in setup.webhooks
        if not (found.is_live or found.config.is_injected)
        for where in found.without_ca()
    ]
    if pending:
        yield (
            f"the CA of {len(pending)} webhooks, because it is not in the manifests; `leeway certs"
            " --webhook` writes it"
        )
    if not setup.api_servers:
        yield (
            "no manifest of kube-apiserver was given: whether it runs"
            f" {whitelists.PLUGIN} was not checked"
        )


def _compile_mode(setup: Setup) -> Iterator[Problem]:
    prefix = setup.controllers[0][1].annotation_prefix if setup.controllers else None
    for found in setup.webhooks:
        yield from webhooks.check(found, prefix)
    for origin, config in setup.controllers:
        yield from compile_mode.check(origin, config)
        yield from compile_mode.check_used_gates(origin, config, setup.workloads, compiles=True)
    if setup.controller is None:
        return
    pod = setup.controller_pod
    if setup.webhooks_listed:
        live = [found for found in setup.webhooks if found.is_live]
        yield from webhooks.check_present("cluster", live)
    elif pod or setup.webhooks:
        origin = pod.origin if pod else setup.webhooks[0].origin
        yield from webhooks.check_present(origin, setup.webhooks)
    theirs = [config for _, config in setup.schedulers]
    yield from compile_mode.check_beside(setup.controller, setup.extenders, theirs)
    yield from whitelists.check(setup.api_servers, setup.restricted)


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
